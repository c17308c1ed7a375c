// The full walk of a run, and what its verdict means. It is walked once, or up to three times where nothing orders the
// list or the list is longer than what was met, and once more where ties turn out to stand in no order of their ids.
import type { Facts } from '../../mirror/tables/facts.ts'
import { isCreatedOrder, orderShown } from '../../walk/order.ts'
import type { WalkResult } from '../../walk/request.ts'
import type { Run } from '../context.ts'
import type { PlanStep } from '../plan.ts'
import { type CameToFront, frontsAfter, isTouchOrder, type WatchedFront, watchFront } from './front.ts'
import { Newcomers } from './met-count.ts'
import { Sequence } from './sequence.ts'
import {
  endWalk,
  frontierOf,
  frontOf,
  learnedFromFront,
  runWalk,
  type WalkDone,
  type WalkVerdict,
  type Watcher,
} from './walking.ts'

const WALKS = 3

export async function runFull(run: Run, step: PlanStep & { kind: 'full' }): Promise<WalkVerdict> {
  let resume = step.resume === null ? null : await run.writer.walk(step.resume)
  const startedAt = resume?.startedAt ?? run.now()
  /** When the first of these walks began. */
  let began: number | null = null
  let previous: Walked | null = null
  let drift = 0
  const { order: known } = run.facts
  const { settleMs } = run.config.sync
  let front = run.facts.front_next?.ids ?? run.facts.front
  // By last update, every complete walk reads the front anew.
  let since: 'complete' | 'full' | null = known === 'updated_desc' ? 'complete' : 'full'
  let cameToFront = known === 'updated_desc'
  for (let round = 1; ; round += 1) {
    const sequence: Sequence = new Sequence()
    const newcomers = new Newcomers(began)
    const newFrom = began ?? Number.POSITIVE_INFINITY
    // A walk that was cut off does not show how the list stands now.
    const list: WatchedFront | null = resume === null ? watchFront(run, front ?? [], { since }) : null
    let isByCreation = true
    const compared: Watcher = {
      joined({ ids, met, moments, serviceDate, startedAt }, shown) {
        const latest = (serviceDate ?? startedAt) + settleMs
        ids.forEach((id, index) => {
          const moment = moments[index] ?? null
          // What was created since the first walk began may stand anywhere. What is dated in the future was not.
          const isNew = moment !== null && moment >= newFrom && moment <= latest
          if (met[index] === 0 && !isNew) sequence.add(id)
        })
        isByCreation = shown.inversionDesc <= settleMs
        if (isCreatedOrder(orderShown(shown, settleMs).order)) sequence.forgetIfLong()
      },
    }
    const done: WalkDone = await runWalk(run, {
      kind: 'full',
      watchers: list === null ? [newcomers, compared] : [list, newcomers, compared],
      request: {
        start: 0,
        beyond: true,
        lap: 'always',
        known: known && { order: known, inversionMs: run.facts.inversion_ms ?? 0 },
      },
      resume,
      startedAt,
    })
    resume = null
    drift += done.result.drift
    const close = async (ending: FullEnding) => ({ ...(await closeFull(run, done, ending)), drift })
    const { verdict, reason, order, firstServiceDate, firstStartedAt } = done.result
    const came = done.result.front === null ? null : (list?.judge() ?? null)
    if (verdict === 'partial') {
      const closed = await close({ verdict, reason, order })
      // The walk took ties to stand in the order of their ids, until it saw that they do not.
      if (reason !== 'ties-unordered') return closed
      continue
    }
    const walked: Walked = { done, sequence, came, newcomers: newcomers.count }
    if (list !== null) cameToFront = came !== null && (cameToFront || isTouchOrder(came, isByCreation))
    // In the order that was known, everything has come to the front, and nothing elsewhere.
    const asKnown = known === 'updated_desc' && cameToFront && came !== null
    const ending = endingOf(walked, previous, asKnown, cameToFront)
    const closed = await close(ending)
    if (ending.verdict === 'complete' || round >= WALKS) return closed
    previous = walked
    began ??= firstServiceDate ?? firstStartedAt
    front = done.result.front ?? undefined
    since = null
  }
}

/** What a walk has proven for itself, to be compared with the next one. */
interface Walked {
  done: WalkDone
  sequence: Sequence
  /** What came or moved to the front since the walk before; null where that is not known. */
  came: CameToFront | null
  /** See `Newcomers`. */
  newcomers: number
}

/** How the walk ends, compared with the one before. Pure. */
function endingOf(walked: Walked, previous: Walked | null, asKnown: boolean, cameToFront: boolean): FullEnding {
  const { done, came, sequence, newcomers } = walked
  const { result } = done
  // Answers that contradict each other may pass over the same tasks in every walk: only the number of all tells. Of two
  // walks, which speak of what was listed throughout both, one has to have met all, but for what came in meanwhile and
  // the second met.
  const isCounted = done.uncounted <= 0 || (previous !== null && previous.done.uncounted <= newcomers)
  const { order, countable, front } = result
  if (asKnown || order !== 'none') {
    if (isCounted || !countable) return { verdict: 'complete', reason: null, order: asKnown ? 'updated_desc' : order }
    return { verdict: 'partial', reason: 'not-counted', order }
  }
  // Nothing orders this list. Two walks that bring the same ids in the same sequence are a proof, but for what was
  // deleted or created since the first began: what moved meanwhile, and was passed over, would be new to the second, or
  // stand elsewhere. So are two that differ, besides, by what moved to the front, which the closing lap has met
  // (sync/steps/front.ts). Both require the lap to be one answer: between two, a new task that was passed over can move
  // from what is still unread to what was read.
  const inFront = previous === null ? null : sequence.inFrontOf(previous.sequence)
  const agree = inFront === 0 || (inFront !== null && came !== null && 2 * inFront < sequence.length)
  const isSame = front !== null && agree
  if (!isSame || !isCounted) return { verdict: 'partial', reason: isSame ? 'not-counted' : 'no-order', order }
  return { verdict: 'complete', reason: null, order: cameToFront ? 'updated_desc' : 'none' }
}

type FullEnding = Pick<WalkResult, 'verdict' | 'reason' | 'order'>

async function closeFull(run: Run, done: WalkDone, { verdict, reason, order }: FullEnding): Promise<WalkVerdict> {
  const result = { ...done.result, order }
  const { settleMs } = run.config.sync
  const learned: Facts = learnedFromFront(run, { ...done, result })
  const complete = verdict === 'complete'
  // It has read the whole list: where no answer was cut, none is any more.
  if (complete) learned.page_cap = result.pageCap ?? undefined
  // As many were met as the list holds by its indexes: whatever was so before, answers leave nothing out.
  if (complete && result.countable && done.uncounted <= 0) learned.filtered_pages = undefined
  if (complete && result.order !== null) learned.order = result.order
  const { front } = result
  const unknown = { front: undefined, front_at: undefined, front_next: undefined }
  if (complete)
    Object.assign(learned, front === null ? unknown : frontsAfter(run.facts, frontOf(run, result, front), settleMs))
  const newest = result.order === 'created_asc' ? result.newest : result.newestInFirst
  const frontier = isCreatedOrder(result.order) ? frontierOf(result, newest, settleMs) : null
  if (complete && frontier !== null) learned.frontier = frontier
  return endWalk(run, { ...done, result }, { verdict, reason, learned, candidates: complete })
}

/** The sentence for a walk that proved less than it should. */
export function partialNote(what: string, reason: string | null): string {
  return `The ${what} is partial: ${REASONS[reason ?? ''] ?? `${reason}`}`
}

/** By reason codes, which are stable: rows of `walks` and `sync --json` have them. */
export const REASONS: Record<string, string> = {
  'skip-ignored':
    'the service seems to ignore skip: its first task came at other indexes, too, so nothing behind it can be told apart.',
  wraps: 'the service starts again from the top behind the end of the list.',
  'skip-limit': 'the service gives nothing from an index on, though items may lie there.',
  'page-of-one': 'the service gives one item at a time: that can be verified only while the list stands still.',
  'no-progress': 'many windows in a row brought nothing new, or the list was read many times over and kept changing.',
  'request-limit': 'the bound on requests of one walk was reached.',
  'end-not-shown': 'no answer showed where the list ends.',
  'not-joined': 'a window could not be joined with those before it, so tasks between them may be missing.',
  'end-keeps-moving': 'the end of the list moved whenever it was looked at; a later run will try again.',
  'unreadable-from': 'nothing is answered from an index on, or the list moved around an item that cannot be read.',
  'from-cache':
    'a cache on the way answered what had to be asked anew, so nothing proves that the list has not moved since.',
  'list-shrunk':
    'the list is empty or suddenly much shorter than it was, so nothing is marked deleted; if that is right, run `task-mirror sync --full --allow-mass-delete`.',
  'not-counted':
    'by its indexes the list holds more tasks than it showed: some answers have a task at another index than others do.',
  'no-order':
    'the list is not in order of createdAt, and no two walks brought the tasks in the same sequence; while none of them moves, they do.',
  ties: 'tasks that share one createdAt could not be counted: they changed places, the list moved meanwhile (a later run will try again), or one of them is left out of answers, or cannot be read.',
  'ties-unordered':
    'tasks that share one createdAt stood in the order of their ids, and then others did not; the next walk counts them.',
  'lap-unreadable': 'the head of the list could not be read again at the end.',
  'lap-too-long': 'the head of the list kept changing at the end.',
  'order-not-proven': 'the order of the list is not proven yet; a full walk will do that.',
  'open-behind': 'tasks that are not finished may stand behind all others, and no single answer shows them all.',
  'open-in-front': 'tasks that are not finished may stand in front of all others, and no single answer shows them all.',
  'not-proven': 'its evidence does not show that it was complete.',
}
