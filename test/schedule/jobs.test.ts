import { expect, test } from 'vitest'
import type { Log } from '../../src/log.ts'
import { type Job, Scheduler } from '../../src/schedule/jobs.ts'
import { makeTimetable } from '../../src/schedule/timetable.ts'

const START = Date.parse('2026-11-20T10:00:00Z')
const MINUTE = 60_000

/** A clock that jumps to whatever is waited for; `run` of a job takes time by moving it on. */
function makeWorld(jitter = 0) {
  let clock = START
  /** What the wall clock is off by: set it to make it jump. */
  let off = 0
  const stop = new AbortController()
  const warned: unknown[] = []
  const quiet = () => {}
  const log: Log = { debug: quiet, info: quiet, error: quiet, warn: (facts) => void warned.push(facts) }
  const begun: string[] = []
  const sleepers: { at: number; wake: () => void }[] = []
  const sleep = (ms: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) return resolve()
      const sleeper = { at: clock + ms, wake: resolve }
      sleepers.push(sleeper)
      signal.addEventListener('abort', () => {
        const index = sleepers.indexOf(sleeper)
        if (index !== -1) sleepers.splice(index, 1)
        resolve()
      })
    })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  /** Lets the clock run until `end`; `asleep`: the machine wakes only then. */
  const until = async (end: number, asleep = false) => {
    if (asleep) clock = end
    for (;;) {
      await settle()
      const next = sleepers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      sleepers.splice(sleepers.indexOf(next), 1)
      clock = Math.max(clock, next.at)
      next.wake()
    }
    clock = end
  }
  const job = (name: string, expression: string, takesMs: number, firstAt: number | null = null): Job => ({
    name,
    timetable: makeTimetable(expression, 'UTC', name),
    firstAt: firstAt ?? makeTimetable(expression, 'UTC', name).next(START),
    run: async () => {
      begun.push(`${name} ${new Date(clock + off).toISOString().slice(11, 19)}`)
      await sleep(takesMs, new AbortController().signal)
      return 0
    },
  })
  const options = {
    signal: stop.signal,
    now: () => clock + off,
    monotonic: () => clock,
    random: () => 0.5,
    sleep,
    jitterMs: jitter,
    log,
  }
  return {
    schedulerOf: (jobs: Job[]) => new Scheduler(jobs, options),
    job,
    begun,
    warned,
    until,
    stop,
    jump(ms: number) {
      off += ms
    },
  }
}

test('a job runs at its moments', async () => {
  const { schedulerOf, job, begun, until, stop } = makeWorld()
  const scheduler = schedulerOf([job('sync', '*/5 * * * *', 1000)])
  const done = scheduler.run()
  await until(START + 16 * MINUTE)
  expect(begun).toEqual(['sync 10:05:00', 'sync 10:10:00', 'sync 10:15:00'])
  expect(scheduler.figures()).toEqual([
    { job: 'sync', running: false, skipped: 0, nextAt: START + 20 * MINUTE, ended: new Map([[0, 3]]) },
  ])
  stop.abort()
  await done
})

test('a moment that passes while the job runs is skipped and counted', async () => {
  const { schedulerOf, job, begun, warned, until, stop } = makeWorld()
  const scheduler = schedulerOf([job('sync', '* * * * *', 2.5 * MINUTE)])
  const done = scheduler.run()
  await until(START + 4.2 * MINUTE)
  expect(begun).toEqual(['sync 10:01:00', 'sync 10:04:00'])
  expect(scheduler.figures()[0]).toMatchObject({ skipped: 2, running: true })
  expect(warned).toHaveLength(2)
  stop.abort()
  await until(START + 10 * MINUTE)
  await done
})

test('a job that never ends takes nothing from another', async () => {
  const { schedulerOf, job, begun, until, stop } = makeWorld()
  const scheduler = schedulerOf([job('export', '*/10 * * * *', 60 * MINUTE), job('sync', '*/5 * * * *', 2 * MINUTE)])
  const done = scheduler.run()
  await until(START + 24 * MINUTE)
  expect(begun).toEqual(['sync 10:05:00', 'export 10:10:00', 'sync 10:10:00', 'sync 10:15:00', 'sync 10:20:00'])
  expect(scheduler.figures().map(({ job: name, skipped }) => [name, skipped])).toEqual([
    ['export', 1],
    ['sync', 0],
  ])
  stop.abort()
  await until(START + 80 * MINUTE)
  await done
})

test('after the machine has slept one run makes up for all that was missed', async () => {
  const { schedulerOf, job, begun, until, stop } = makeWorld()
  const scheduler = schedulerOf([job('sync', '*/5 * * * *', 1000)])
  const done = scheduler.run()
  await until(START + 6 * MINUTE)
  await until(START + 62 * MINUTE, true)
  await until(START + 66 * MINUTE)
  expect(begun).toEqual(['sync 10:05:00', 'sync 11:02:00', 'sync 11:05:00'])
  expect(scheduler.figures()[0]).toMatchObject({ skipped: 10 })
  stop.abort()
  await done
})

test('chance makes a run later, a tenth of the pause at most', async () => {
  const { schedulerOf, job, begun, until, stop } = makeWorld(10 * MINUTE)
  const done = schedulerOf([job('sync', '*/5 * * * *', 1000)]).run()
  await until(START + 6 * MINUTE)
  expect(begun).toEqual(['sync 10:05:15'])
  stop.abort()
  await done
})

test('stopped, it waits for the runs in hand and begins no other', async () => {
  const { schedulerOf, job, begun, until, stop } = makeWorld()
  let ended = false
  const scheduler = schedulerOf([job('sync', '* * * * *', 30_000), job('export', '* * * * *', 1000)])
  const done = scheduler.run().then(() => {
    ended = true
  })
  await until(START + 1.2 * MINUTE)
  stop.abort()
  await until(START + 1.3 * MINUTE)
  expect(ended).toBe(false)
  await until(START + 2 * MINUTE)
  await done
  expect(begun).toEqual(['sync 10:01:00', 'export 10:01:00'])
})

test.each([-86_400_000, -3000])(
  'the clock set back by %s ms: the next run comes by the new clock, not a day later',
  async (ms) => {
    const { schedulerOf, job, begun, warned, until, stop, jump } = makeWorld()
    const scheduler = schedulerOf([job('sync', '*/5 * * * *', 1000)])
    const done = scheduler.run()
    await until(START + 6 * MINUTE)
    jump(ms)
    await until(START + 12 * MINUTE)
    expect(begun).toHaveLength(2)
    expect(begun[1]).toMatch(/:[0-5][05]:00$/)
    expect(scheduler.figures()[0]).toMatchObject({ skipped: 0 })
    expect(warned).toEqual([{ jumpMs: ms }])
    stop.abort()
    await done
  },
)

test('the clock set forward: one run makes up for what has passed, and the schedule goes on by the new clock', async () => {
  const { schedulerOf, job, begun, warned, until, stop, jump } = makeWorld()
  const done = schedulerOf([job('sync', '*/5 * * * *', 1000)]).run()
  await until(START + 6 * MINUTE)
  jump(62 * MINUTE)
  await until(START + 9 * MINUTE)
  expect(begun).toEqual(['sync 10:05:00', 'sync 11:08:01', 'sync 11:10:00'])
  expect(warned[0]).toEqual({ jumpMs: 62 * MINUTE })
  stop.abort()
  await done
})

test('a run that waits for its chance is not put off by a clock that is set back', async () => {
  const { schedulerOf, job, begun, until, stop, jump } = makeWorld(10 * MINUTE)
  const done = schedulerOf([job('sync', '*/5 * * * *', 1000)]).run()
  await until(START + 5 * MINUTE + 5000)
  jump(-86_400_000)
  await until(START + 5 * MINUTE + 16_000)
  expect(begun).toHaveLength(1)
  stop.abort()
  await done
})
