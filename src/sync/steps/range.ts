// A walk over one range of createdAt (design.md 6.3): the place of one bound is searched, the other ends the walk.
import type { Verdict } from '../../task.ts'
import { isCreatedOrder, noOrderSeen, observe, orderShown } from '../../walk/order.ts'
import type { Walk, WalkRequest } from '../../walk/request.ts'
import { seekMoment } from '../../walk/seek-moment.ts'
import type { ItemsWindow } from '../../walk/source.ts'
import { walk } from '../../walk/walk.ts'
import type { Run } from '../context.ts'
import type { ListSource } from '../list-source.ts'
import { windowSizeOf } from '../window-size.ts'
import { viewFirst } from './beside.ts'
import { hasGrownElsewhere, seeEnd } from './grown.ts'
import { watchOpenApart } from './open-apart.ts'
import { endWalk, learnedFrom, runWalk, type WalkDone, type WalkVerdict } from './walking.ts'

interface AskedRange {
  since: number | null
  until: number | null
}

type CreatedOrder = 'created_desc' | 'created_asc'

/** What is known of the list. */
interface KnownList {
  order: CreatedOrder
  /** How far tasks may stand out of that order. */
  slackMs: number
  /**
   * Up to which moment tasks are known: a walk that begins at the top, newest first, must come by something as new as
   * that before it believes what is older.
   */
  frontier?: number | null
}

/** What the walk has to see, whichever end of the list is newest; it ends `wanted` tasks behind its range. Pure. */
export function rangeRequest(
  { order, slackMs, frontier = null }: KnownList,
  { since, until }: AskedRange,
  wanted: number,
) {
  const desc = order === 'created_desc'
  const entry = desc ? until : since
  const exit = desc ? since : until
  const early = entry === null ? null : desc ? entry + slackMs : entry - slackMs
  const late = exit === null ? null : desc ? exit - slackMs : exit + slackMs
  const isEarly = (at: number): boolean => early === null || (desc ? at >= early : at < early)
  const isLate = (at: number): boolean => late !== null && (desc ? at < late : at >= late)
  const expected = desc && entry === null && frontier !== null ? frontier - slackMs : Number.NEGATIVE_INFINITY
  let newest = Number.NEGATIVE_INFINITY
  let behind = 0
  return {
    entry,
    exit,
    range: { order, from: early, to: late },
    accepts: ({ moments }: ItemsWindow): boolean =>
      moments[0] !== null && moments[0] !== undefined && isEarly(moments[0]),
    reached:
      late === null
        ? undefined
        : ({ moments, met }: ItemsWindow): boolean => {
            moments.forEach((at, index) => {
              newest = Math.max(newest, at ?? newest)
              if (at !== null && met[index] === 0 && isLate(at) && newest >= expected) behind += 1
            })
            return behind >= wanted
          },
  }
}

/** So many tasks behind its range end a walk, at least: in a list whose order was misread a few may stand anywhere. */
const LEAST_BEHIND = 10

/** Null where the list is not in created order: then only a full walk can tell. */
export async function runRange(run: Run, range: AskedRange): Promise<WalkVerdict | null> {
  const known = run.facts.order
  const order = known === undefined ? await peekOrder(run) : known
  if (order === null || !isCreatedOrder(order)) return null
  const { overlap, window } = windowSizeOf(run)
  const wanted = Math.max(overlap, LEAST_BEHIND)
  const slackMs = known === undefined ? run.config.sync.settleMs : (run.facts.inversion_ms ?? 0)
  const asked = rangeRequest({ order, slackMs, frontier: run.facts.frontier ?? null }, range, wanted)
  const { entry, exit, accepts, reached } = asked
  const total = run.facts.total ?? null
  let expected: number | null = null
  // A list by completion looks like one by createdAt while all its tasks are final; new ones stand at the other end.
  const apart = watchOpenApart(run, order)
  const begun = run.now()

  async function* seekAndWalk(source: ListSource, request: WalkRequest): Walk {
    const known = { order: order as CreatedOrder, window }
    const start = entry === null ? 0 : yield* seekMoment(source, { ...known, start: 0, moment: entry, total })
    let end = total
    if (exit !== null) {
      end = yield* seekMoment(source, { ...known, start, moment: exit, total: null })
      // The bound lies within the window that begins there.
      source.stopAhead(end + window)
    }
    expected = end === null ? null : Math.max(0, end - start)
    return yield* walk(source, { ...request, start: Math.max(0, start - overlap) })
  }
  const done = await runWalk(run, {
    kind: 'range',
    range,
    watchers: [apart],
    request: {
      start: 0,
      range: asked.range,
      accepts: entry === null ? undefined : accepts,
      reached,
      known: { order, inversionMs: slackMs },
      beyond: true,
      lap: 'never',
    },
    steps: seekAndWalk,
    expected: () => expected,
  })
  const { result } = done
  const isDisordered = known === undefined || result.contradicted
  const unproven = isDisordered ? 'order-not-proven' : apart.doubt(done.oldestReadAt)
  const found = result.reason ?? unproven
  const isLonger =
    found === null && (await hasGrownOutside(run, { order, ...range }, done, { atLeast: apart.atLeast(), begun }))
  const reason = isLonger ? 'order-not-proven' : found
  const verdict: Verdict = reason === null ? 'complete' : 'partial'
  const learned = learnedFrom(run, result, await hasGrownElsewhere(run, done))
  return endWalk(run, done, { verdict, reason, learned })
}

/** Whether something new stands outside a range that should hold all new tasks. Of any other range nothing is said. */
async function hasGrownOutside(
  run: Run,
  { order, since, until }: AskedRange & Pick<KnownList, 'order'>,
  done: WalkDone,
  before: { atLeast: number; begun: number },
): Promise<boolean> {
  const { frontier } = run.facts
  if (until !== null || frontier === undefined || (since ?? frontier) > frontier) return false
  if (order === 'created_desc') return (await seeEnd(run, done.result, { ...before, met: done.met })).isLonger
  return hasGrownElsewhere(run, done)
}

/** The order that the pairs of the first window show; its items are taken in by the walk that follows. */
async function peekOrder(run: Run) {
  const { settleMs } = run.config.sync
  const first = await viewFirst(run)
  if (first === null) return null
  const orderSeen = noOrderSeen()
  observe(orderSeen, first.ids, first.moments, 0)
  return orderShown(orderSeen, settleMs).order
}
