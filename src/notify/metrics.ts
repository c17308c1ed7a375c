// Figures in the Prometheus text format, for /metrics and notify.metricsFile. Names are a contract; times are seconds.
import { Counter, Gauge, Registry } from '@prometheus-io/client'
import { ageOf } from '../clock.ts'
import type { MirrorStatus } from '../mirror/shown/status.ts'
import { LARGE_WAL } from '../mirror/wal.ts'
import { RUN_FIGURES, type RunMetric, type RunMetrics } from './fields.ts'

const RUN_PREFIX = 'task_mirror_last_run_'

/** What `schedule` knows of one of its jobs. */
export interface JobFigures {
  job: string
  running: boolean
  skipped: number
  /** Epoch ms; null where no moment follows. */
  nextAt: number | null
  /** Runs since the start, by exit code. */
  ended: ReadonlyMap<number, number>
}

interface Metered {
  toolVersion: string
  /** null where there is no mirror, or it could not be read. */
  status: MirrorStatus | null
  /** By command. */
  runs: ReadonlyMap<string, RunMetrics>
  jobs?: readonly JobFigures[]
  /** Epoch ms. */
  now: number
  /** A moment later than now by more than this is unknown, and exported as 0. */
  settleMs?: number
}

/** The whole text, one line per sample, with HELP and TYPE. */
export function metricsText({ toolVersion, status, runs, jobs = [], now, settleMs }: Metered): Promise<string> {
  const registry = new Registry()
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  gauge('task_mirror_build_info', 'Always 1; the version is a label.', 'version').set({ version: toolVersion }, 1)
  const isKnown = (ms: number) => ageOf(ms, now, settleMs) !== null
  if (status !== null) addMirror(status, isKnown, gauge)
  for (const [figure, help] of Object.entries(RUN_FIGURES) as [RunMetric, string][]) {
    const known = [...runs].filter(([, figures]) => figures[figure] !== undefined)
    if (known.length === 0) continue
    const metric = gauge(`${RUN_PREFIX}${figure}`, help, 'command')
    for (const [command, figures] of known) {
      const value = figures[figure] as number
      metric.set({ command }, !figure.endsWith('timestamp_seconds') || isKnown(value * 1000) ? value : 0)
    }
  }
  if (jobs.length > 0) addJobs(jobs, gauge, registry)
  return registry.metrics()
}

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type MakeGauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) => Gauge<Label>

function addMirror(status: MirrorStatus, isKnown: (ms: number) => boolean, gauge: MakeGauge): void {
  const { tasks, owed, freshAt, lastFullWalk, frontier, notBefore } = status
  const byState = gauge(
    'task_mirror_tasks',
    'Tasks in the mirror; open ones are live ones, late ones (inferred, see probe) are open ones.',
    'state',
  )
  for (const state of ['live', 'open', 'deleted'] as const) byState.set({ state }, tasks[state])
  if (tasks.late !== null) byState.set({ state: 'late' }, tasks.late)
  const walHelp = `Size of the WAL; beyond 64 MiB ${LARGE_WAL}.`
  gauge('task_mirror_wal_bytes', walHelp).set(status.walBytes)
  gauge('task_mirror_set_aside_items', 'Items set aside and not taken in since.').set(tasks.setAside)
  const byReason = gauge('task_mirror_owed', 'What is still owed: details, and deletions to prove.', 'reason')
  byReason.set({ reason: 'detail' }, owed.details)
  byReason.set({ reason: 'candidate' }, owed.candidates)
  const moments = [
    ['fresh', 'The mirror shows the account as of this moment; 0 where a wrong clock has left that unknown.', freshAt],
    ['last_full_walk', 'When the last full walk ended.', lastFullWalk?.finishedAt ?? null],
    ['frontier', 'Everything created before this moment that the service lists has been met.', frontier],
    ['not_before', 'Until when the service asked to be left alone.', notBefore],
  ] as const
  for (const [name, help, ms] of moments) {
    if (ms === null) continue
    const value = name === 'not_before' || isKnown(ms) ? ms / 1000 : 0
    gauge(`task_mirror_${name}_timestamp_seconds`, help).set(value)
  }
  if (lastFullWalk !== null) {
    const help = 'Whether the last full walk proved that nothing was missed: 1 complete, 0 partial.'
    gauge('task_mirror_last_full_walk_complete', help).set(lastFullWalk.verdict === 'complete' ? 1 : 0)
  }
}

function addJobs(jobs: readonly JobFigures[], gauge: MakeGauge, registry: Registry): void {
  const running = gauge('task_mirror_schedule_running', 'Whether the job is running.', 'command')
  const next = gauge('task_mirror_schedule_next_run_timestamp_seconds', 'When the job is due next.', 'command')
  const skipped = new Counter({
    name: 'task_mirror_schedule_skipped_total',
    help: 'Moments of the schedule that passed while the job was still running, or while the machine slept.',
    labelNames: ['command'],
    registers: [registry],
  })
  const ended = new Counter({
    name: 'task_mirror_schedule_runs_total',
    help: 'Runs of the job since the scheduler started, by exit code.',
    labelNames: ['command', 'exit_code'],
    registers: [registry],
  })
  for (const figures of jobs) {
    // The label is not called `job`: Prometheus sets a label of that name itself.
    const { job: command } = figures
    running.set({ command }, figures.running ? 1 : 0)
    if (figures.nextAt !== null) next.set({ command }, figures.nextAt / 1000)
    skipped.inc({ command }, figures.skipped)
    for (const [exitCode, count] of figures.ended) ended.inc({ command, exit_code: String(exitCode) }, count)
  }
}

const RUN_SAMPLE = new RegExp(`^${RUN_PREFIX}(\\w+)\\{command="(\\w+)"\\} (\\S+)$`, 'gm')

/** Reads the figures of last runs from a text by `metricsText`, which other commands may have written. */
export function readRuns(text: string): Map<string, RunMetrics> {
  const runs = new Map<string, RunMetrics>()
  for (const [, figure = '', command = '', value] of text.matchAll(RUN_SAMPLE)) {
    if (!Object.hasOwn(RUN_FIGURES, figure) || !Number.isFinite(Number(value))) continue
    const figures = runs.get(command) ?? {}
    figures[figure as RunMetric] = Number(value)
    runs.set(command, figures)
  }
  return runs
}
