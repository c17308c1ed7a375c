// What others learn of a run: log line, metrics file, monitor. Only here; a failure of telling changes no run.
import { randomUUID } from 'node:crypto'
import type { Config } from '../config/schema.ts'
import { type ErrorFacts, exitCodeOf, fileLimitOr, isMirrorError, MirrorError, stopCodeOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { checkMonitors, monitorOf, ping } from './healthcheck.ts'
import type { RunMetrics } from './metrics.ts'

export interface NoticeContext {
  config: Pick<Config, 'notify' | 'mirror'>
  log: Log
  signal: AbortSignal
  now: () => number
  toolVersion: string
  /** Configuration and key: what the metrics file must not take the place of. */
  inUse: readonly string[]
  /** Takes the figures of every run; `schedule` keeps them for /metrics. */
  onFigures?: (command: string, figures: RunMetrics) => void
}

/** How a run ended: its exit code, and its figures under the names of `--json`. */
export interface EndedRun {
  exitCode: number
  fields: ErrorFacts
}

/** Does `work`, which logs through its argument, and tells how it ended; an error is told and thrown on. */
export async function withNotice<T>(
  context: NoticeContext,
  command: string,
  work: (log: Log) => Promise<T>,
  describe: (result: T) => EndedRun,
): Promise<T> {
  checkMonitors(context.config.notify)
  const monitor = monitorOf(command)
  const own = keepLines(context.log, context.now)
  const startedAt = context.now()
  const url = context.config.notify[monitor]
  const runId = randomUUID()
  // Not waited for: a monitor that is slow must not hold up the run.
  const started =
    url === null ? null : ping({ url, signal: 'start', runId, body: '', timeoutMs: 5000, tries: 2 }).catch(String)
  const tell = async ({ exitCode, fields }: EndedRun, error: unknown): Promise<void> => {
    const durationMs = context.now() - startedAt
    const code = stopCodeOf(context.signal) ?? exitCode
    const line = { command, exitCode: code, durationMs, ...fields }
    context.log.info(line, 'Run ended')
    const figures = figuresOf(line, context.now())
    context.onFigures?.(command, figures)
    await writeFigures(context, command, figures)
    if (url === null || started === null) return
    await started
    const body = bodyOf(own.lines, line, error)
    // After a signal only seconds are left.
    const limits = context.signal.aborted ? { timeoutMs: 1500, tries: 1 } : { timeoutMs: 5000, tries: 2 }
    const problem = await ping({ url, signal: code, runId, body, ...limits })
    if (problem !== null) context.log.warn({ command }, `notify.${monitor} could not be told: ${problem}`)
  }
  let result: T
  try {
    result = await work(own.log)
  } catch (error) {
    await tell({ exitCode: exitCodeOf(error), fields: errorFields(error) }, error)
    throw error
  }
  await tell(describe(result), null)
  return result
}

/** So many lines of a run are kept for those who are told how it ended. */
const RECENT_LINES = 50

/** A log that also keeps its last lines from level info on, oldest first, as the log itself writes them. */
function keepLines(log: Log, now: () => number): { log: Log; lines: readonly string[] } {
  const lines: string[] = []
  const keeping =
    (level: keyof Log): Log[keyof Log] =>
    (fields, message) => {
      lines.push(JSON.stringify({ level, time: new Date(now()).toISOString(), ...fields, msg: message }))
      if (lines.length > RECENT_LINES) lines.shift()
      log[level](fields, message)
    }
  const kept = { info: keeping('info'), warn: keeping('warn'), error: keeping('error') }
  return { log: { debug: log.debug, ...kept }, lines }
}

export function errorFields(error: unknown): ErrorFacts {
  const told = fileLimitOr(error)
  return { error: told instanceof MirrorError ? told.code : 'bug' }
}

const SAME_NAMES = [
  'requests',
  'retries',
  'seen',
  'inserted',
  'updated',
  'deleted',
  'restored',
  'rejected',
  'drift',
  'rows',
  'bytes',
] as const

/** The figures for Prometheus of the fields of a run. */
function figuresOf(fields: ErrorFacts, now: number): RunMetrics {
  const figures: RunMetrics = { end_timestamp_seconds: now / 1000 }
  if (typeof fields.exitCode === 'number') figures.exit_code = fields.exitCode
  if (fields.exitCode === 0) figures.success_timestamp_seconds = now / 1000
  if (typeof fields.durationMs === 'number') figures.duration_seconds = fields.durationMs / 1000
  if (typeof fields.waitedMs === 'number') figures.waited_seconds = fields.waitedMs / 1000
  for (const name of SAME_NAMES) {
    const value = fields[name]
    if (typeof value === 'number') figures[name] = value
  }
  return figures
}

async function writeFigures(
  { config, log, now, toolVersion, inUse }: NoticeContext,
  command: string,
  figures: RunMetrics,
) {
  const { metricsFile } = config.notify
  if (metricsFile === null) return
  try {
    // The library behind it is a tenth of a run that has nothing to do.
    const { writeMetricsFile } = await import('./metrics-file.ts')
    const dbPath = config.mirror.path
    await writeMetricsFile(metricsFile, { dbPath, command, figures, toolVersion, now: now(), inUse })
  } catch (error) {
    log.warn({ command }, `notify.metricsFile could not be written: ${(error as Error).message}`)
  }
}

function bodyOf(recent: readonly string[], line: ErrorFacts, error: unknown): string {
  const hint = isMirrorError(error) && error.hint !== undefined ? [error.hint] : []
  const told = error === null ? [] : [error instanceof Error ? error.message : String(error), ...hint]
  return [JSON.stringify(line), ...told, ...recent].join('\n')
}
