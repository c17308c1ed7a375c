// The one place that tells others of a run: log line, metrics file, monitor. A failure to tell them changes no run.
import { randomUUID } from 'node:crypto'
import { type ErrorFacts, EXIT, exitCodeOf, isMirrorError, isStop, stopCodeOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { type EndedRun, errorFields, figuresOf, type RunMetrics } from './fields.ts'
import { checkMonitors, monitorOf, ping } from './healthcheck.ts'
import type { FileContext } from './metrics-file.ts'

export interface NoticeContext extends FileContext {
  log: Log
  signal: AbortSignal
  /** Receives the figures of every run; `schedule` keeps them for /metrics. */
  onFigures?: (command: string, figures: RunMetrics) => void
}

/** Runs `work`, which logs through its argument, and tells others how it ended; errors are told and thrown on. */
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
  // Not waited for: a slow monitor must not hold up the run.
  const started = url === null ? null : ping({ url, signal: 'start', runId, body: '', timeoutMs: 5000, tries: 2 })
  const tell = async ({ exitCode, fields }: EndedRun, error: unknown): Promise<void> => {
    const durationMs = context.now() - startedAt
    const code = stopCodeOf(context.signal) || exitCode
    const line = { command, exitCode: code, durationMs, ...fields }
    context.log.info(line, 'Run ended')
    const figures = figuresOf(line, context.now())
    context.onFigures?.(command, figures)
    await writeFigures(context, command, figures)
    if (url === null) return
    await started
    const body = bodyOf(own.lines, line, error)
    // After a signal only seconds are left for the ping.
    const limits = context.signal.aborted ? { timeoutMs: 1500, tries: 1 } : { timeoutMs: 5000, tries: 2 }
    const problem = await ping({ url, signal: code, runId, body, ...limits })
    if (problem !== null) context.log.warn({ command }, `notify.${monitor} could not be told: ${problem}`)
  }
  let result: T
  try {
    result = await work(own.log)
  } catch (error) {
    // A reader of stdout that has gone (`| head`) is no failure, as for the exit code.
    if (stopCodeOf(context.signal) === EXIT.done && isStop(error, context.signal))
      await tell({ exitCode: EXIT.done, fields: {} }, null)
    else await tell({ exitCode: exitCodeOf(error), fields: errorFields(error) }, error)
    throw error
  }
  await tell(describe(result), null)
  return result
}

/** The last lines of a run, this many, are sent to those who are told how it ended. */
const RECENT_LINES = 50

/** A log that also keeps its last lines from level info up, oldest first, as the log itself writes them. */
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

async function writeFigures(context: NoticeContext, command: string, figures: RunMetrics): Promise<void> {
  const { metricsFile } = context.config.notify
  if (metricsFile === null) return
  try {
    // Loaded only here: loading the metrics library takes a tenth of a run that has nothing to do.
    const { writeMetricsFile } = await import('./metrics-file.ts')
    await writeMetricsFile(metricsFile, context, command, figures)
  } catch (error) {
    context.log.warn({ command }, `notify.metricsFile could not be written: ${(error as Error).message}`)
  }
}

function bodyOf(recent: readonly string[], line: ErrorFacts, error: unknown): string {
  const hint = isMirrorError(error) && error.hint !== undefined ? [error.hint] : []
  const told = error === null ? [] : [error instanceof Error ? error.message : String(error), ...hint]
  return [JSON.stringify(line), ...told, ...recent].join('\n')
}
