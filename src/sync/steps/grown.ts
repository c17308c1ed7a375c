// Whether a list has grown by more than what was taken in: then something is new where a walk over the newest tasks
// does not look, so createdAt does not order the list as it was thought to.
//
// Rule. Take what the list held when its end was proven last, and what the mirror has taken in of it since: a list that
// is no longer than that hides nothing new, unless as much was deleted since.
import type { WalkResult } from '../../walk/request.ts'
import type { Run } from '../context.ts'
import { windowCapacity, windowSizeOf } from '../window-size.ts'
import { readBeside } from './beside.ts'
import { knownLength, takenIn } from './known-length.ts'
import type { WalkDone } from './walking.ts'

/** Room for tasks that came in while the walk was under way. */
const ROOM = 10
/** So many looks at the end of a list to which new tasks come with each of them. */
const LEAST_LOOKS = 6
const MOST_LOOKS = 50
/** So many answers at most show what came in at the front between two looks. */
const MOST_IN_FRONT = 10

interface LastSeen {
  /** The list was seen to hold so many items. */
  length: number
  /** The last known task does not stand last at its known place: something is missing or extra. */
  isMoved: boolean
  /** The ids from that place on, as one answer shows them. */
  ids: string[]
}

interface EndSeen extends LastSeen {
  /** The list is longer than it can be if all that is new has been met; or nobody knows. */
  isLonger: boolean
}

export const NOTHING_SEEN: EndSeen = { length: 0, isMoved: false, ids: [], isLonger: false }

/** Whether the list grew where the walk did not look, if it came to the end. Call it before the walk is closed. */
export async function hasGrownElsewhere(run: Run, { result, tookNew }: WalkDone): Promise<boolean> {
  if (result.total === null) return false
  const most = await mostHeld(run, result)
  const isInOrder = run.facts.order === 'created_asc' && !result.contradicted
  const isBlurred = isInOrder && tookNew() && most !== Number.POSITIVE_INFINITY
  if (result.total > most || !isBlurred) return result.total > most
  // Some of those taken in may have come in since: what was known before still has to stand in front of `most`. Some
  // services give the last items again.
  let isKnown = false
  const answer = await readBeside(
    run,
    { skip: most, take: reachOf(run) },
    {
      walkId: 0,
      onParsed: async ({ handle, ids }) => {
        const { seqs } = await run.writer.knownState(handle)
        isKnown = seqs.some((seq) => seq > 0) && !ids.includes(result.lastId ?? '')
      },
    },
  )
  return isKnown || answer.kind === 'failed'
}

/** How long the list is at most if all that is new has been met. Where items are left out nothing can be counted. */
async function mostHeld(run: Run, { filtered }: WalkResult): Promise<number> {
  const isCounted = run.facts.total !== undefined && !filtered && run.facts.filtered_pages !== true
  return isCounted ? knownLength(run) : Number.POSITIVE_INFINITY
}

/** Of a walk from the front that did not come to the end itself. */
interface FrontRead {
  /** So many items stood in the list before the walk (open-apart.ts), with or without what has come in since. */
  atLeast: number
  /** How many tasks it met. */
  met: number
  /** When it began, epoch ms. */
  begun: number
}

/** As `hasGrownElsewhere`, for a walk from the front that did not come to the end itself. */
export async function seeEnd(run: Run, result: WalkResult, { atLeast, met, begun }: FrontRead): Promise<EndSeen> {
  if (result.verdict !== 'complete' || result.total !== null) return NOTHING_SEEN
  // What could not be read was counted without a row: taken in now, it leaves room for what the walk does not see.
  if (await run.writer.haveUnreadChanged({ from: 0, to: met, since: begun, now: run.now() }))
    return { ...NOTHING_SEEN, isLonger: true }
  const looks = mostLooks(run)
  let isLook = atLeast === 0 ? run.facts.open_in_front === true : (await takenIn(run)) > 0
  for (let look = 1; ; look += 1) {
    const most = await mostHeld(run, result)
    const last = isLook ? await lookAtLast(run) : NOTHING_SEEN
    const length = Math.max(look === 1 ? atLeast : 0, last.length)
    // That look may have been cut by size: nothing but an answer from behind the end shows that nothing stands there.
    const isUnknown = isLook && length <= most && most !== Number.POSITIVE_INFINITY
    const extra = isUnknown ? await countFrom(run, most, last.ids) : length - most
    const isLonger = extra === null || (extra > 0 && (look === looks || !(await cameInFront(run, extra))))
    if (isLonger || extra <= 0) return { ...last, length, isMoved: atLeast === 0 && last.isMoved, isLonger }
    // Whether it came in before the look, nobody knows, and later it explains nothing: the next look may tell.
    isLook = true
    // Tasks that come in and requests may keep time with each other: then the next look is to come a request later.
    if (look % 2 === 0) await readBeside(run, { skip: 0, take: reachOf(run) })
  }
}

/** A list in which much comes in is looked at again and again, as long as that costs about as much as a full walk. */
function mostLooks(run: Run): number {
  const windows = Math.ceil((run.facts.total ?? 0) / windowCapacity(run))
  return Math.min(MOST_LOOKS, Math.max(LEAST_LOOKS, windows))
}

/**
 * How many items stand at `index` or behind it, as far as one answer shows; null where nobody knows. `inFront`: what
 * stands in front of it. Some services give the last items again, whatever the index; or one came in at the front.
 */
async function countFrom(run: Run, index: number, inFront: string[]): Promise<number | null> {
  for (const skip of [index, index + 1]) {
    const answer = await readBeside(run, { skip, take: reachOf(run) })
    if (answer.kind === 'failed') return null
    if (answer.kind === 'refused') return 0
    const { ids } = answer.value
    if (!ids.some((id) => inFront.includes(id))) return ids.length
  }
  return 0
}

/**
 * Whether `count` or more came in at the front meanwhile, those at the end aside; false where it cannot be read. Reads on
 * while answers hold nothing but new tasks; and once more where too few came, as one server may not have yet what
 * another one counts.
 */
async function cameInFront(run: Run, count: number): Promise<boolean> {
  const before = await takenIn(run)
  let came = 0
  let isAgain = false
  for (let answers = 0; answers < MOST_IN_FRONT; answers += 1) {
    const front = await readBeside(run, { skip: came, take: reachOf(run) })
    if (front.kind !== 'ok') return false
    const read = came + front.value.ids.length
    came = (await takenIn(run)) - before
    if (came >= read && front.value.ids.length > 0) continue
    if (came >= count || isAgain) break
    isAgain = true
  }
  return came >= count
}

/**
 * Looks at the last known task and what stands behind it; once more where nothing stands there, and tasks were taken in:
 * one server may not have yet what another one has shown.
 */
async function lookAtLast(run: Run): Promise<LastSeen> {
  const seen = await lookOnceAtLast(run)
  const isShorter = seen.isMoved && seen.length === 0
  return isShorter && (await takenIn(run)) > 0 ? lookOnceAtLast(run) : seen
}

async function lookOnceAtLast(run: Run): Promise<LastSeen> {
  const { last_id: lastId } = run.facts
  if (lastId === undefined) return NOTHING_SEEN
  const skip = (await knownLength(run)) - 1
  const answer = await readBeside(run, { skip, take: reachOf(run) })
  if (answer.kind !== 'ok') return { ...NOTHING_SEEN, isMoved: answer.kind === 'refused' }
  const { ids } = answer.value
  const isMoved = ids.length !== 1 || ids[0] !== lastId
  return { length: ids.length === 0 ? 0 : skip + ids.length, isMoved, ids }
}

/** How many items a look asks for: more than come in at the front between two of them. */
function reachOf(run: Run): number {
  const { window, overlap } = windowSizeOf(run)
  return Math.min(window, overlap + ROOM)
}
