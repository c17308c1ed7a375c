// One simulated story as plain data, made from one integer: the account, its life, the service's moods, the runs.
// Knows nothing of how it is played.
import type { Carries, ListOrderName, NotFoundStyle } from '../../src/simulator/options.ts'
import { type Random, seeded } from '../../src/simulator/random.ts'
import type { SyncRequest } from '../../src/sync/plan.ts'
import { anyOddity, type Oddity } from './oddities.ts'

export interface AccountPlan {
  order: ListOrderName
  tasks: number
  spanDays: number
  tieGroup: number
  shuffleTies: boolean
  openFraction: number
  listCarries: Carries
  listOmits?: string[]
  listBodyBytes?: number
  listLongBodies?: 'cut' | 'omit' | 'mark'
  resultAfterReads?: number
  detailLag?: number
  capItems: number
  capBytes: number
  shortBy: number
  hiddenFraction: number
  takeLimit: number
  pastEnd: 'empty' | '400' | '404'
  repeatLast: boolean
  wrap: boolean
  ignoreSkip: boolean
  pageOfOne: boolean
  skipLimit: number
  /** Absent in stories kept from before there was a choice. */
  stampJitterMs?: number
  openTasksStand?: 'front' | 'behind'
}

/** What may happen to tasks while nobody looks. */
export type ChangeKind = 'insert' | 'remove' | 'delist' | 'restore' | 'finish' | 'update' | 'move'
/** Where an insert goes; `tie` shares the createdAt of a task that is listed. */
export type Place = 'now' | 'front' | 'middle' | 'behind' | 'late' | 'future' | 'past' | 'tie'

export interface RunPlan {
  /** How long nothing happened before, ms. */
  jumpMs: number
  /** Changes between the run before and this one. */
  changes: number
  request: SyncRequest & { details?: 'always' | 'never' }
  /** The run dies before or after its call number `at` to the writer, or in its statement number `at`. */
  kill: { at: number; how: 'before' | 'after' | 'within' } | null
}

export interface Scenario {
  seed: number
  account: AccountPlan
  /** How many tasks of the start break every window they are in. */
  poisoned: number
  notFound: NotFoundStyle
  window: number
  overlap: number
  concurrency: number
  settleMs: number
  dateHeader: boolean
  /** How far the service's clock is ahead, ms; 0 where it does not tell the time. */
  skewMs: number
  /** Time between two answers at most, ms. */
  latencyMs: number
  /** Chance of a change before every request. */
  changes: number
  changeKinds: ChangeKind[]
  places: Place[]
  /** How late a late task may be, ms. */
  lateMs: number
  /** Chance that a request keeps failing, or is refused for no reason; and that the service is gone for this run. */
  failures: { list: number; refusedList: number; get: number; unreachable: number }
  /** Chance that an answer of the list holds nothing, whatever there is; none where absent. */
  blankShare?: number
  /** From some request of a run on, every id is answered as if it were unknown. */
  outages: boolean
  /** For so many requests; for the rest of the run where absent. */
  outageLength?: number
  /** Of two servers that look ids up by turns, one knows none. */
  isHalfBlind?: boolean
  /** The run, from 1, in which another account with the same ids answers; none where absent. */
  takeover?: number
  /** What is odd about the service beyond the account's own quirks; none where absent. */
  oddity?: Oddity
  /** Another one beside it. */
  secondOddity?: Oddity
  runs: RunPlan[]
}

export function odditiesOf({ oddity, secondOddity }: Scenario): Oddity[] {
  return [oddity, secondOddity].filter((each) => each !== undefined)
}

/** The service's clock when a story begins, epoch ms. */
export const START = Date.UTC(2026, 10, 20)

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export const PLAIN: AccountPlan = {
  order: 'created_desc',
  tasks: 20,
  spanDays: 1,
  tieGroup: 1,
  shuffleTies: false,
  openFraction: 0,
  listCarries: 'whole',
  capItems: 0,
  capBytes: 0,
  shortBy: 0,
  hiddenFraction: 0,
  takeLimit: 1000,
  pastEnd: 'empty',
  repeatLast: false,
  wrap: false,
  ignoreSkip: false,
  pageOfOne: false,
  skipLimit: 0,
}

/** Nothing but twenty tasks that stand still. */
export const CALM: Omit<Scenario, 'seed' | 'account' | 'runs'> = {
  poisoned: 0,
  notFound: '404',
  window: 5,
  overlap: 1,
  concurrency: 1,
  settleMs: MINUTE,
  dateHeader: true,
  skewMs: 0,
  latencyMs: 2_000,
  changes: 0,
  changeKinds: ['insert', 'remove'],
  places: ['now'],
  lateMs: MINUTE,
  failures: { list: 0, refusedList: 0, get: 0, unreachable: 0 },
  outages: false,
}

export function scenarioOf(seed: number): Scenario {
  const random = seeded(seed, 0x51e0)
  const window = 2 + random.int(11)
  const mood = random.pick(['calm', 'calm', 'calm', 'busy', 'busy', 'stormy'] as const)
  const account = accountOf(random, seeded(seed, 0x50e7), window)
  const changes =
    mood === 'calm'
      ? random.pick([0, 0, 0.02])
      : mood === 'busy'
        ? random.pick([0.05, 0.1, 0.2])
        : random.pick([0.3, 0.5, 1])
  const hasDate = random.chance(0.7)
  const shaky = mood === 'stormy' || random.chance(0.15)
  const settleMs = random.pick([0, MINUTE, MINUTE, MINUTE, HOUR])
  return withMore({
    seed,
    account: { ...account, ...summaryPlanOf(seeded(seed, 0x5a11)) },
    poisoned: random.chance(0.04) ? 1 + random.int(4) : 0,
    notFound: random.pick(['404', '404', '404', '400', 'item-null', 'item-absent', 'envelope-404']),
    window,
    overlap: 1 + random.int(4),
    concurrency: random.pick([1, 1, 2, 4]),
    settleMs,
    dateHeader: hasDate,
    skewMs: hasDate && random.chance(0.3) ? random.pick([-1, 1]) * random.int(HOUR) : 0,
    latencyMs: random.pick([0, 50, 2_000, 2_000, 20_000]),
    changes,
    changeKinds: changeKindsOf(random, account.order),
    places: placesOf(random, account.order),
    lateMs: random.pick([settleMs, settleMs, 3 * settleMs + 1]) + 1,
    failures: {
      list: shaky ? random.pick([0, 0.02, 0.1]) : 0,
      refusedList: shaky ? random.pick([0, 0, 0.02]) : 0,
      get: shaky ? random.pick([0, 0.1]) : 0,
      unreachable: shaky ? random.pick([0, 0.01]) : 0,
    },
    outages: shaky && random.chance(0.5),
    runs: Array.from({ length: 1 + random.int(4) }, (_, index) => runOf(random, index)),
  })
}

/** `scenario` with what came to the stories later: drawn by itself, so that older seeds stay what they were. */
function withMore(scenario: Scenario): Scenario {
  const { seed, failures, outages, runs } = scenario
  const random = seeded(seed, 0x1550e12)
  const more: Partial<Scenario> = {}
  const isSteady = !outages && Object.values(failures).every((chance) => chance === 0)
  if (isSteady && runs.length > 1 && random.chance(0.15)) more.takeover = 2 + random.int(runs.length - 1)
  if (isSteady && random.chance(0.15)) {
    more.outages = true
    more.outageLength = 1 + random.int(40)
  } else if (isSteady && random.chance(0.1)) more.isHalfBlind = true
  if (more.outages === true || more.isHalfBlind === true) delete more.takeover
  return { ...scenario, ...more }
}

/** A story of a list in order of the last update, in which tasks are updated all the time. */
export function restlessScenarioOf(seed: number): Scenario {
  const scenario = scenarioOf(seed)
  return { ...scenario, account: { ...scenario.account, order: 'updated_desc' }, changeKinds: ['update'], changes: 0.4 }
}

/** A story of a list in which few tasks have a createdAt of their own, and those of one come in another order each time. */
export function tiedScenarioOf(seed: number): Scenario {
  const scenario = scenarioOf(seed)
  const { hiddenFraction, ignoreSkip, wrap, pageOfOne, skipLimit, repeatLast, capBytes } = PLAIN
  const plain = { hiddenFraction, ignoreSkip, wrap, pageOfOne, skipLimit, repeatLast, capBytes }
  const account = { ...scenario.account, ...plain, order: 'created_desc' as const, tieGroup: 12, shuffleTies: true }
  return { ...scenario, account: { ...account, tasks: 60 }, window: 6, overlap: 2, changes: 0.2 }
}

/** A story of a list by last update or completion with the oldest first: what is written to goes behind all others. */
export function ascendingScenarioOf(seed: number): Scenario {
  const scenario = scenarioOf(seed)
  const random = seeded(seed, 0xa5c)
  const order = random.pick(['updated_asc', 'completed_asc', 'completed_asc'] as const)
  const openTasksStand = random.pick(['front', 'behind'] as const)
  const openFraction = random.pick([0, 0, 0.1])
  const places = scenario.places.filter((place) => place !== 'front' && place !== 'future')
  return {
    ...scenario,
    account: { ...scenario.account, order, openTasksStand, openFraction },
    places: places.length === 0 ? ['now'] : places,
    changeKinds: [...scenario.changeKinds.filter((kind) => kind !== 'move'), 'insert', 'finish'],
  }
}

/** A story with an odd service. */
export function oddScenarioOf(seed: number): Scenario {
  const random = seeded(seed, 0x0dd)
  const { takeover: _, ...scenario } = scenarioOf(seed)
  const { order } = scenario.account
  const account: AccountPlan = {
    ...scenario.account,
    order: order === 'shuffled' ? random.pick(['updated_desc', 'insertion']) : order,
    shuffleTies: false,
    listCarries: 'whole',
    hiddenFraction: 0,
  }
  const failures = random.chance(0.05) ? { ...scenario.failures, list: 0.5 } : scenario.failures
  const oddity = anyOddity(random, scenario.window)
  // One of the two clocks has to be right.
  const skewMs = oddity.kind === 'date-jumps' ? 0 : scenario.skewMs
  return { ...scenario, account, failures, poisoned: 0, skewMs, oddity }
}

/** A story with a service that answers with nothing now and then. */
export function blankScenarioOf(seed: number): Scenario {
  return { ...scenarioOf(seed), blankShare: seeded(seed, 0xb1a).pick([0.005, 0.02]) }
}

/** A story of a list that shows less than details do, in which some runs ask for no details. */
export function sparingScenarioOf(seed: number): Scenario {
  const scenario = scenarioOf(seed)
  const random = seeded(seed, 0x5ba)
  const runs = scenario.runs.map(
    (run): RunPlan => (random.chance(0.5) ? { ...run, request: { ...run.request, details: 'never' } } : run),
  )
  return { ...scenario, account: { ...scenario.account, ...summaryPlanOf(random, 1) }, runs }
}

/** A story of a service that refuses windows with too many bytes: of what is small a few fit into one, of the rest none. */
export function sizedScenarioOf(seed: number): Scenario {
  const { takeover: _, account, ...scenario } = scenarioOf(seed)
  const bytes = seeded(seed, 0x512).pick([700, 900, 1_400, 2_100, 4_000])
  return { ...scenario, oddity: { kind: 'refused-size', bytes }, account: { ...account, capBytes: 0 } }
}

/** A story of a list that shows tasks in a sequence that depends on the window, and is still most of the time. */
export function unsortedScenarioOf(seed: number): Scenario {
  const { takeover: _, account, ...scenario } = scenarioOf(seed)
  const random = seeded(seed, 0x5047)
  const { ignoreSkip, wrap, pageOfOne, skipLimit } = PLAIN
  const tasks = account.tasks + random.int(80)
  const oddity: Oddity = random.chance(0.5)
    ? { kind: 'other-order-from', skip: 1 + random.int(tasks + 1) }
    : { kind: 'sorted-by-window', spanMs: random.pick([1_000, MINUTE, HOUR, DAY, 1_000 * DAY]) }
  return {
    ...scenario,
    ...{ oddity, poisoned: 0, changes: random.chance(0.7) ? 0 : scenario.changes },
    account: { ...account, tasks, ignoreSkip, wrap, pageOfOne, skipLimit },
  }
}

/** A story of a list that stands still and cuts its answers by size, in which the first run is killed within a statement. */
export function cutOffScenarioOf(seed: number): Scenario {
  const { takeover: _, runs, ...scenario } = scenarioOf(seed)
  const { hiddenFraction, ignoreSkip, wrap, pageOfOne, skipLimit, repeatLast } = PLAIN
  const plain = { hiddenFraction, ignoreSkip, wrap, pageOfOne, skipLimit, repeatLast }
  const request: SyncRequest = { command: 'sync' }
  return {
    ...{ ...scenario, changes: 0, poisoned: 0 },
    account: { ...scenario.account, ...plain, order: 'created_desc', capBytes: 2_800, tasks: 40 },
    runs: [
      { ...(runs[0] as RunPlan), request, kill: { at: 2 + (seed % 60), how: 'within' } },
      { jumpMs: 1000, changes: 0, request, kill: null },
    ],
  }
}

/** A story with a service that is odd in two ways at once. */
export function twiceOddScenarioOf(seed: number): Scenario {
  const scenario = oddScenarioOf(seed)
  const random = seeded(seed, 0x0dd2)
  let secondOddity = anyOddity(random, scenario.window)
  while (secondOddity.kind === scenario.oddity?.kind) secondOddity = anyOddity(random, scenario.window)
  const skewMs = secondOddity.kind === 'date-jumps' ? 0 : scenario.skewMs
  return { ...scenario, skewMs, secondOddity }
}

/** Drawn by itself, so that the other stories stay what they were. */
function sortingOf(random: Random): Partial<AccountPlan> {
  const kind = random.int(10)
  if (kind === 0) return { order: 'completed_desc', openTasksStand: random.pick(['front', 'behind']) }
  // What shares a moment and is stamped apart would stand in no order that anybody can see.
  return kind === 1 ? { stampJitterMs: random.pick([300, 5_000]), shuffleTies: false } : {}
}

function accountOf(random: Random, sorting: Random, window: number): AccountPlan {
  const order = random.pick([
    ...Array<ListOrderName>(8).fill('created_desc'),
    ...Array<ListOrderName>(5).fill('created_asc'),
    ...(['updated_desc', 'updated_desc', 'insertion', 'insertion', 'id_asc', 'id_desc', 'shuffled'] as const),
  ])
  const plan: AccountPlan = {
    ...PLAIN,
    order,
    tasks: random.pick([0, 1, random.int(6), random.int(20), random.int(20), random.int(80), random.int(80)]),
    spanDays: random.pick([0.001, 0.02, 1, 30]),
    tieGroup: random.pick([1, 1, 1, 2, 3, 1 + random.int(window + 4)]),
    shuffleTies: random.chance(0.5),
    openFraction: random.pick([0, 0.1, 0.5]),
    listCarries: random.pick(['whole', 'whole', 'whole', 'whole', 'noResult', 'noData', 'bare']),
    pastEnd: random.pick(['empty', 'empty', 'empty', '400', '404']),
  }
  Object.assign(plan, sortingOf(sorting))
  if (!random.chance(0.4)) return plan
  const quirk = random.int(10)
  if (quirk <= 1) plan.capItems = 1 + random.int(window)
  else if (quirk <= 3) plan.capBytes = 700 * (1 + random.int(window))
  else if (quirk === 4) plan.shortBy = 1 + random.int(3)
  else if (quirk === 5) plan.takeLimit = 1 + random.int(window)
  else if (quirk === 6) plan.hiddenFraction = random.pick([0.05, 0.2])
  else if (quirk === 7) plan.repeatLast = true
  else if (quirk === 8) plan.skipLimit = 1 + random.int(100)
  else {
    const odd = random.int(3)
    plan.ignoreSkip = odd === 0
    plan.wrap = odd === 1
    plan.pageOfOne = odd === 2
  }
  return plan
}

/** A list that shows less than details do, or details that lag behind it; mostly neither. */
function summaryPlanOf(random: Random, share = 0.2): Partial<AccountPlan> {
  if (!random.chance(share)) return {}
  return random.pick<Partial<AccountPlan>>([
    { listOmits: ['result.body'] },
    { listOmits: ['result.header', 'data.body'] },
    { listOmits: ['data.header.content-type', 'accuracy'] },
    { listBodyBytes: 60, listLongBodies: 'cut' },
    { listBodyBytes: 60, listLongBodies: 'mark' },
    { resultAfterReads: 1 + random.int(3) },
    { detailLag: 1 + random.int(20) },
  ])
}

function changeKindsOf(random: Random, order: ListOrderName): ChangeKind[] {
  const kinds: ChangeKind[] = ['insert', 'insert', 'remove', 'remove', 'finish', 'update', 'delist', 'restore', 'move']
  const some = kinds.filter((kind) => random.chance(0.6) && (kind !== 'move' || order === 'updated_desc'))
  return some.length === 0 ? ['insert', 'remove'] : some
}

function placesOf(random: Random, order: ListOrderName): Place[] {
  const places: Place[] = ['now', 'front', 'middle', 'behind', 'late', 'future', 'past', 'tie']
  // Behind completions that lie in the future a task that is finished now moves unseen (docs/reliability.md).
  const unseen: readonly Place[] = order === 'completed_desc' ? ['front', 'future'] : []
  const some = places.filter((place) => random.chance(0.4) && !unseen.includes(place))
  return some.length === 0 ? ['now'] : some
}

function runOf(random: Random, index: number): RunPlan {
  const jumpMs = random.pick([1_000, MINUTE, 10 * MINUTE, HOUR, 2 * HOUR, DAY, 3 * DAY, 10 * DAY])
  const dies = random.chance(0.3)
  return {
    jumpMs: index === 0 ? 0 : Math.floor(jumpMs * (0.5 + random.next())),
    changes: index === 0 ? 0 : random.pick([0, 1, 3, 10, 20]),
    request: requestOf(random),
    kill: dies
      ? { at: 1 + Math.floor(120 * random.next() ** 2), how: random.pick(['before', 'after', 'within', 'within']) }
      : null,
  }
}

function requestOf(random: Random): RunPlan['request'] {
  const kind = random.int(14)
  if (kind === 0) return { command: 'sync', details: 'always' }
  if (kind === 1) return { command: 'backfill' }
  if (kind === 2) return { command: 'sync', allowMassDelete: true }
  if (kind <= 4) return { command: 'sync', full: true }
  if (kind === 5) return { command: 'backfill', ...rangeOf(random) }
  return { command: 'sync' }
}

function rangeOf(random: Random): Pick<SyncRequest, 'since' | 'until'> {
  const since = START - random.int(2 * DAY)
  const until = since + random.int(2 * DAY)
  return random.pick([{ since }, { until }, { since, until }])
}

/** How many items an answer holds at most. */
export function answerSize({ account, window }: Scenario): number {
  const { takeLimit, capItems, capBytes, shortBy, pageOfOne } = account
  if (pageOfOne) return 1
  // A task is about 700 bytes; a longer one may come alone.
  const heavy = capBytes > 0 && capBytes < 4_000 ? 1 : window
  const held = Math.min(window, takeLimit, heavy, capItems === 0 ? window : capItems)
  return shortBy > 0 ? Math.max(1, held - shortBy) : held
}

/**
 * So many answers to a run of equal createdAt are more than a walk counts again and again; one item of each is there to join it. Of 250
 * lists with two shuffled runs, read two items at a time, one was partial where the runs had 15 items, and none where they had 12.
 */
const LONG_RUN = 12

function longestRun(moments: readonly number[]): number {
  let [longest, length] = [0, 0]
  moments.forEach((moment, index) => {
    length = moment === moments[index - 1] ? length + 1 : 1
    longest = Math.max(longest, length)
  })
  return longest
}

/**
 * Whether a walk can be `complete` at all while nothing happens; the other services can at best be read. `moments` are
 * the createdAt of the list, in its order.
 */
export function isProvable(scenario: Scenario, moments: number[]): boolean {
  const { order, ignoreSkip, wrap, skipLimit, hiddenFraction, repeatLast, shuffleTies, shortBy, pastEnd } =
    scenario.account
  if (order === 'shuffled' || ignoreSkip || wrap || skipLimit > 0 || hiddenFraction > 0) return false
  if (scenario.poisoned > 0) return false
  if (scenario.oddity !== undefined && scenario.oddity.kind !== 'refused-size') return false
  // Where no answer shows an item beside another, only its place tells it from its ties, and the end from a list that begins anew, or from a refusal.
  const isEndHidden = repeatLast || (shortBy > 0 && pastEnd !== 'empty')
  if (scenario.oddity !== undefined && (shuffleTies || isEndHidden)) return false
  const size = answerSize(scenario)
  if (size < 2 && moments.length > 0) return false
  // Its last window again and again: with one page it looks as if skip were ignored, with shuffled ties as if it moved.
  if (repeatLast && (moments.length <= scenario.window || shuffleTies)) return false
  // Each time it is counted a shuffled run shows about two thirds of itself: in so many small answers all of it only by luck.
  if (shuffleTies && longestRun(moments) > LONG_RUN * (size - 1)) return false
  // Neighbours of the first window are never found again where a shuffled tie run reaches out of it.
  return !shuffleTies || moments.length <= size || moments[size - 1] !== moments[size]
}
