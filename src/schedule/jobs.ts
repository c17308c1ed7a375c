// Runs jobs by their timetables. A job never overlaps itself and never waits for another; moments missed in sleep are
// made up for by one run. Waiting uses the monotonic clock; when the wall clock jumps, moments are computed anew. Knows
// nothing of what a job does; time, randomness and waiting are arguments.
import { type Clock, jumpWatch } from '../clock.ts'
import type { Log } from '../log.ts'
import type { JobFigures } from '../notify/metrics.ts'
import { passedMoments, type Timetable } from './timetable.ts'

export interface Job {
  name: string
  timetable: Timetable
  /** When it is first due, epoch ms; a past moment means at once, null never. */
  firstAt: number | null
  /** Does one run and returns its exit code. Throws nothing. */
  run(): Promise<number>
}

export interface SchedulerOptions {
  signal: AbortSignal
  /** The wall clock, epoch ms. */
  now: Clock
  /** ms. */
  monotonic: Clock
  /** 0 to 1. */
  random: () => number
  /** Resolves after `ms`, or at once when `signal` aborts. Throws nothing. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  jitterMs: number
  log: Log
}

/** Timers stop while a machine sleeps, so the clock is looked at this often. */
const LOOK_EVERY_MS = 15_000

interface ScheduledJob {
  job: Job
  figures: JobFigures & { ended: Map<number, number> }
  /** When the waiting run may begin, by the monotonic clock; null where none waits. */
  beginAt: number | null
  /** The run in progress. */
  inProgress: Promise<void> | null
}

export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #jobs: ScheduledJob[]
  readonly #jumped: () => number

  constructor(jobs: readonly Job[], options: SchedulerOptions) {
    this.#options = options
    this.#jumped = jumpWatch(options.now, options.monotonic)
    this.#jobs = jobs.map((job) => ({
      job,
      figures: { job: job.name, running: false, skipped: 0, nextAt: job.firstAt, ended: new Map() },
      beginAt: null,
      inProgress: null,
    }))
  }

  figures(): JobFigures[] {
    return this.#jobs.map(({ figures }) => ({ ...figures, ended: new Map(figures.ended) }))
  }

  /** Runs jobs until `signal` aborts, then waits for runs in progress. */
  async run(): Promise<void> {
    const { signal, now, monotonic, sleep } = this.#options
    while (!signal.aborted) {
      const at = now()
      this.#followJump(at)
      for (const entry of this.#jobs) this.#takeMoments(entry, at)
      for (const entry of this.#jobs) if (entry.beginAt !== null && entry.beginAt <= monotonic()) begin(entry)
      const woken = new AbortController()
      const paused = sleep(this.#untilNext(at), AbortSignal.any([signal, woken.signal]))
      await Promise.race([paused, ...this.#inProgress()])
      woken.abort()
    }
    await Promise.all(this.#inProgress())
  }

  /** Makes one waiting run of the moments that have passed, or counts them as skipped. */
  #takeMoments(entry: ScheduledJob, at: number): void {
    const { monotonic, random, jitterMs, log } = this.#options
    const { job, figures } = entry
    if (figures.nextAt === null || figures.nextAt > at) return
    const { count, next } = passedMoments(job.timetable, figures.nextAt, at)
    figures.nextAt = next
    const isBusy = figures.running || entry.beginAt !== null
    const skipped = isBusy ? count : count - 1
    if (!isBusy) {
      // At most a tenth of the pause: a random delay must not make a run late for the next moment.
      const most = next === null ? jitterMs : Math.min(jitterMs, (next - at) / 10)
      entry.beginAt = monotonic() + Math.floor(random() * most)
    }
    if (skipped === 0) return
    figures.skipped += skipped
    const why = isBusy ? 'its last run has not ended' : 'their time had passed; one run makes up for them'
    log.warn({ job: job.name, skipped }, `Scheduled runs are skipped: ${why}`)
  }

  #inProgress(): Promise<void>[] {
    return this.#jobs.flatMap(({ inProgress }) => inProgress ?? [])
  }

  #untilNext(at: number): number {
    const waits = this.#jobs.flatMap(({ figures, beginAt }) => [
      figures.nextAt === null ? LOOK_EVERY_MS : figures.nextAt - at,
      beginAt === null ? LOOK_EVERY_MS : beginAt - this.#options.monotonic(),
    ])
    return Math.max(0, Math.min(LOOK_EVERY_MS, ...waits))
  }

  /** After a jump backwards the next moments are too far away; after one forwards they have passed, as after sleep. */
  #followJump(at: number): void {
    const jumpMs = this.#jumped()
    if (jumpMs === 0) return
    this.#options.log.warn({ jumpMs }, 'The clock of this machine has jumped: the schedule is made anew')
    if (jumpMs < 0) for (const { job, figures } of this.#jobs) figures.nextAt = job.timetable.next(at)
  }
}

function begin(entry: ScheduledJob): void {
  const { job, figures } = entry
  entry.beginAt = null
  figures.running = true
  entry.inProgress = job.run().then((exitCode) => {
    entry.inProgress = null
    figures.running = false
    figures.ended.set(exitCode, (figures.ended.get(exitCode) ?? 0) + 1)
  })
}
