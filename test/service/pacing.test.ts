// The shared clock on a clock of its own: nobody really waits.

import { expect, test } from 'vitest'
import { allowanceOf, nextAllowance, Pacing, type PacingOptions } from '../../src/service/pacing.ts'
import fc from '../support/fc.ts'

/** A clock that only moves when told, and wakes its sleepers in order. */
function manualClock() {
  let time = 1_000_000
  let sleepers: { at: number; resolve(): void }[] = []
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return {
    now: () => time,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        sleepers.push({ at: time + ms, resolve })
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
    advance: async (ms: number) => {
      const end = time + ms
      for (;;) {
        await settle()
        const next = sleepers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        sleepers = sleepers.filter((sleeper) => sleeper !== next)
        time = Math.max(time, next.at)
        next.resolve()
      }
      time = end
      await settle()
    },
  }
}

function pacingOf(given: Partial<PacingOptions> = {}) {
  const clock = manualClock()
  const options = {
    concurrency: 4,
    requestsPerSecond: null,
    maxRetryAfterMs: 60_000,
    signal: new AbortController().signal,
  }
  return { clock, pacing: new Pacing({ ...options, ...clock, ...given }) }
}

function enterAnd(pacing: Pacing, note: () => void, notBefore?: number): void {
  pacing.enter(notBefore).then((leave) => {
    note()
    leave()
  })
}

/** Enters `count` times and notes when, ms from now. */
function entries(pacing: Pacing, clock: { now(): number }, count: number) {
  const moments: number[] = []
  const begun = clock.now()
  for (let i = 0; i < count; i++) enterAnd(pacing, () => moments.push(clock.now() - begun))
  return moments
}

test('requests per second are spaced evenly, whatever the concurrency', async () => {
  const { pacing, clock } = pacingOf({ requestsPerSecond: 4 })
  const moments = entries(pacing, clock, 5)
  await clock.advance(10_000)
  expect(moments).toEqual([0, 250, 500, 750, 1_000])
  expect(pacing.waitedMs()).toBe(0)
})

test('a rate below one per second is obeyed', async () => {
  const { pacing, clock } = pacingOf({ requestsPerSecond: 0.1 })
  const moments = entries(pacing, clock, 3)
  await clock.advance(60_000)
  expect(moments).toEqual([0, 10_000, 20_000])
})

test('a hold stops everyone, and the rate goes on after it', async () => {
  const { pacing, clock } = pacingOf({ requestsPerSecond: 1 })
  pacing.hold(5_000)
  const moments = entries(pacing, clock, 3)
  await clock.advance(60_000)
  expect(moments).toEqual([5_000, 6_000, 7_000])
  expect(pacing.waitedMs()).toBe(5_000)
})

test('a longer hold prolongs a wait under way, a shorter one does not cut it', async () => {
  const { pacing, clock } = pacingOf()
  pacing.hold(5_000)
  const moments = entries(pacing, clock, 1)
  await clock.advance(2_000)
  pacing.hold(8_000)
  pacing.hold(1_000)
  await clock.advance(60_000)
  expect(moments).toEqual([10_000])
})

test('waits of several requests at the same time count once', async () => {
  const { pacing, clock } = pacingOf()
  pacing.hold(5_000)
  const moments = entries(pacing, clock, 4)
  await clock.advance(60_000)
  expect(moments).toEqual([5_000, 5_000, 5_000, 5_000])
  expect(pacing.waitedMs()).toBe(5_000)
})

test('a back-off delays its own request only and takes no slot', async () => {
  const { pacing, clock } = pacingOf({ concurrency: 1 })
  const moments: string[] = []
  enterAnd(pacing, () => moments.push('backed off'), clock.now() + 1_000)
  enterAnd(pacing, () => moments.push('first'))
  await clock.advance(0)
  expect(moments).toEqual(['first'])
  await clock.advance(1_000)
  expect(moments).toEqual(['first', 'backed off'])
})

test('a wait that is too long is refused until it is over', async () => {
  const { pacing, clock } = pacingOf({ concurrency: 1 })
  const leave = await pacing.enter()
  const queued = expect(pacing.enter()).rejects.toMatchObject({ code: 'wait-too-long' })
  const notBefore = clock.now() + 60_001
  expect(() => pacing.hold(60_001)).toThrow(
    expect.objectContaining({ code: 'wait-too-long', facts: { notBefore, retryAfterMs: 60_001 } }),
  )
  await queued
  await expect(pacing.enter()).rejects.toMatchObject({ code: 'wait-too-long' })
  leave()
  await clock.advance(60_001)
  await expect(pacing.enter()).resolves.toBeTypeOf('function')
})

test('a wait of exactly the limit is waited', async () => {
  const { pacing, clock } = pacingOf()
  pacing.hold(60_000)
  const moments = entries(pacing, clock, 1)
  await clock.advance(60_000)
  expect(moments).toEqual([60_000])
})

test('a slot is given back once, however often', async () => {
  const { pacing, clock } = pacingOf({ concurrency: 1 })
  const leave = await pacing.enter()
  leave()
  leave()
  await pacing.enter()
  const noted: string[] = []
  enterAnd(pacing, () => noted.push('third'))
  await clock.advance(1_000)
  expect(noted).toEqual([])
})

test('strained answers of one round halve the concurrency once', async () => {
  const { pacing, clock } = pacingOf({ concurrency: 8 })
  const sentAt = clock.now()
  await clock.advance(100)
  for (let i = 0; i < 8; i++) pacing.heard('strained', sentAt)
  expect(pacing.allowed()).toBe(2)
  pacing.heard('strained', clock.now() + 1)
  expect(pacing.allowed()).toBe(1)
})

test('four requests go out at once in the beginning, and as many as are allowed once those were answered well', () => {
  const { pacing, clock } = pacingOf({ concurrency: 8 })
  expect(pacing.allowed()).toBe(4)
  for (let i = 0; i < 4; i++) pacing.heard('well', clock.now())
  expect(pacing.allowed()).toBe(8)
  expect(pacingOf({ concurrency: 2 }).pacing.allowed()).toBe(2)
})

test('after a strained answer concurrency grows by about one per round of good answers', () => {
  let allowance = nextAllowance(allowanceOf(4, 8), 'strained', 8)
  expect(allowance.present).toBe(2)
  for (let i = 0; i < 2; i++) allowance = nextAllowance(allowance, 'well', 8)
  expect(allowance.present).toBeGreaterThan(2.8)
  expect(allowance.present).toBeLessThan(3.1)
})

test('a service that bears one request at a time is tried with two more and more rarely', () => {
  let allowance = allowanceOf(4, 8)
  const strainedAt: number[] = []
  for (let n = 0; n < 100; n++) {
    const isTooMuch = Math.floor(allowance.present) > 1
    if (isTooMuch) strainedAt.push(n)
    allowance = nextAllowance(allowance, isTooMuch ? 'strained' : 'well', 8)
  }
  expect(strainedAt.length).toBeLessThan(12)
  expect(strainedAt.at(-1)! - strainedAt.at(-2)!).toBeGreaterThan(10)
})

test('concurrency stays between one and the limit', () => {
  const hearings = fc.array(fc.constantFrom('well' as const, 'strained' as const), { maxLength: 200 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 64 }), hearings, (most, heard) => {
      let allowance = allowanceOf(most, most)
      for (const how of heard) {
        allowance = nextAllowance(allowance, how, most)
        expect(allowance.present).toBeGreaterThanOrEqual(1)
        expect(allowance.present).toBeLessThanOrEqual(most)
      }
    }),
  )
})
