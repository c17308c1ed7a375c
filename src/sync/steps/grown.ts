// Whether a list has become longer than by what was taken in: then something is new where a walk over the newest tasks does not
// look, so createdAt does not order the list as it was thought to.
//
// Rule. What the list held when its end was proven last, or what the mirror held when the run began, and what this run has taken in: a
// list that is no longer than that hides nothing new, unless as much was deleted.
import type { WalkResult } from '../../walk/request.ts'
import type { Run } from '../context.ts'
import { windowSizeOf } from '../window-size.ts'
import { readBeside } from './beside.ts'

/** Room for tasks that came in while the walk was under way. */
const ROOM = 10

interface LastSeen {
  /** So many items the list was seen to hold. */
  length: number
  /** The last known task does not stand last, at its known place: something is missing or extra. */
  isMoved: boolean
}

interface EndSeen extends LastSeen {
  /** The list is longer than it can be if all that is new has been met. */
  isLonger: boolean
}

export const NOTHING_SEEN: EndSeen = { length: 0, isMoved: false, isLonger: false }

/** What this run has taken in that the list did not hold when it began, as far as known. What is hidden, or cannot be read, has no row. */
export async function takenIn({ writer }: Run): Promise<number> {
  const { inserted, restored } = await writer.counts()
  return inserted + restored
}

/** Before a walk that has seen a list of `length` items is closed. */
export async function hasGrownElsewhere(run: Run, result: WalkResult, length: number): Promise<boolean> {
  return length > (await mostHeld(run, result))
}

/** How long the list is at most if all that is new has been met. Where answers leave items out nothing can be counted. */
async function mostHeld(run: Run, { filtered }: WalkResult): Promise<number> {
  const { facts, opened } = run
  if (facts.total === undefined || filtered || facts.filtered_pages === true) return Number.POSITIVE_INFINITY
  return Math.max(facts.total, opened.liveTasks) + (await takenIn(run))
}

/** The same for a walk from the front that did not come to the end itself; `atLeast`: so many items were seen before it (open-apart.ts). */
export async function seeEnd(run: Run, result: WalkResult, atLeast: number): Promise<EndSeen> {
  if (result.verdict !== 'complete' || result.total !== null) return NOTHING_SEEN
  const most = await mostHeld(run, result)
  const looks = atLeast === 0 && run.facts.open_in_front === true
  const seen = looks ? await lookAtLast(run) : { length: atLeast, isMoved: false }
  if (seen.length <= most) return { ...seen, isLonger: false }
  // What came in at the front meanwhile counts, too; what the end showed does not.
  const before = await takenIn(run)
  const { window, overlap } = windowSizeOf(run)
  const front = await readBeside(run, { skip: 0, take: Math.min(window, overlap + ROOM) })
  // Where it cannot be read nobody knows how many came in.
  return { ...seen, isLonger: front.kind === 'ok' && seen.length > most + (await takenIn(run)) - before }
}

/** One request: the last known task, and what stands behind it. */
export async function lookAtLast(run: Run): Promise<LastSeen> {
  const { total = 0, last_id: lastId } = run.facts
  if (total < 1 || lastId === undefined) return NOTHING_SEEN
  const skip = total + (await takenIn(run)) - 1
  const answer = await readBeside(run, { skip, take: Math.min(2, windowSizeOf(run).window) })
  if (answer.kind !== 'ok') return { length: 0, isMoved: answer.kind === 'refused' }
  const { ids } = answer.value
  return { length: ids.length === 0 ? 0 : skip + ids.length, isMoved: ids.length !== 1 || ids[0] !== lastId }
}
