import { afterEach, expect, test, vi } from 'vitest'
import type { ErrorFacts } from '../src/errors.ts'
import type { Log } from '../src/log.ts'
import { createProgress, formatProgress } from '../src/progress.ts'
import type { StatusLine } from '../src/terminal.ts'

afterEach(() => vi.useRealTimers())

test.each([
  [{ rate: null }, 'beginning'],
  [{ phase: 'full walk', rate: null }, 'full walk'],
  [{ phase: 'full walk', done: 12_000, rate: null }, 'full walk 12,000'],
  [
    { phase: 'full walk', done: 12_000, total: 50_000, rate: 3_400, requests: 14, inFlight: 4 },
    'full walk 12,000 of 50,000 · 3,400/s · 12s left · 14 requests · 4 in flight',
  ],
  [
    { phase: 'full walk', done: 12_000, total: 50_000, isEstimate: true, rate: 3_800 },
    'full walk 12,000 of ~50,000 · 3,800/s · 10s left',
  ],
  [{ phase: 'full walk', done: 51_000, total: 50_000, isEstimate: true, rate: 10 }, 'full walk 51,000 · 10/s'],
  [{ phase: 'full walk', done: 5, total: null, rate: 2, requests: 1 }, 'full walk 5 · 2/s · 1 request'],
  [{ phase: 'open', done: 1, rate: 9, waitingUntil: 90_000 }, 'open 1 · waiting 1m 30s as the service asked'],
  [{ phase: 'open', done: 1, rate: null, waitingUntil: 0 }, 'open 1'],
  [
    { phase: 'open', done: 1, rate: 9, waitingUntil: 90_000, waitingFor: 'connect ECONNREFUSED 127.0.0.1:9' },
    'open 1 · trying again in 1m 30s: connect ECONNREFUSED 127.0.0.1:9',
  ],
])('%j reads "%s"', (state, text) => {
  expect(formatProgress(state, 0, 200)).toBe(text)
})

test('the line stays shorter than the terminal is wide, and drops whole parts', () => {
  const state = { phase: 'full walk', done: 12_000, total: 50_000, rate: 3_400, requests: 14, inFlight: 4 }
  for (let columns = 1; columns < 90; columns++) {
    expect(formatProgress(state, 0, columns).length).toBeLessThan(Math.max(columns, 1))
  }
  expect(formatProgress(state, 0, 60)).toBe('full walk 12,000 of 50,000 · 3,400/s · 12s left')
  expect(formatProgress(state, 0, 40)).toBe('full walk 12,000 of 50,000 · 12s left')
  expect(formatProgress({ ...state, total: null }, 0, 34)).toBe('full walk 12,000 · 3,400/s')
})

function watched(onTerminal: boolean, shown = true) {
  vi.useFakeTimers({ now: 0 })
  const lines: string[] = []
  const logged: [ErrorFacts, string][] = []
  const line: StatusLine = {
    show: (text) => void lines.push(text),
    clear: () => void lines.push('(cleared)'),
    write: (text) => void lines.push(text),
  }
  const quiet = () => {}
  const take = (facts: ErrorFacts, text: string) => void logged.push([facts, text])
  const log: Log = { debug: quiet, warn: take, error: quiet, info: take }
  const options = { line: onTerminal ? line : null, columns: () => 80, log, shown, now: Date.now }
  return { progress: createProgress(options), lines, logged }
}

test('a terminal is redrawn at most five times a second, however often something is reported', () => {
  const { progress, lines } = watched(true)
  for (let done = 0; done < 1000; done++) {
    vi.advanceTimersByTime(1)
    progress.set({ phase: 'full walk', done })
  }
  expect(lines.length).toBeGreaterThan(2)
  expect(lines.length).toBeLessThanOrEqual(6)
})

test('without a terminal there is a log line every 10 s, also while nothing is reported', () => {
  const { progress, lines, logged } = watched(false)
  progress.set({ phase: 'full walk', done: 10, total: 100 })
  vi.advanceTimersByTime(35_000)
  progress.finish()
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([])
  expect(logged).toHaveLength(3)
  expect(logged[0]).toEqual([expect.objectContaining({ done: 10, total: 100 }), 'Progress: full walk'])
})

test('without a terminal nothing is logged twice, however often something is reported', () => {
  const { progress, logged } = watched(false)
  for (let done = 0; done < 2_100; done++) {
    progress.set({ phase: 'full walk', done })
    vi.advanceTimersByTime(10)
  }
  expect(logged.map(([facts]) => facts.done)).toEqual([999, 1999])
})

test('a switched off progress shows nothing by itself and prints when asked', () => {
  const { progress, logged } = watched(false, false)
  progress.set({ phase: 'full walk', done: 10 })
  vi.advanceTimersByTime(60_000)
  expect(logged).toEqual([])
  progress.print()
  expect(logged).toHaveLength(1)
})

test('the rate counts from the beginning of the phase, not from what was done before', () => {
  const { progress, logged } = watched(false)
  progress.set({ phase: 'full walk', done: 100_000 })
  vi.advanceTimersByTime(9_000)
  progress.set({ done: 109_000 })
  vi.advanceTimersByTime(1_000)
  expect(logged[0]?.[0]).toMatchObject({ done: 109_000, perSecond: 900 })
})

test('a log line tells how much is left, for how long, and how long the service asked to wait', () => {
  const { progress, logged } = watched(false)
  progress.set({ phase: 'full walk', done: 0, total: 100_000, isEstimate: true })
  vi.advanceTimersByTime(9_000)
  progress.set({ done: 9_000, waitingUntil: 40_000 })
  vi.advanceTimersByTime(1_000)
  expect(logged[0]?.[0]).toEqual({
    done: 9_000,
    total: 100_000,
    estimated: true,
    requests: undefined,
    inFlight: undefined,
    perSecond: 900,
    secondsLeft: 101,
    waitMs: 30_000,
    waitingFor: 'Retry-After',
  })
})

test('the line is removed at the end', () => {
  const { progress, lines } = watched(true)
  progress.set({ phase: 'full walk', done: 1 })
  progress.finish()
  expect(lines.at(-1)).toBe('(cleared)')
})
