// Head walk and tail walk: the cheapest way to what is new, where createdAt orders the list (design.md 6.3) or what is
// new comes to its front (front.ts).
import type { Facts } from '../../mirror/tables/facts.ts'
import type { Verdict } from '../../task.ts'
import type { WalkResult } from '../../walk/request.ts'
import type { Run } from '../context.ts'
import { windowCapacity, windowSizeOf } from '../window-size.ts'
import { frontsAfter, watchFront } from './front.ts'
import { hasGrownElsewhere, NOTHING_SEEN, seeEnd } from './grown.ts'
import { neighboursWanted, watchNeighbours } from './neighbours.ts'
import { watchOpenApart } from './open-apart.ts'
import {
  endWalk,
  frontierOf,
  frontOf,
  learnedFrom,
  learnedFromFront,
  runWalk,
  type WalkDone,
  type WalkVerdict,
} from './walking.ts'

interface IncrementalDone extends WalkVerdict {
  /** The list contradicts the order that was known: only a full walk can tell what is new. */
  isRefuted: boolean
  /** Something is not as the last full walk left it: the next full walk is due now. */
  bringForward: boolean
}

export function runIncremental(run: Run, kind: 'head' | 'tail'): Promise<IncrementalDone> {
  if (kind === 'tail') return runTail(run)
  return run.facts.order === 'updated_desc' ? runFront(run) : runHead(run)
}

async function runHead(run: Run): Promise<IncrementalDone> {
  const { facts } = run
  const frontier = facts.frontier as number
  const list = watchNeighbours(run, 'created_desc', frontier)
  const end = watchEnd(run)
  const done = await runWalk(run, {
    kind: 'head',
    watchers: [list, end.behind],
    seenBeside: end.seenBeside,
    request: {
      start: 0,
      beyond: true,
      // If no run of neighbours is found, the walk ends with the list, whose order is then in doubt.
      lap: 'beyond-one-window',
      known: { order: 'created_desc', inversionMs: facts.inversion_ms ?? 0 },
      range: { order: 'created_desc', from: null, to: frontier - (facts.inversion_ms ?? 0) },
      reached: list.found,
    },
  })
  const { result } = done
  const ended = await endByCreation(run, done, {
    newest: result.newestInFirst,
    doubt: end.doubt(done),
    learned: learnedFromFront(run, done),
  })
  const read = done.met > windowSizeOf(run).window
  return { ...ended, bringForward: result.total === null ? end.isMoved() : read }
}

/** The other end of the list, for a walk from the front: where open tasks may stand, before; its length, after. */
function watchEnd(run: Run) {
  const behind = watchOpenApart(run, 'created_desc')
  const begun = run.now()
  let end = NOTHING_SEEN
  return {
    behind,
    async seenBeside(result: WalkResult, met: number): Promise<number> {
      end = await seeEnd(run, result, { atLeast: behind.atLeast(), met, begun })
      return end.length
    },
    doubt: ({ oldestReadAt }: WalkDone) => (end.isLonger ? 'order-not-proven' : behind.doubt(oldestReadAt)),
    isMoved: () => end.isMoved,
  }
}

/** Ends a head or tail walk by `createdAt`. `newest`: how far the frontier may move; `doubt`: about the other end. */
async function endByCreation(
  run: Run,
  done: WalkDone,
  { newest, doubt, learned }: { newest: number | null; doubt: string | null; learned: Facts },
) {
  const { result } = done
  const { contradicted, verdict: proven } = result
  const unproven = contradicted ? 'order-not-proven' : doubt
  const verdict: Verdict = proven === 'complete' && unproven === null ? 'complete' : 'partial'
  const reason = verdict === 'complete' ? null : (result.reason ?? unproven)
  // Where the order is not the one that was known, these facts go with it.
  if (contradicted) Object.assign(learned, { order: undefined, open_in_front: undefined, final_in_front: undefined })
  const next = frontierOf(result, newest, run.config.sync.settleMs)
  if (next !== null && verdict === 'complete' && next > (run.facts.frontier as number)) learned.frontier = next
  return { ...(await endWalk(run, done, { verdict, reason, learned })), isRefuted: contradicted || doubt !== null }
}

/** Walks from the front of a list in which whatever is written to comes first, to what stands as it stood. */
async function runFront(run: Run): Promise<IncrementalDone> {
  const { facts } = run
  const list = watchFront(run, facts.front as string[], { since: 'complete', at: facts.front_at })
  const end = watchEnd(run)
  const done = await runWalk(run, {
    kind: 'head',
    watchers: [list, end.behind],
    seenBeside: end.seenBeside,
    request: {
      start: 0,
      beyond: true,
      lap: 'unless-one-answer',
      reached: () => list.judge() !== null,
    },
  })
  const { result } = done
  const learned = learnedFromFront(run, done)
  const { front } = result
  const isAll = list.judge() !== null && front !== null && end.doubt(done) === null
  const isProven = result.verdict === 'complete' && isAll
  if (isProven) Object.assign(learned, frontsAfter(facts, frontOf(run, result, front), run.config.sync.settleMs))
  const reason = isProven ? null : (result.reason ?? 'order-not-proven')
  const verdict: Verdict = isProven ? 'complete' : 'partial'
  const order = isProven ? ('updated_desc' as const) : null
  const ended = await endWalk(run, { ...done, result: { ...result, order } }, { verdict, reason, learned })
  return { ...ended, isRefuted: !isAll, bringForward: end.isMoved() }
}

async function runTail(run: Run): Promise<IncrementalDone> {
  const { facts } = run
  const frontier = facts.frontier as number
  const { overlap, window } = run.config.sync
  const before = facts.total
  const list = watchNeighbours(run, 'created_asc', frontier)
  const inFront = watchOpenApart(run, 'created_asc')
  const wanted = neighboursWanted(overlap)
  // Answers that hold fewer show a run only once several have joined.
  const isShort = windowCapacity(run) < wanted
  let isShown = !isShort
  // Room for a run of neighbours in front of the open tasks, which change.
  const from = frontier - (facts.inversion_ms ?? 0)
  const most = isShort ? window : windowSizeOf(run).window
  const reach = Math.min(Math.floor(most / 2), 2 * wanted + run.opened.openTasks)
  const start = Math.max(0, (before ?? 0) - Math.max(overlap, reach))
  const begun = run.now()
  const done = await runWalk(run, {
    kind: 'tail',
    watchers: [list, inFront],
    request: {
      start,
      range: { order: 'created_asc', from, to: null },
      accepts: (first) => (first.moments[0] ?? from) < from && (isShort || list.holds(first)),
      async reached(joined, shown) {
        isShown ||= await list.found(joined, shown)
        return false
      },
      known: { order: 'created_asc', inversionMs: facts.inversion_ms ?? 0 },
      beyond: false,
      lap: 'never',
    },
  })
  const { result } = done
  const isMore =
    (await hasGrownElsewhere(run, done)) ||
    (await run.writer.haveUnreadChanged({ from: start, to: null, since: begun, now: run.now() }))
  const doubt = isMore || !isShown ? 'order-not-proven' : inFront.doubt(done.oldestReadAt)
  const learned = learnedFrom(run, result, isMore)
  const ended = await endByCreation(run, done, { newest: result.newest, doubt, learned })
  const shrunk = before !== undefined && result.total !== null && result.total < before
  return { ...ended, bringForward: shrunk }
}
