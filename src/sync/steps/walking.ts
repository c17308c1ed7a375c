// Runs one walk: hands its windows to the writer step by step, and keeps what it learned. Decides nothing of windows.
import type { Facts } from '../../mirror/tables/facts.ts'
import type { WalkKind, WalkRow } from '../../mirror/tables/walks.ts'
import { textOf } from '../../proof/evidence.ts'
import { isCreatedOrder, type OrderSeen } from '../../walk/order.ts'
import type { Walk, WalkRequest, WalkResult, WalkSettings, WalkState } from '../../walk/request.ts'
import type { ItemsWindow, WalkStep } from '../../walk/source.ts'
import { walk } from '../../walk/walk.ts'
import { learn, type Run } from '../context.ts'
import { ListSource } from '../list-source.ts'
import { itemBytesOf, SMALL_WINDOW, WalkWindow, windowSizeOf } from '../window-size.ts'
import type { TakeIn } from '../writer/take-window.ts'
import type { ParsedList } from '../writer/writing.ts'
import { takeItems, type WalkBeside } from './beside.ts'
import { type Length, listLength } from './length.ts'
import { MetCount } from './met-count.ts'
import { type SidesSeen, seeSides } from './open-apart.ts'
import { believed } from './shrunk.ts'

/** Looks on while a walk goes on. */
export interface Watcher {
  /** Called before the first window is asked for; `beside`: for what is read beside this walk. */
  begun?(beside: WalkBeside): Promise<void>
  /** Called with every answer before any of it is taken in. */
  onParsed?(parsed: ParsedList): Promise<void>
  /** A window has joined the walk. */
  joined?: WalkRequest['joined']
}

interface WalkTask {
  kind: WalkKind
  range?: { since: number | null; until: number | null }
  request: Omit<WalkRequest, 'settings' | 'resume' | 'joined'>
  /** Makes the steps; `walk` itself where absent. */
  steps?: (source: ListSource, request: WalkRequest) => Walk
  /** About how many tasks the walk will meet, for progress; null where that is not known. */
  expected?(): number | null
  resume?: WalkRow | null
  /** When the first of the walks began that its verdict rests on, epoch ms; where absent, when this one begins. */
  startedAt?: number
  watchers?: readonly Watcher[]
  /** Called with the walk's result, and how many tasks it met. Returns how many items the list was seen to hold, apart from the walk. */
  seenBeside?(result: WalkResult, met: number): number | Promise<number>
}

export interface WalkDone {
  walkId: number
  result: WalkResult
  /** How many tasks this walk met for the first time. */
  met: number
  /** By how many items the list, when its end was shown, was longer than what was met; 0 or less: it was not. */
  uncounted: number
  /** Whether new tasks were taken in from windows that joined nothing: they may have come after the end was shown. */
  tookNew(): boolean
  /** The earliest moment that one of its answers shows, epoch ms. */
  oldestReadAt: number
}

/** A walk's result as the run judges it: the verdict may be stricter than the walk's own. */
interface WalkJudged extends Pick<WalkResult, 'verdict' | 'reason'> {
  learned: Facts
  /** What it did not meet may be deleted: complete full walks only. */
  candidates?: boolean
}

/** What the one who carries out the plan has to know of a walk. */
export type WalkVerdict = Pick<WalkResult, 'verdict' | 'reason' | 'drift'>

const PHASE: Record<WalkKind, string> = { full: 'full walk', head: 'head walk', tail: 'tail walk', range: 'range walk' }

/** The size of the windows. A resumed walk keeps asking for as many items as it did. */
function walkWindow(run: Run, { resume }: WalkTask): WalkWindow {
  const { sync, service } = run.config
  const before = resume == null ? 0 : (resume.state as WalkState).take
  return new WalkWindow(sync, service.maxBytesInFlight, itemBytesOf(run), before)
}

/** Asks ahead for the first window of a walk from the list's start, where nothing is known of what items weigh. */
async function weighFirst(source: ListSource, size: WalkWindow): Promise<void> {
  if (size.itemBytes !== null) return
  const { window } = size
  if ((await source.askAhead(0, window)) === 'too-large') await source.askAhead(0, Math.min(SMALL_WINDOW, window))
}

/** Walks to the end of `task.request`. The walk's row stays open: `endWalk` closes it once the verdict is known. */
export async function runWalk(run: Run, task: WalkTask): Promise<WalkDone> {
  const { writer, now } = run
  const { kind, range = { since: null, until: null }, resume = null, watchers = [] } = task
  // For progress and for reading ahead: other walks do not read all of the list.
  const total = kind === 'full' ? (run.facts.total ?? null) : null
  const walkId = resume?.id ?? (await writer.beginWalk(kind, range, task.startedAt ?? now()))
  const onParsed = async (parsed: ParsedList): Promise<void> => {
    for (const watcher of watchers) if (watcher.onParsed !== undefined) await watcher.onParsed(parsed)
  }
  for (const watcher of watchers) await watcher.begun?.({ walkId, onParsed })
  const length = listLength(run, walkId, total, kind === 'full')
  const size = walkWindow(run, task)
  const sides: SidesSeen = {}
  const source = new ListSource({
    run,
    walkId,
    concurrency: run.config.service.concurrency,
    size,
    total,
    async onParsed(parsed) {
      seeSides(sides, parsed)
      await onParsed(parsed)
    },
  })
  if (resume === null && task.request.start === 0 && task.steps === undefined) await weighFirst(source, size)
  const counted = new MetCount(resume?.met ?? 0)
  const walking = (task.steps ?? walk)(source, requestOf(run, task, size, counted))
  let oldestReadAt = Number.POSITIVE_INFINITY
  let keptNew = false
  try {
    let step = await walking.next()
    while (step.done !== true) {
      const { value } = step
      if ('window' in value) oldestReadAt = Math.min(oldestReadAt, value.window.startedAt)
      if (value.kind === 'take') {
        counted.met += (await writer.takeIn(takeInOf(value, walkId, now()))).newlyMet
        // A walk that is killed goes on at this size.
        if (value.firstWindow !== undefined) await rememberItemBytes(run)
        length.reached(value.nextSkip)
        tell(run, task, counted.met, length)
      } else if (value.kind === 'mark') counted.met += await writer.markMet(walkId, value.ids)
      else await setBeside(run, value)
      if (value.kind === 'keep') keptNew ||= value.window.held.includes(0)
      if (value.kind === 'unreadable') counted.unread.add(value.identity)
      step = await walking.next()
    }
    await learnSides(run, sides)
    const { met } = counted
    const atLeast = Math.max(met, (await task.seenBeside?.(step.value, met)) ?? 0)
    const result = await believed(run, kind, step.value, { met, atLeast })
    const judged = source.wasStale() ? partialBy(result, 'from-cache') : result
    const uncounted = counted.uncountedOf(result.total ?? 0)
    return { walkId, result: judged, met, uncounted, tookNew: () => keptNew || source.tookNew(), oldestReadAt }
  } finally {
    await Promise.all([source.end(), length.end()])
  }
}

/** Keeps where open tasks were seen to stand, until the list is seen to be in another order. */
async function learnSides(run: Run, seen: SidesSeen): Promise<void> {
  const sides = ['open_in_front', 'final_in_front'] as const
  if (sides.some((side) => seen[side] === true && run.facts[side] !== true)) await learn(run, seen)
}

function takeInOf(step: WalkStep & { kind: 'take' }, walkId: number, now: number): TakeIn {
  const { window, nextSkip, drift, state, firstWindow } = step
  const { handle, skip, startedAt: readAt } = window
  const evidence = textOf(step.evidence)
  return { handle, skip, readAt, now, walkId, progress: { nextSkip, drift, state, evidence, firstWindow } }
}

/** Takes in, or sets aside, what joins no chain. */
function setBeside(run: Run, step: WalkStep & { kind: 'keep' | 'unreadable' }): Promise<unknown> {
  if (step.kind === 'keep') return takeItems(run, step.window)
  const { writer, now } = run
  const { skip, identity, message } = step
  const item = { source: 'list', skip, taskId: null, reason: 'unreadable', message, raw: '', identity } as const
  return writer.setAsideItem(item, now())
}

/** Reports the walk's progress. */
function tell(run: Run, { kind, expected }: WalkTask, met: number, length: Length): void {
  const { requests, inFlight } = run.service.traffic()
  const total = expected?.() ?? null
  const told = total === null ? length.told() : { total, isEstimate: true }
  run.progress.set({ phase: PHASE[kind], done: met, ...told, requests, inFlight })
}

/** The walk's request, in which the size of windows follows `size`; `counted` is told what has joined. */
function requestOf(run: Run, task: WalkTask, size: WalkWindow, counted: MetCount): WalkRequest {
  const { resume, watchers = [] } = task
  const request = {
    ...task.request,
    tiesUnordered: run.facts.ties_unordered === true,
    isCounted: (total: number) => counted.uncountedOf(total) <= 0,
    joined(window: ItemsWindow, shown: OrderSeen) {
      counted.joined(window)
      for (const watcher of watchers) watcher.joined?.(window, shown)
    },
  }
  const settings: WalkSettings = {
    get window() {
      return size.window
    },
    get overlap() {
      return size.overlap
    },
    settleMs: run.config.sync.settleMs,
    maxRequests: 1_000_000,
  }
  if (resume == null) return { ...request, settings }
  return { ...request, settings, resume: { state: resume.state as WalkState, firstWindow: resume.firstWindow } }
}

/** Called once the first items are taken in: until then nothing of what answers show is kept. */
async function rememberItemBytes(run: Run): Promise<void> {
  const itemBytes = itemBytesOf(run)
  if (run.facts.item_bytes !== undefined || itemBytes === null || windowSizeOf(run).window === run.config.sync.window)
    return
  await learn(run, { item_bytes: Math.round(itemBytes) })
}

/** `result` as partial for `reason`, unless it is for another one. */
function partialBy(result: WalkResult, reason: string): WalkResult {
  return { ...result, verdict: 'partial', reason: result.reason ?? reason }
}

/** Closes the walk's row. */
export async function endWalk(run: Run, done: WalkDone, judged: WalkJudged): Promise<WalkVerdict> {
  const { walkId, met } = done
  const { drift, order, evidence } = done.result
  const { verdict, reason, learned, candidates = false } = judged
  run.log.info({ walk: walkId, verdict, reason, met, drift, order }, 'Walk ended')
  const facts = await run.writer.endWalk({
    walkId,
    verdict,
    reason,
    ordering: order,
    evidence: textOf(evidence),
    facts: learned,
    candidates,
    now: run.now(),
  })
  Object.assign(run.facts, facts)
  return { verdict, reason, drift }
}

/** What any walk teaches about the service. `isMore`: the list holds more than has been met. */
export function learnedFrom(run: Run, result: WalkResult, isMore = false): Facts {
  const learned: Facts = {}
  if (result.pageCap !== null) learned.page_cap = result.pageCap
  if (result.filtered) learned.filtered_pages = true
  if (result.reason === 'ties-unordered') learned.ties_unordered = true
  const { windows } = run.service.costs()
  // Only if the answers covered the whole list.
  if (result.total !== null && windows.items >= Math.max(1, result.total))
    learned.item_bytes = Math.round(windows.bytes / windows.items)
  // Until a walk has met the rest, the next one is to find that there is more, too.
  if (result.total !== null && result.lastId !== null && !isMore) {
    learned.total = result.total
    learned.last_id = result.lastId
  }
  if (isCreatedOrder(result.order)) {
    learned.inversion_ms = Math.max(run.facts.inversion_ms ?? 0, result.inversionMs)
  }
  return learned
}

/** What a walk teaches that began at the front, whether it came to the end or not. */
export function learnedFromFront(run: Run, { result, uncounted }: WalkDone): Facts {
  const learned = learnedFrom(run, result)
  // What came in out of this walk's sight has yet to be met: counted here, the next walks would take it for known.
  if (learned.total !== undefined && result.countable) learned.total -= Math.max(0, uncounted)
  return learned
}

/** What stood first at the end of the walk, for `frontsAfter`. */
export function frontOf({ now }: Run, { firstStartedAt }: WalkResult, ids: string[]) {
  return { ids, begunAt: firstStartedAt ?? now(), at: now() }
}

/**
 * The frontier a walk may set: the newest createdAt of its first window, and no later than its start less `settleMs`,
 * so that neither a task dated in the future nor one that appears late is left behind it. The start is by the service's
 * clock or this machine's, the earlier one: either may be wrong, and an early frontier only costs requests.
 */
export function frontierOf(result: WalkResult, newest: number | null, settleMs: number): number | null {
  const clocks = [result.firstServiceDate, result.firstStartedAt].filter((at) => at !== null)
  if (clocks.length === 0) return null
  const start = Math.min(...clocks)
  return newest === null ? start - settleMs : Math.min(newest, start - settleMs)
}
