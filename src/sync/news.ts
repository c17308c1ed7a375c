// Head walk and tail walk: the cheapest way to what is new, where the order is created (design.md 6.3).
import type { Facts } from '../mirror/facts.ts'
import type { Verdict } from '../task.ts'
import type { Run } from './context.ts'
import { runWanted } from './neighbours.ts'
import { mayBringForward } from './plan.ts'
import { endWalk, frontierOf, learnedFrom, runWalk } from './walking.ts'
import { watchList } from './watched-list.ts'

export interface NewsDone {
  verdict: Verdict
  reason: string | null
  drift: number
  /** Something is not as the last full walk left it: the next full walk is due now. */
  bringForward: boolean
}

export async function runHead(run: Run): Promise<NewsDone> {
  const { facts } = run
  const frontier = facts.frontier ?? (facts.seen_until as number)
  const before = facts.total ?? null
  const inserted = (await run.writer.counts()).inserted
  const list = watchList(run, 'created_desc', frontier)
  const done = await runWalk(run, {
    kind: 'head',
    begun: list.begun,
    onParsed: list.onParsed,
    request: {
      start: 0,
      beyond: true,
      // Without a run of neighbours the walk ends with the list, in an order that is in doubt.
      lap: 'beyond-one-window',
      known: { order: 'created_desc', inversionMs: facts.inversion_ms ?? 0 },
      reached: list.found,
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
  const read = done.met > run.config.sync.window
  const moved = result.total === null ? await lastTaskMoved(run) : read
  return { verdict, reason, drift: result.drift, bringForward: reordered || moved }
}

/** One request: the last known task at its known place. Another answer means that something is missing or extra. */
async function lastTaskMoved(run: Run): Promise<boolean> {
  const { total, last_id: lastId } = run.facts
  if (total === undefined || lastId === undefined || total < 1) return false
  if (!mayBringForward(await run.writer.lastFull(), run.now(), run.config.sync.settleMs)) return false
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
  const { overlap, settleMs, window } = run.config.sync
  const before = facts.total
  const list = watchList(run, 'created_asc', frontier)
  // Room for a run of neighbours before the open tasks, which change.
  const reach = Math.min(Math.floor(window / 2), 2 * runWanted(overlap) + run.opened.owed.open)
  const done = await runWalk(run, {
    kind: 'tail',
    begun: list.begun,
    onParsed: list.onParsed,
    request: {
      start: Math.max(0, (before ?? 0) - Math.max(overlap, reach)),
      accepts: list.holds,
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
