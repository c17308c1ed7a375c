// Puts `schedule` together: jobs, the thread that reads the mirror, the server. A failed run is told, but ends nothing.
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { ageOf, type Clock, steadyClock } from '../clock.ts'
import type { Config } from '../config/schema.ts'
import { type ErrorFacts, EXIT, exitCodeOf, isMirrorError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { MirrorStatus } from '../mirror/shown/status.ts'
import { describeExport, describeRun, type RunMetrics, withLastSuccess } from '../notify/fields.ts'
import { checkMonitors } from '../notify/healthcheck.ts'
import { metricsText } from '../notify/metrics.ts'
import { type NoticeContext, withNotice } from '../notify/run-notice.ts'
import { type JobProblem, statusPage, statusPolicy } from '../report/page.ts'
import type { RunContext } from '../sync/context.ts'
import { runSync } from '../sync/run.ts'
import { readToken } from './access.ts'
import { type Job, Scheduler, type SchedulerOptions } from './jobs.ts'
import { configuredExport, publish, type Surroundings } from './publishing.ts'
import { type Health, startServer } from './server.ts'
import { type StatusCache, startStatusCache } from './status-cache.ts'
import { allowedAge, makeTimetable, type Timetable } from './timetable.ts'

interface ScheduleOptions extends Omit<SchedulerOptions, 'sleep' | 'jitterMs'>, Surroundings {
  config: Config
  /** How the user has written a configuration key, for messages. */
  nameOf: (key: string) => string
  /** Context of one run of sync; made anew for each run, so that a replaced key file is read. */
  makeRunContext: (now: Clock) => Promise<RunContext>
  /** Reports what ended a run early. */
  tell: (error: unknown, facts: ErrorFacts) => void
  /** Called once everything runs; `url` is null where nothing is served. */
  onReady: (ready: { url: string | null; jobs: { name: string; nextAt: number | null }[] }) => Promise<void>
}

const LEAST_MAX_AGE_MS = 60_000

/** Runs until `signal` aborts, then lets the run in progress commit. Throws `config-invalid` before anything begins. */
export async function runSchedule(options: ScheduleOptions): Promise<void> {
  const { config, log, signal, now, monotonic, random, nameOf } = options
  const timetables = timetablesOf(options)
  checkMonitors(config.notify)
  const { hosts, tokenFile, jitterMs, listen } = config.schedule
  const { token, warning } = tokenFile === null ? { token: null, warning: null } : readToken(tokenFile)
  if (warning !== null) log.warn({}, warning)
  const { settleMs } = config.sync
  const cache = await startStatusCache({ dbPath: config.mirror.path, settleMs, now, monotonic })
  const runs = new JobRuns(options, cache)
  const sleep = (ms: number, until: AbortSignal) => delay(ms, undefined, { signal: until }).catch(() => undefined)
  const jobs = jobsOf(options, timetables, cache, runs)
  const scheduler = new Scheduler(jobs, { signal, now, monotonic, random, jitterMs, log, sleep })
  const pages = pagesOf(options, { cache, runs, scheduler, maxAge: maxAgeOf(config, timetables.sync) })
  const server =
    listen === null
      ? null
      : await startServer(listen, { hosts, token }, pages, nameOf('schedule.listen')).catch(async (error) => {
          await cache.end()
          throw error
        })
  try {
    await options.onReady({
      url: server?.url ?? null,
      jobs: scheduler.figures().map(({ job, nextAt }) => ({ name: job, nextAt })),
    })
    await scheduler.run()
  } finally {
    await server?.close()
    await cache.end()
  }
}

/** Runs all jobs, reports each run, and keeps what ended the last one of each job. */
class JobRuns {
  readonly metrics = new Map<string, RunMetrics>()
  /** By job: errors for which the mirror may have no row. */
  readonly problems = new Map<string, JobProblem>()
  readonly #options: ScheduleOptions
  readonly #cache: StatusCache

  constructor(options: ScheduleOptions, cache: StatusCache) {
    this.#options = options
    this.#cache = cache
  }

  /** The exit code. Throws nothing. */
  async run(command: string, work: (notice: NoticeContext) => Promise<number>): Promise<number> {
    const { now, monotonic, signal, tell } = this.#options
    try {
      const exitCode = await work(this.#noticeOf(steadyClock(now, monotonic)))
      this.problems.delete(command)
      return exitCode
    } catch (error) {
      if (!signal.aborted || !isMirrorError(error, 'interrupted')) tell(error, { command })
      this.problems.set(command, { job: command, at: now(), message: (error as Error).message })
      return exitCodeOf(error)
    } finally {
      await this.#cache.refresh()
    }
  }

  /** `now`: the clock of one run, so that a jump of the wall clock affects neither its waits nor its dates. */
  #noticeOf(now: Clock): NoticeContext {
    const { config, log, signal, toolVersion, inUse } = this.#options
    const onFigures = (command: string, figures: RunMetrics): void =>
      void this.metrics.set(command, withLastSuccess(figures, this.metrics.get(command)))
    return { config, log, signal, now, toolVersion, inUse, onFigures }
  }
}

function jobsOf(options: ScheduleOptions, timetables: Timetables, cache: StatusCache, runs: JobRuns): Job[] {
  const { config, log, now } = options
  /** A moment in the future does not tell when a job last ran. */
  const pastOr = (moment: number | undefined, otherwise: number): number =>
    moment === undefined ? otherwise : ageOf(moment, now(), config.sync.settleMs) === null ? 0 : moment
  const jobs: Job[] = []
  if (timetables.sync !== null) {
    const last = cache.status()?.runs.find(({ command }) => command === 'sync')
    const firstAt = firstMoment(timetables.sync, pastOr(last?.startedAt, 0), now())
    const run = () => runs.run('sync', (notice) => syncOnce(options, notice))
    jobs.push({ name: 'sync', timetable: timetables.sync, firstAt, run })
  }
  if (timetables.export !== null) {
    // The first snapshot is made when it is due, not of a mirror that has just been begun.
    const firstAt = firstMoment(timetables.export, pastOr(cache.publishedAt(), now()), now())
    const work = async (notice: NoticeContext) => {
      // Both jobs may begin together: it is no failure that the mirror does not exist yet.
      if (timetables.sync === null || existsSync(config.mirror.path)) return exportOnce(options, notice)
      log.warn({ job: 'export' }, 'There is nothing to publish yet: the first sync has not made the mirror')
      return EXIT.partial
    }
    jobs.push({ name: 'export', timetable: timetables.export, firstAt, run: () => runs.run('export', work) })
  }
  return jobs
}

interface Served {
  cache: StatusCache
  runs: JobRuns
  scheduler: Scheduler
  /** What `maxAgeOf` returns. */
  maxAge: (now: number) => number | null
}

/** What the server answers with. */
function pagesOf({ config, now, toolVersion }: ScheduleOptions, { cache, runs, scheduler, maxAge }: Served) {
  const { settleMs } = config.sync
  const { baseUrl } = config.service
  const health = () => healthOf(cache.status(), cache.ageMs(), maxAge(now()))
  return {
    health,
    metrics() {
      const [status, jobs] = [cache.status(), scheduler.figures()]
      return metricsText({ toolVersion, status, runs: runs.metrics, jobs, now: now(), settleMs })
    },
    page() {
      const problems = [...runs.problems.values()]
      const facts = { toolVersion, now: now(), health: health(), jobs: scheduler.figures(), problems, baseUrl }
      return { html: statusPage(cache.shown(), facts), policy: statusPolicy() }
    },
  }
}

interface Timetables {
  sync: Timetable | null
  export: Timetable | null
}

function timetablesOf({ config: { schedule }, nameOf }: ScheduleOptions): Timetables {
  const make = (name: 'sync' | 'export') => {
    const expression = schedule[name]
    return expression === null ? null : makeTimetable(expression, schedule.timezone, nameOf(`schedule.${name}`))
  }
  return { sync: make('sync'), export: make('export') }
}

/** Now where a moment has passed since `lastAt`, else the next moment. */
function firstMoment(timetable: Timetable, lastAt: number, now: number): number | null {
  const previous = timetable.previous(now)
  return previous !== null && previous > lastAt ? now : timetable.next(now)
}

/** Tells the age of the mirror beyond which /healthz is not well; null where nothing says what is too old. */
function maxAgeOf({ schedule }: Config, timetable: Timetable | null): (now: number) => number | null {
  const { maxAgeMs } = schedule
  if (maxAgeMs !== null || timetable === null) return () => maxAgeMs
  const allowed = allowedAge(timetable)
  return (now) => {
    const age = allowed(now)
    return age === null ? null : Math.max(LEAST_MAX_AGE_MS, age)
  }
}

export function healthOf(
  status: Pick<MirrorStatus, 'freshAt'> | null,
  ageMs: number | null,
  maxAgeMs: number | null,
): Health & { ageMs: number | null } {
  const reason =
    status === null
      ? 'There is no mirror yet, or it cannot be read.'
      : ageMs === null
        ? status.freshAt === null
          ? 'No walk has been complete yet.'
          : 'Nobody knows how old the mirror is: its last walk is dated in the future.'
        : maxAgeMs !== null && ageMs > maxAgeMs
          ? 'The mirror is older than it should be.'
          : null
  return { ok: reason === null, ageMs, reason }
}

async function syncOnce({ makeRunContext, tell, signal }: ScheduleOptions, notice: NoticeContext): Promise<number> {
  const work = async (log: Log) => {
    const context = { ...(await makeRunContext(notice.now)), log }
    return runSync(context, { command: 'sync' })
  }
  const result = await withNotice(notice, 'sync', work, describeRun)
  for (const note of result.notes) notice.log.warn({ runId: result.summary.runId }, note)
  if (result.error !== null && !signal.aborted) tell(result.error, { command: 'sync', runId: result.summary.runId })
  return result.exitCode
}

async function exportOnce({ config, env, inUse, toolVersion, signal }: ScheduleOptions, notice: NoticeContext) {
  const work = () => publish(configuredExport(config, { env, inUse, toolVersion }), signal)
  const result = await withNotice(notice, 'export', work, (done) => describeExport(done, 0))
  for (const note of [result.notRecorded, result.notRemoved, result.notLimited]) {
    if (note !== null) notice.log.warn({ snapshotId: result.snapshotId }, note)
  }
  return 0
}
