// The full walk of a run: once, or up to three times where nothing orders the list, and what its verdict means.
import { MirrorError } from '../errors.ts'
import type { Facts } from '../mirror/facts.ts'
import type { Verdict } from '../task.ts'
import { isCreatedOrder } from '../walk/order.ts'
import type { Run } from './context.ts'
import type { PlanStep } from './plan.ts'
import { endWalk, frontierOf, learnedFrom, runWalk, type WalkDone } from './walking.ts'

export interface FullDone {
  verdict: Verdict
  reason: string | null
  drift: number
  met: number
}

const WALKS = 3

export async function runFull(run: Run, step: PlanStep & { kind: 'full' }): Promise<FullDone> {
  let resume = step.resume === null ? null : await run.writer.walk(step.resume)
  let cutoff: number | null = null
  let previous: string | null = null
  let drift = 0
  for (let round = 1; ; round += 1) {
    const done = await runWalk(run, {
      kind: 'full',
      request: { start: 0, beyond: true, lap: 'unless-oldest-first', digestCutoff: cutoff },
      resume,
      total: run.facts.total ?? null,
    })
    resume = null
    drift += done.result.drift
    const { verdict, reason, order, digest, digestCutoff } = done.result
    if (verdict === 'partial' || order !== 'none') {
      await closeFull(run, done, verdict, reason)
      return { verdict, reason, drift, met: done.met }
    }
    // Nothing orders this list: only the same ids in the same sequence twice in a row are a proof.
    if (digest === previous) {
      await closeFull(run, done, 'complete', null)
      return { verdict: 'complete', reason: null, drift, met: done.met }
    }
    await closeFull(run, done, 'partial', 'no-order')
    if (round >= WALKS) return { verdict: 'partial', reason: 'no-order', drift, met: done.met }
    previous = digest
    cutoff = digestCutoff
  }
}

async function closeFull(run: Run, done: WalkDone, verdict: Verdict, reason: string | null): Promise<void> {
  const { result } = done
  const { settleMs } = run.config.sync
  const learned: Facts = learnedFrom(run, result)
  const complete = verdict === 'complete'
  if (complete && result.order !== null) learned.order = result.order
  const newest = result.order === 'created_asc' ? result.newest : result.newestInFirst
  const frontier = isCreatedOrder(result.order) ? frontierOf(result, newest, settleMs) : null
  if (frontier !== null)
    Object.assign(learned, complete ? { frontier, seen_until: undefined } : { seen_until: frontier })
  await endWalk(run, done, verdict, reason, learned, complete)
}

/** The sentence for a walk that proved less than it should. */
export function partialNote(what: string, reason: string | null): string {
  return `The ${what} is partial: ${REASONS[reason ?? ''] ?? `${reason}`}`
}

const REASONS: Record<string, string> = {
  'skip-ignored': 'the service ignores skip, so only its first window can be read.',
  wraps: 'the service starts again from the top behind the end of the list.',
  'skip-limit': 'the service refuses to go beyond an index, though items may lie there.',
  'page-of-one': 'the service gives one item at a time, so no seam can be verified.',
  'no-progress': 'many windows in a row brought nothing new.',
  'request-limit': 'the bound on requests of one walk was reached.',
  'end-keeps-moving': 'the end of the list moved whenever it was looked at; a later run will try again.',
  'unreadable-from': 'several items in a row cannot be read, or the list moved around one that cannot.',
  'from-cache':
    'a cache on the way answered what had to be asked anew, so nothing proves that the list has not moved since.',
  'list-shrunk':
    'the list is empty or suddenly much shorter than it was, so nothing is marked deleted; if that is right, run `task-mirror sync --full --allow-mass-delete`.',
  'no-order': 'nothing orders the list, and no two walks brought the same ids in the same sequence.',
  ties: 'many tasks share one createdAt and came in another order at every read, so they could not be counted.',
  'lap-unreadable': 'the head of the list could not be read again at the end.',
  'lap-too-long': 'the head of the list kept changing at the end.',
  'order-not-proven': 'the order of the list is not proven yet; a full walk will do that.',
  'frontier-not-proven': 'no full walk has been complete yet.',
}

/** Throws where a walk cannot go on because the run's time is over. */
export function assertTimeLeft(deadline: number | null, now: number): void {
  if (deadline === null || now < deadline) return
  throw new MirrorError('duration-reached', 'The run has reached --max-duration; its progress is kept', {
    hint: 'The next run goes on from there.',
  })
}
