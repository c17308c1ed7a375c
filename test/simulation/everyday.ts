// `npm run worlds`: everyday services, on the simulator over real HTTP, and what a first sync, quiet runs and busy ones cost
// there; then the bars that changing lists are held to. Prints the tables of docs/reliability.md. Nothing here is timed: the
// service's clock goes on with its answers.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from '../../src/simulator/account.ts'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { differences } from '../acceptance/differences.ts'
import { makeStage, missingFrom, type Stage } from '../acceptance/stage.ts'
import { expectedTexts } from '../support/account-history.ts'

export interface World {
  name: string
  options: Partial<SimulatorOptions>
  /** Of 10,000: fewer where every task costs a request. */
  share?: number
  prepare?: (account: Account, tasks: number) => void
  /** What the service shows lets nothing be proven: `partial` is the true answer. */
  isUnprovable?: boolean
}

const DAY = 86_400_000
/** Half of the tasks came in at one moment. */
const imported = (agoMs: number) => (account: Account, tasks: number) => {
  account.insert(tasks / 2, { where: account.now() - agoMs, openShare: 0 })
}

export const WORLDS: readonly World[] = [
  { name: 'newest first', options: { order: 'created_desc' } },
  { name: 'oldest first', options: { order: 'created_asc' } },
  { name: 'by last update', options: { order: 'updated_desc' } },
  { name: 'by last update, oldest first', options: { order: 'updated_asc' } },
  { name: 'by completion, open tasks in front', options: { order: 'completed_desc' } },
  { name: 'by completion, open tasks behind', options: { order: 'completed_desc', openTasksStand: 'behind' } },
  { name: 'by completion, oldest first, open tasks in front', options: { order: 'completed_asc' } },
  {
    name: 'by completion, oldest first, open tasks behind',
    options: { order: 'completed_asc', openTasksStand: 'behind' },
  },
  { name: 'by id', options: { order: 'id_asc' } },
  { name: 'a list that is a summary (no `result.body`)', options: { listOmits: ['result.body'] }, share: 0.1 },
  { name: 'two replicas, one copies every 5 s', options: { stillMs: 5_000, stillAgain: true } },
  { name: 'a cache that heeds `no-cache`', options: { cacheMs: 60_000 } },
  { name: 'a cache that does not, and shows it', options: { cacheMs: 60_000, cacheHeeds: false }, isUnprovable: true },
  { name: 'bulk import, ten days ago', options: {}, prepare: imported(10 * DAY) },
  {
    name: 'the same, ties in another order at every read',
    options: { shuffleTies: true },
    prepare: imported(10 * DAY),
  },
  { name: 'bulk import, nothing newer yet', options: { newest: Date.now() - DAY }, prepare: imported(DAY / 24) },
  { name: '5 % of all answers are faults', options: { faultRate: 0.05 } },
]

export interface RunFigures {
  run: string
  code: number | null
  verdict: string | null
  plan: readonly string[]
  requests: number
  /** Requests of somebody who knows what is new and where it stands: windows that hold it, details that the list lacks. */
  least: number
  /** Tasks that were listed throughout the run and are not in the mirror. */
  missing: number
}

export interface WorldFigures {
  runs: RunFigures[]
  /** After a last full walk of a list at rest. */
  wrong: { missing: number; extra: number; altered: number }
}

/** The fewest windows of `window` tasks that hold `ids` of the list; `ids` that are not listed count for nothing. */
export function leastWindows(list: readonly string[], ids: ReadonlySet<string>, window: number): number {
  let windows = 0
  let end = 0
  list.forEach((id, index) => {
    if (index < end || !ids.has(id)) return
    windows += 1
    end = index + window
  })
  return windows
}

/** Plays one world: first sync, a run after changes, a quiet one, a busy one, and a full walk at rest. */
export async function play(
  { options, prepare, share = 1 }: World,
  tasks: number,
  window: number,
  env: Record<string, string> = {},
): Promise<WorldFigures> {
  const count = tasks * share
  let ahead = 0
  await using stage = await makeStage({
    tasks: prepare === undefined ? count : count / 2,
    openFraction: 0.01,
    openInserts: 0.5,
    // Waits between attempts end by the clock of this machine alone.
    ...(options.faultRate === undefined ? { stepMs: 100 } : { now: () => Date.now() + ahead }),
    ...options,
  })
  const { account } = stage.simulator
  prepare?.(account, count)
  const changed = new Set(account.ids())
  account.subscribe(({ id }) => changed.add(id))
  const letPass = (ms: number) => {
    ahead += ms
    stage.pass(ms)
  }
  let isBusy = false
  stage.simulator.onBeforeRequest(({ n }) => {
    if (isBusy && n % 2 === 0) account.insert(1)
  })
  const runs: RunFigures[] = []
  const sync = async (run: string, ...flags: string[]) => {
    const isSummary = (options.listOmits ?? []).length > 0
    // Open tasks have no result that a list could leave out.
    const details = isSummary ? [...changed].filter((id) => account.get(id)?.includes('"completedAt":')).length : 0
    const least = Math.max(1, leastWindows(account.ids(), changed, window) + details)
    changed.clear()
    const stayed = stage.listedThroughout()
    const { code, summary, asked } = await stage.runJson(['sync', ...flags], {
      TASK_MIRROR_SYNC_WINDOW: `${window}`,
      ...env,
    })
    const { verdict, plan } = summary
    runs.push({ run, code, verdict, plan, requests: asked.length, least, missing: missingFrom(stage, stayed()) })
  }
  const change = () => {
    account.insert(20)
    account.finish(10)
    if (options.order?.startsWith('updated_')) account.update(20)
    // What was changed has been so for a while when the run begins.
    letPass(120_000)
  }
  await sync('first')
  change()
  await sync('changes')
  await sync('quiet')
  change()
  isBusy = true
  await sync('busy')
  isBusy = false
  letPass(120_000)
  await sync('full', '--full')
  return { runs, wrong: await compare(stage) }
}

/** Holds an export of the mirror against the service. */
async function compare(stage: Stage): Promise<WorldFigures['wrong']> {
  const path = join(stage.dir, 'mirror.ndjson')
  const { code, stderr } = await stage.runHere(['export', '--out', path, '--no-redact', '--quiet'])
  if (code !== 0) throw new Error(`The export failed: ${stderr}`)
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  const { missing, extra, altered } = differences(expectedTexts(stage.simulator.account), lines)
  return { missing: missing.length, extra: extra.length, altered: altered.length }
}

export interface Bar {
  name: string
  /** Lists of one name that differ in this alone share a row. */
  variant?: string
  options: Partial<SimulatorOptions>
  window: number
  /** What one answer takes by the service's clock, ms. */
  answerMs: number
  /** List requests allowed to a first sync and to the run after it; `null`: no bar. */
  most: { first: number | null; second: number | null }
  /** Between the runs. */
  life?: (account: Account) => void
  /**
   * Runs before the one that is measured, each after a `life` of its own: an order is learned in the first, and open tasks are
   * asked for by id for the first time in the second. Then details count, too.
   */
  learning?: number
  /** Between the runs, by the service's clock, ms. */
  pauseMs?: number
  /** More requests are allowed where the end is told with its reason. */
  mayEnd?: boolean
}

const growing = { tasks: 3_500, order: 'created_asc', openFraction: 0, openInserts: 0 } as const
const paces: Record<string, Partial<SimulatorOptions>> = {
  'an insert with every request': { insertsPerRequest: 1, where: 'behind' },
  '10 inserts/s': { insertsPerSecond: 10 },
}
const clocks: Record<string, Partial<SimulatorOptions>> = {
  right: {},
  '5 min fast': { clockSkewMs: 300_000 },
  '5 min slow': { clockSkewMs: -300_000 },
  'no `Date`': { dateHeader: false },
}
const uneven: Record<string, Partial<SimulatorOptions>> = {
  'ten answers cut to 30 %': { cutTo: 0.3, cutFrom: 4, cutFor: 10 },
  'a replica still for 90 s': { stillFrom: 3, stillMs: 90_000 },
}
const touched = (account: Account) => {
  account.update(30)
  account.finish(10)
  account.insert(10)
}
const completed = (account: Account) => {
  account.finish(30)
  account.insert(20)
}

export const BARS: readonly Bar[] = [
  ...(['updated_desc', 'completed_desc'] as const).map((order) => ({
    name: `${order === 'updated_desc' ? 'by last update' : 'by completion'}, 100,000 tasks, 50 touched`,
    options: { tasks: 100_000, order },
    window: 1_000,
    answerMs: 0,
    most: { first: null, second: 5 },
    life: order === 'updated_desc' ? touched : completed,
    learning: 2,
    // What stood in front has settled by the next run.
    pauseMs: 60_000,
  })),
  ...Object.keys(paces).flatMap((pace) =>
    Object.keys(clocks).map((variant) => ({
      name: `oldest first, ${pace}, clock`,
      variant,
      options: { ...growing, ...paces[pace], ...clocks[variant] },
      window: 1_000,
      answerMs: 100,
      most: { first: 4 + 12, second: 1 + 12 },
    })),
  ),
  ...Object.keys(uneven).flatMap((world) =>
    (['created_desc', 'created_asc'] as const).flatMap((order) =>
      [0, 1, 10].map((insertsPerSecond) => ({
        name: `${order === 'created_desc' ? 'newest' : 'oldest'} first, ${world}, inserts/s`,
        variant: `${insertsPerSecond}`,
        options: { ...growing, tasks: 4_250, order, insertsPerSecond, ...uneven[world] },
        window: 500,
        answerMs: 1_000,
        most: { first: 3 * 9 + 20, second: null },
        // What the standing server does not show is no task that was listed throughout.
        pauseMs: 90_000,
        mayEnd: true,
      })),
    ),
  ),
]

export interface BarFigures {
  code: number | null
  verdict: string | null
  /** Why a full walk was partial. */
  reason: string | null
  plan: readonly string[]
  lists: number
  details: number
  missing: number
}

/** The first sync and the measured run after it. One request at a time: what is read ahead beyond the end would come on top. */
export async function measure({
  options,
  window,
  answerMs,
  life,
  learning = 0,
  pauseMs = 0,
}: Bar): Promise<BarFigures[]> {
  await using stage = await makeStage({ stepMs: answerMs, ...options })
  const env = { TASK_MIRROR_SYNC_WINDOW: `${window}`, TASK_MIRROR_SERVICE_CONCURRENCY: '1' }
  const figures: BarFigures[] = []
  for (let run = 0; run < 2 + learning; run += 1) {
    if (run > 0) {
      stage.pass(pauseMs)
      life?.(stage.simulator.account)
    }
    const stayed = stage.listedThroughout()
    const { code, summary, asked } = await stage.runJson(['sync'], env)
    const lists = asked.filter(({ operation }) => operation === 'list').length
    const missing = missingFrom(stage, stayed())
    const { verdict, plan } = summary
    const reason = plan.includes('full') ? (summary.lastFullWalk?.reason ?? null) : null
    figures.push({ code, verdict, reason, plan, lists, details: asked.length - lists, missing })
  }
  return [figures[0]!, figures.at(-1)!]
}

/** Whether a bar is met: nothing missing, a true exit code, and no more list requests than allowed. */
export function meets({ most, mayEnd = false, learning = 0 }: Bar, [first, second]: readonly BarFigures[]): boolean {
  return [
    { run: first!, most: most.first },
    { run: second!, most: most.second },
  ].every(({ run, most }) => {
    if (run.missing > 0 || run.code !== (run.verdict === 'complete' ? 0 : 3)) return false
    if (run.verdict !== 'complete') return mayEnd && run.reason !== null
    return most === null || run.lists + (learning > 0 ? run.details : 0) <= most
  })
}

const table = (rows: readonly (readonly string[])[]) =>
  rows
    .map((cells) => `| ${cells.join(' | ')} |`)
    .toSpliced(1, 0, `|${'---|'.repeat(rows[0]!.length)}`)
    .join('\n')

async function main(): Promise<void> {
  const only = process.argv[2] ?? ''
  const isPlain = ({ code, verdict }: Pick<RunFigures, 'code' | 'verdict'>) => code === 0 && verdict === 'complete'
  const runText = (run: RunFigures) =>
    `${isPlain(run) ? '' : `${run.verdict} ${run.code}, `}${run.requests}/${run.least}`
  const worlds = [['world', 'first sync', 'after changes', 'quiet', 'busy', '`--full`']]
  for (const world of WORLDS.filter(({ name }) => name.includes(only))) {
    const { runs, wrong } = await play(world, 10_000, 1_000)
    const missing = runs.reduce((sum, run) => sum + run.missing, 0)
    const wrongs = missing + wrong.missing + wrong.extra + wrong.altered
    worlds.push([`${world.name}${wrongs > 0 ? ` (**${wrongs} wrong**)` : ''}`, ...runs.map(runText)])
    console.error(worlds.at(-1)!.join(' | '))
  }
  console.log(`${table(worlds)}\n`)
  const bars: { name: string; cells: string[] }[] = []
  const barText = (run: BarFigures) => {
    const end = isPlain(run) ? '' : `${run.verdict} ${run.code}${run.reason === null ? '' : ` (\`${run.reason}\`)`}, `
    return `${end}${run.lists}+${run.details}`
  }
  for (const bar of BARS.filter(({ name }) => name.includes(only))) {
    const figures = await measure(bar)
    const most = [bar.most.first, bar.most.second].map((count) => count ?? '-').join('/')
    const cells = [...figures.map(barText), `${most}${meets(bar, figures) ? '' : ' (**not met**)'}`]
    console.error([bar.name, bar.variant ?? '', ...cells].join(' | '))
    bars.push({ name: bar.name, cells: [bar.variant ?? '', ...cells] })
  }
  const rows = [...Map.groupBy(bars, ({ name }) => name)].map(([name, same]) => {
    const [variant, ...cells] = same[0]!.cells.map((first, n) => {
      const all = same.map((bar) => bar.cells[n]!)
      return all.every((cell) => cell === first) ? first : all.join('; ')
    })
    return [`${name}${variant === '' ? '' : `: ${variant}`}`, ...cells]
  })
  console.log(table([['list', 'first sync', 'measured run', 'bar'], ...rows]))
}

if (import.meta.main) await main()
