// Head walk and tail walk: the cheapest way to what is new, where the order is created (design.md 6.3).
import type { Facts } from '../mirror/facts.ts'
import type { Verdict } from '../task.ts'
import type { ItemsWindow } from '../walk/source.ts'
import type { Run } from './context.ts'
import { mayBringForward } from './plan.ts'
import { endWalk, frontierOf, learnedFrom, runWalk } from './walking.ts'

export interface NewsDone {
  verdict: Verdict
  reason: string | null
  drift: number
  /** Something is not as the last full walk left it: the next full walk is due now. */
  bringForward: boolean
}

/**
 * Items clearly older than the frontier: that many, and every newer one has been met. Only those the mirror held before
 * count: an older one that is new is late, and says nothing of its place.
 */
export function olderThan(bound: number, wanted: number): (window: ItemsWindow) => boolean {
  let older = 0
  return ({ moments, met, held }) => {
    moments.forEach((moment, index) => {
      if (moment !== null && moment < bound && met[index] === 0 && held[index] === 1) older += 1
    })
    return older >= wanted
  }
}

export async function runHead(run: Run): Promise<NewsDone> {
  const { facts } = run
  const frontier = facts.frontier ?? (facts.seen_until as number)
  const before = facts.total ?? null
  const inserted = (await run.writer.counts()).inserted
  const done = await runWalk(run, {
    kind: 'head',
    request: {
      start: 0,
      beyond: true,
      lap: 'never',
      known: { order: 'created_desc', inversionMs: facts.inversion_ms ?? 0 },
      reached: olderThan(frontier - (facts.inversion_ms ?? 0), run.config.sync.overlap),
    },
    total: null,
  })
  const { result } = done
  const reordered = result.contradicted || (result.order !== null && result.order !== 'created_desc')
  const proven = facts.frontier !== undefined
  const verdict: Verdict = result.verdict === 'complete' && !reordered && proven ? 'complete' : 'partial'
  const reason = result.reason ?? (reordered ? 'order-not-proven' : proven ? null : 'frontier-not-proven')
  const learned: Facts = learnedFrom(run, result)
  const next = frontierOf(result, result.newestInFirst, run.config.sync.settleMs)
  if (next !== null && verdict === 'complete' && next > frontier) learned.frontier = next
  if (reordered) learned.order = undefined
  if (learned.total === undefined && before !== null) {
    learned.total = before + (await run.writer.counts()).inserted - inserted
  }
  await endWalk(run, done, verdict, reason, learned, false)
  const moved = result.total === null && (await lastTaskMoved(run))
  return { verdict, reason, drift: result.drift, bringForward: reordered || moved }
}

/** One request: the last known task at its known place. Another answer means that something is missing or extra. */
async function lastTaskMoved(run: Run): Promise<boolean> {
  const { total, last_id: lastId } = run.facts
  if (total === undefined || lastId === undefined || total < 1) return false
  if (!mayBringForward(await run.writer.lastFull(), run.now())) return false
  const answer = await run.service.list({ skip: total - 1, take: 2 }, (raw) => run.writer.parseList(raw))
  if (answer.kind !== 'ok') return answer.kind === 'refused'
  const { handle } = answer.value
  const { ids } = await run.writer.view(handle, 0)
  await run.writer.dropWindow(handle)
  return ids.length !== 1 || ids[0] !== lastId
}

export async function runTail(run: Run): Promise<NewsDone> {
  const { facts } = run
  const frontier = facts.frontier ?? (facts.seen_until as number)
  const bound = frontier - (facts.inversion_ms ?? 0)
  const { overlap, settleMs } = run.config.sync
  const before = facts.total
  const done = await runWalk(run, {
    kind: 'tail',
    request: {
      start: Math.max(0, (before ?? 0) - overlap),
      accepts: ({ moments, held }) => moments.some((at, index) => at !== null && at < bound && held[index] === 1),
      known: { order: 'created_asc', inversionMs: facts.inversion_ms ?? 0 },
      beyond: false,
      lap: 'never',
    },
    total: null,
  })
  const { result } = done
  const reordered = result.contradicted || (result.order !== null && result.order !== 'created_asc')
  const proven = facts.frontier !== undefined
  const verdict: Verdict = result.verdict === 'complete' && !reordered && proven ? 'complete' : 'partial'
  const reason = result.reason ?? (reordered ? 'order-not-proven' : proven ? null : 'frontier-not-proven')
  const learned: Facts = learnedFrom(run, result)
  const next = frontierOf(result, result.newest, settleMs)
  if (next !== null && verdict === 'complete' && next > frontier) learned.frontier = next
  if (reordered) learned.order = undefined
  await endWalk(run, done, verdict, reason, learned, false)
  const shrunk = before !== undefined && result.total !== null && result.total < before
  return { verdict, reason, drift: result.drift, bringForward: reordered || shrunk }
}
