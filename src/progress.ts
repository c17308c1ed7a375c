// How far a run is: a calm line on a terminal, otherwise a log line now and then. Knows nothing of what is counted.
import prettyMilliseconds from 'pretty-ms'
import type { Log } from './log.ts'
import { countText, grouped } from './shown.ts'
import type { StatusLine } from './terminal.ts'

export interface ProgressUpdate {
  /** What is being done, such as "full walk". A new phase restarts the rate. */
  phase?: string
  done?: number
  /** null where it is not known. */
  total?: number | null
  /** Whether `total` is approximate. */
  isEstimate?: boolean
  requests?: number
  inFlight?: number
  /** Until when no request is sent, epoch ms; null where nothing is waited for. */
  waitingUntil?: number | null
  /** What failed and will be tried again; null where the service asked for the wait. */
  waitingFor?: string | null
}

export interface Progress {
  set(facts: ProgressUpdate): void
  /** Prints the progress at once, even where progress is off. */
  print(): void
  /** Removes the line; nothing is shown until the next `set`. */
  finish(): void
}

interface ProgressState extends ProgressUpdate {
  /** Items per second since the phase began; null until it is known. */
  rate: number | null
}

const REDRAW_EVERY_MS = 200
const LOG_EVERY_MS = 10_000

/** One line of at most `columns - 1` characters: "full walk 12,000 of 50,000 · 3,400/s · 12s left · 14 requests". */
export function formatProgress(state: ProgressState, now: number, columns: number): string {
  const parts: string[] = []
  const done = state.done === undefined ? '' : ` ${grouped(state.done)}`
  const known = totalOf(state)
  const total = known === null ? '' : ` of ${state.isEstimate ? '~' : ''}${grouped(known)}`
  parts.push(`${state.phase ?? 'beginning'}${done}${done === '' ? '' : total}`)
  if (state.waitingUntil != null && state.waitingUntil > now) {
    const wait = roughly(state.waitingUntil - now)
    parts.push(
      state.waitingFor == null
        ? `waiting ${wait} as the service asked`
        : `trying again in ${wait}: ${state.waitingFor}`,
    )
  } else if (state.rate !== null && state.rate > 0) {
    parts.push(`${grouped(Math.round(state.rate))}/s`)
    const left = known === null ? 0 : known - (state.done ?? 0)
    if (left > 0) parts.push(`${roughly((left / state.rate) * 1000)} left`)
  }
  if (state.requests !== undefined) parts.push(countText(state.requests, 'request'))
  if (state.inFlight !== undefined && state.inFlight > 0) parts.push(`${state.inFlight} in flight`)
  // Drops whole parts, because a cut number would be wrong. "... left" is kept longer than the rate.
  const isTold = parts.some((part) => part.endsWith(' left'))
  while (parts.length > 1 && parts.join(' · ').length > columns - 1)
    parts.splice(isTold && parts.length === 3 ? 1 : -1, 1)
  return parts.join(' · ').slice(0, Math.max(0, columns - 1))
}

/** A total that has been passed counts as unknown. */
function totalOf({ total, done }: ProgressUpdate): number | null {
  return total == null || (done ?? 0) > total ? null : total
}

interface ProgressOptions {
  /** A terminal's status line; null for log lines. */
  line: StatusLine | null
  columns: () => number
  log: Log
  /** Whether progress is shown without being asked for. */
  shown: boolean
  now: () => number
}

export function createProgress({ line, columns, log, shown, now }: ProgressOptions): Progress {
  let facts: ProgressUpdate = {}
  let began = { at: now(), done: 0 }
  let last = now()
  let timer: NodeJS.Timeout | null = null

  const state = (): ProgressState => {
    const elapsed = now() - began.at
    const gained = (facts.done ?? 0) - began.done
    return { ...facts, rate: elapsed < 500 || gained <= 0 ? null : (gained / elapsed) * 1000 }
  }
  const show = () => {
    last = now()
    if (line !== null) line.show(formatProgress(state(), last, columns()))
    else logLine()
  }
  const logLine = (level: 'info' | 'warn' = 'info') => {
    const { phase, done, isEstimate, requests, inFlight, rate, waitingUntil, waitingFor } = state()
    const perSecond = rate === null ? null : Math.round(rate)
    const total = totalOf(facts)
    const left = total === null || rate === null ? undefined : Math.round((total - (done ?? 0)) / rate)
    const estimated = total !== null && isEstimate ? true : undefined
    const waits = waitingUntil != null && waitingUntil > now()
    const waiting = waits ? { waitMs: waitingUntil - now(), waitingFor: waitingFor ?? 'Retry-After' } : {}
    log[level](
      { done, total, estimated, requests, inFlight, perSecond, secondsLeft: left, ...waiting },
      `Progress: ${phase ?? 'beginning'}`,
    )
  }

  return {
    set(change) {
      if (change.phase !== undefined && change.phase !== facts.phase) {
        facts = { requests: facts.requests }
        began = { at: now(), done: change.done ?? 0 }
      }
      facts = { ...facts, ...change }
      if (!shown) return
      if (timer === null) {
        // Runs even while nothing is reported, so that a wait is seen to go on; never keeps the process alive.
        timer = setInterval(show, line === null ? LOG_EVERY_MS : 1000).unref()
      }
      // The timer alone writes log lines: another one here would repeat it.
      if (line !== null && now() - last >= REDRAW_EVERY_MS) show()
    },
    print() {
      // Progress that was asked for is shown with --quiet too.
      if (line === null) logLine('warn')
      else line.write(`${formatProgress(state(), now(), columns())}\n`)
    },
    finish() {
      if (timer !== null) clearInterval(timer)
      timer = null
      facts = {}
      line?.clear()
    },
  }
}

function roughly(ms: number): string {
  return prettyMilliseconds(Math.max(1000, Math.ceil(ms / 1000) * 1000), { unitCount: 2 })
}
