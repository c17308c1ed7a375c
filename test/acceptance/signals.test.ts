// Issue 2: signals during a run. The work in hand is committed or rolled back, and the next run goes on from there.
import { expect, test } from 'vitest'
import { grouped } from '../../src/shown.ts'
import { few } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { makeStage, stateSeenByAnotherProcess, WINDOW } from './stage.ts'

const SIGNALS = [
  ['SIGTERM', 143],
  ['SIGINT', 130],
  ['SIGHUP', 129],
] as const

test.concurrent.for(few(SIGNALS, ([signal]) => signal !== 'SIGINT'))(
  '%s in the middle of a walk is exit %i within 5 s, and the next run resumes',
  async ([signal, exit]) => {
    await using stage = await makeStage({ window: WINDOW, tasks: 12 * WINDOW, latencyMs: 20 })
    const running = await stage.startUntilAsked(8, ['sync'])
    running.process.kill(signal)
    // As a shell and the kernel do when a terminal closes; a second one of the others stops at once.
    if (signal === 'SIGHUP') running.process.kill(signal)
    const { code, stdout, stderr, signal: by } = await running.ended
    expect({ code, by }).toEqual({ code: exit, by: null })
    // It speaks, so it has left by itself within its grace of 4 s: after that the process ends without a word (leaving.test.ts).
    const { outcome, windows, seen } = JSON.parse(stdout)
    expect(outcome).toBe('interrupted')
    expect(windows).toBeGreaterThan(2)
    expect(stderr).toContain(`Stopped by ${signal}: the ${grouped(seen)} tasks that came in are kept in `)

    const state = await stateSeenByAnotherProcess(stage)
    // What was read ahead is taken in as well; the walk itself has come as far as its marks.
    expect(state).toMatchObject({ integrity: 'ok', tasks: seen, met: state!.nextSkip, runs: 1, walks: 1 })
    expect(state!.met).toBeGreaterThan(2 * WINDOW)
    expect(state!.met).toBeLessThanOrEqual(seen)
    expect(stage.rows('SELECT outcome, exit_code FROM runs')).toEqual([{ outcome: 'interrupted', exit_code: exit }])

    const next = await stage.sync()
    const lists = next.asked.filter(({ operation }) => operation === 'list')
    expect(lists[0]!.skip).toBe(state!.nextSkip - 10)
    expect(next.summary).toMatchObject({ outcome: 'ok', verdict: 'complete', inserted: 12 * WINDOW - seen })
    await expectExactCopy(stage)
  },
)

test.concurrent.for(few(SIGNALS, ([signal]) => signal === 'SIGINT'))(
  '%s while the service does not answer is exit %i within 5 s',
  async ([signal, exit]) => {
    await using stage = await makeStage({
      window: WINDOW,
      tasks: 3 * WINDOW,
      faults: ({ n }) => (n >= 2 ? { hang: true } : null),
    })
    const running = await stage.startUntilAsked(3, ['sync'])
    running.process.kill(signal)
    const { code, stdout } = await running.ended
    expect({ code, outcome: JSON.parse(stdout).outcome }).toEqual({ code: exit, outcome: 'interrupted' })
    expect(await stateSeenByAnotherProcess(stage)).toMatchObject({ integrity: 'ok' })
  },
)

test.concurrent('a run of one step is written down as stopped by its signal, too', async () => {
  await using stage = await makeStage({
    window: WINDOW,
    tasks: 2 * WINDOW,
    faults: ({ operation }) => (operation === 'get' ? { hang: true } : null),
  })
  await stage.sync('--details', 'never')
  const running = await stage.startUntilAsked(2, ['verify', '--service'])
  running.process.kill('SIGTERM')
  expect((await running.ended).code).toBe(143)
  const last = 'SELECT command, outcome, exit_code FROM runs ORDER BY id DESC LIMIT 1'
  expect(stage.rows(last)).toEqual([{ command: 'verify', outcome: 'interrupted', exit_code: 143 }])
})

test.concurrent('a second signal stops at once, and the next run finds a sound mirror', async () => {
  await using stage = await makeStage({ window: WINDOW, tasks: 12 * WINDOW, latencyMs: 20 })
  const running = await stage.startUntilAsked(6, ['sync'])
  running.process.kill('SIGTERM')
  running.process.kill('SIGINT')
  const { code } = await running.ended
  expect([130, 143]).toContain(code)
  const state = await stateSeenByAnotherProcess(stage)
  expect(state).toMatchObject({ integrity: 'ok', runs: 1, walks: 1 })
  expect(state!.met).toBe(state!.nextSkip)
  expect(state!.met).toBeLessThanOrEqual(state!.tasks)
  expect((await stage.sync()).code).toBe(0)
  await expectExactCopy(stage)
})
