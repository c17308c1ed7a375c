// Whether a list has become longer than by what was taken in: then something is new where a walk over the newest tasks does not
// look, so createdAt does not order the list as it was thought to.
//
// Rule. What the list held when its end was proven last, or what the mirror held when the run began, and what this run has taken in: a
// list that is no longer than that hides nothing new, unless as much was deleted. Where it is longer, what came in at the
// other end while the walk was under way is counted once more, in an answer that was asked for afterwards.
import type { WalkResult } from '../../walk/request.ts'
import type { Run } from '../context.ts'
import { windowSizeOf } from '../window-size.ts'
import { readBeside } from './beside.ts'

/** Room for tasks that came in while the walk was under way. */
const ROOM = 10

interface EndSeen {
  /** So many items the list was seen to hold. */
  length: number
  /** The list is longer than it can be if all of it has been met. */
  isLonger: boolean
  /** The last known task does not stand last, at its known place: something is missing or extra. */
  isMoved: boolean
}

export const NOTHING_SEEN: EndSeen = { length: 0, isLonger: false, isMoved: false }

/** What this run has taken in that the list did not hold when it began, as far as known. What is hidden has no row, nor has what cannot be read. */
export async function takenIn({ writer }: Run): Promise<number> {
  const { inserted, restored, rejected } = await writer.counts()
  return inserted + restored + rejected
}

async function held(run: Run): Promise<number> {
  return Math.max(run.facts.total ?? 0, run.opened.liveTasks) + (await takenIn(run))
}

/** Where answers leave items out nothing can be counted. */
function isCountable({ facts }: Run, { filtered }: WalkResult): boolean {
  return facts.total !== undefined && !filtered && facts.filtered_pages !== true
}

/** Before a walk that has seen a list of `length` items is closed. */
export async function hasGrownElsewhere(run: Run, result: WalkResult, length: number): Promise<boolean> {
  return isCountable(run, result) && length > (await held(run))
}

/** The same for a walk from the front, unless it came to the end itself; `atLeast`: so many items were seen before it (open-apart.ts). */
export async function seeEnd(run: Run, result: WalkResult, atLeast: number): Promise<EndSeen> {
  if (result.total !== null) return { ...NOTHING_SEEN, isMoved: true }
  if (atLeast === 0 && run.facts.open_in_front === true) return lookAtEnd(run, isCountable(run, result))
  return { length: atLeast, isLonger: await hasGrownElsewhere(run, result, atLeast), isMoved: false }
}

/**
 * One request: the last known task, and what stands behind it. Another one where that answer may have been cut, or failed, or where
 * tasks are hidden; and one where the list is longer.
 */
export async function lookAtEnd(run: Run, isCountable: boolean): Promise<EndSeen> {
  const { total = 0, last_id: lastId, page_cap: pageCap } = run.facts
  if (total < 1 || lastId === undefined) return NOTHING_SEEN
  const { window, overlap } = windowSizeOf(run)
  const most = await held(run)
  const skip = total + (await takenIn(run)) - 1
  const take = Math.min(2, window)
  const last = await readBeside(run, { skip, take })
  const ids = last.kind === 'ok' ? last.value.ids : []
  const isMoved = last.kind === 'ok' ? ids.length !== 1 || ids[0] !== lastId : last.kind === 'refused'
  const length = ids.length === 0 ? 0 : skip + ids.length
  if (!isCountable) return { length, isLonger: false, isMoved }
  const goesOn = last.kind === 'failed' || ids.length === take || (ids.length > 0 && pageCap !== undefined)
  let isLonger = length > most
  if (!isLonger && goesOn) {
    const behind = await readBeside(run, { skip: most, take: 1 })
    // Some services give the last item again behind the end.
    isLonger = behind.kind === 'ok' ? behind.value.ids.some((id) => !ids.includes(id)) : behind.kind === 'failed'
  }
  if (!isLonger) return { length, isLonger, isMoved }
  const before = await takenIn(run)
  await readBeside(run, { skip: 0, take: Math.min(window, overlap + ROOM) })
  return { length, isLonger: Math.max(length, most + 1) > most + (await takenIn(run)) - before, isMoved }
}
