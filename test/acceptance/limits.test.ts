// Issue 3 and design.md 6.7: time limits, waiting, keys, other services, owed details, and a service that fails now and then.
import { describe, expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { few, SOAK } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { makeStage, type Stage, type StageOptions, WINDOW } from './stage.ts'

const content = (stage: Stage) => stage.rows('SELECT id, content_hash, change_seq FROM tasks ORDER BY id')

describe.concurrent('time', () => {
  test('--max-duration ends a run with exit 4, and run after run gets there', async () => {
    await using stage = await makeStage({ window: WINDOW, tasks: 8 * WINDOW, openFraction: 0 })
    let runs = 0
    let reached = 0
    // From some window on the service does not answer any more, in the second run from a later one.
    let answered = 4
    stage.simulator.setFaults(({ operation }) => (operation === 'list' && --answered < 0 ? { hang: true } : null))
    for (let seconds = 0.75; ; seconds *= 2) {
      runs += 1
      const { code, summary, stderr } = await stage.sync('--max-duration', `${seconds * 1000}ms`)
      if (code === 0) break
      expect({ code, outcome: summary.outcome }).toEqual({ code: 4, outcome: 'failed' })
      expect(stderr).toContain('duration-reached')
      const now = stage.value<number>('SELECT max(next_skip) FROM walks')
      expect(now).toBeGreaterThanOrEqual(reached)
      // A run that has come nowhere had too little time for this machine: the next one has twice as much.
      if (now > reached) answered = reached === 0 ? 6 : Number.POSITIVE_INFINITY
      reached = now
      // Timers may fire a little early.
      expect(summary.durationMs).toBeGreaterThan(seconds * 1000 - 50)
    }
    expect(runs).toBeGreaterThan(2)
    await expectExactCopy(stage)
  })

  /** A mirror whose first walk was cut off behind its third window. */
  async function makeCutOff(options: Partial<StageOptions> = {}): Promise<{ stage: Stage; reached: number }> {
    const stage = await makeStage({ window: WINDOW, tasks: 8 * WINDOW, openFraction: 0.3, ...options })
    for (let seconds = 1; ; seconds *= 2) {
      stage.simulator.setFaults(({ operation, skip }) =>
        operation === 'list' && (skip ?? 0) > 2 * WINDOW ? { hang: true } : null,
      )
      await stage.sync('--max-duration', `${seconds}s`)
      const reached = stage.value<number | null>('SELECT max(next_skip) FROM walks') ?? 0
      // A slow machine has not come there.
      if (reached <= 2 * WINDOW) continue
      stage.simulator.setFaults(undefined)
      return { stage, reached }
    }
  }

  test('open tasks leave most of a limited time to a walk that goes on', async () => {
    const { stage, reached } = await makeCutOff()
    await using _ = stage
    for (let seconds = 2; ; seconds *= 2) {
      const { asked } = await stage.runJson(['sync', '--max-duration', `${seconds}s`], {
        TASK_MIRROR_SERVICE_REQUESTS_PER_SECOND: '10',
      })
      const first = asked.findIndex(({ operation }) => operation === 'list')
      const before = first < 0 ? asked.length : first
      // Five more show whose account it is.
      expect(before).toBeLessThanOrEqual(3 * seconds + 5)
      // A slow machine has not come to the walk.
      if (first < 0) continue
      expect(before).toBeGreaterThan(0)
      expect(stage.value('SELECT max(next_skip) FROM walks')).toBeGreaterThan(reached)
      break
    }
  })

  test('so they do where every answer takes long', async () => {
    const { stage } = await makeCutOff({ stepMs: 500 })
    await using _ = stage
    const { asked, stderr } = await stage.runJson(['sync', '--max-duration', '10s'], {
      TASK_MIRROR_SERVICE_CONCURRENCY: '1',
    })
    const first = asked.findIndex(({ operation }) => operation === 'list')
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThanOrEqual(6)
    // The walk goes on; windows for what is open come after it.
    expect(asked[first]?.skip).toBeGreaterThan(2 * WINDOW)
    expect(stderr).not.toContain('not answered for')
  })

  test.each([
    [0, /Check service\.baseUrl.*No request succeeded before --max-duration was reached: [^"]*503/],
    [1, /reached --max-duration; its progress is kept; the service was failing: [^"]*503/],
  ])('--max-duration that ends a run that failed after %d answers says what was failing', async (good, says) => {
    await using stage = await makeStage({ tasks: 50 })
    const patient = { TASK_MIRROR_SERVICE_MAX_RETRIES: '100' }
    for (let seconds = 1; ; seconds *= 2) {
      let answered = 0
      stage.simulator.setFaults(() => {
        answered += 1
        return answered > good ? { status: 503 } : null
      })
      const { code, stderr, asked } = await stage.runJson(['sync', '--max-duration', `${seconds}s`], patient)
      expect(code).toBe(4)
      // Without a second request a slow machine has not heard the answer to the first.
      if (asked.length < good + 2) continue
      expect(stderr).toMatch(says)
      break
    }
  })

  test('a Retry-After beyond the limit: exit 4, the next start asks nothing, --now asks', async () => {
    await using stage = await makeStage({ window: WINDOW, tasks: 4 * WINDOW, openFraction: 0 })
    stage.simulator.setFaults(({ n }) => (n >= 2 ? { status: 429, retryAfter: 3600 } : null))
    const HOUR = 3_600_000
    const before = Date.now()
    const told = await stage.sync()
    expect(told.code).toBe(4)
    // The commands' clock keeps whole milliseconds.
    expect(told.summary.notBefore).toBeGreaterThanOrEqual(before + HOUR - 1)
    expect(told.summary.notBefore).toBeLessThanOrEqual(Date.now() + HOUR)
    expect(told.asked.length).toBeLessThan(8)
    stage.simulator.setFaults(undefined)
    for (const args of [['sync', '--full'], ['backfill']]) {
      const early = await stage.runJson(args)
      expect({ code: early.code, asked: early.asked.length }).toEqual({ code: 4, asked: 0 })
      expect(early.summary.notBefore).toBe(told.summary.notBefore)
      expect(early.stderr).toContain('--now')
    }
    const now = await stage.sync('--now')
    expect({ code: now.code, notBefore: now.summary.notBefore }).toEqual({ code: 0, notBefore: null })
    await expectExactCopy(stage)
    expect((await stage.sync()).code).toBe(0)
  })

  test('one of days is kept for a day: then the next start asks again', async () => {
    const DAY = 86_400_000
    await using stage = await makeStage({ tasks: 50, openFraction: 0, stepMs: 100 })
    stage.simulator.setFaults(() => ({ status: 429, retryAfter: (3 * DAY) / 1000 }))
    const before = stage.now()
    const told = await stage.sync()
    expect(told.code).toBe(4)
    expect(told.summary.notBefore).toBeLessThanOrEqual(stage.now() + DAY)
    expect(told.summary.notBefore).toBeGreaterThanOrEqual(before + DAY)
    stage.simulator.setFaults(undefined)
    stage.pass(DAY - 10_000)
    expect((await stage.sync()).asked).toEqual([])
    stage.pass(10_000)
    const { code, summary } = await stage.sync()
    expect({ code, notBefore: summary.notBefore }).toEqual({ code: 0, notBefore: null })
  })

  test('a short Retry-After is waited for', async () => {
    await using stage = await makeStage({ window: WINDOW, tasks: 4 * WINDOW })
    stage.simulator.setFaults(({ n }) => (n === 2 ? { status: 503, retryAfter: 1 } : null))
    // One at a time: those already under way when it is said are none of its business.
    const { code, summary, asked } = await stage.runJson(['sync'], { TASK_MIRROR_SERVICE_CONCURRENCY: '1' })
    expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
    expect(summary.waitedMs).toBeGreaterThanOrEqual(900)
    const refused = asked.findIndex(({ status }) => status === 503)
    expect(asked[refused + 1]!.at - asked[refused]!.at).toBeGreaterThanOrEqual(900)
  })
})

describe.concurrent('keys and addresses', () => {
  const withKey = (key: string) => ({ TASK_MIRROR_API_KEY: key })

  test('a wrong key is exit 5 after one request, and nothing is written', async () => {
    await using stage = await makeStage({ tasks: 300, key: 'right' })
    expect((await stage.runJson(['sync'], withKey('right'))).code).toBe(0)
    const before = content(stage)
    for (const args of [['sync'], ['backfill'], ['backfill', '--id', stage.simulator.account.idAt(0)]]) {
      const { code, asked, stdout, stderr } = await stage.runJson(args, withKey('wr0ng-s3cret'))
      expect({ code, asked: asked.length }).toEqual({ code: 5, asked: 1 })
      expect(stdout + stderr).not.toContain('wr0ng-s3cret')
    }
    expect(content(stage)).toEqual(before)
  })

  test('a rotated key goes on; the key of another account is refused and nothing is written', async () => {
    await using stage = await makeStage({ tasks: 300, key: 'one', openFraction: 0 })
    const { port, account } = stage.simulator
    expect((await stage.runJson(['sync'], withKey('one'))).code).toBe(0)
    const before = content(stage)
    await stage.simulator.close()

    const other = await startSimulator({ tasks: 300, key: 'two', seed: 99, port })
    const commands = [
      ['sync'],
      ['sync', '--full'],
      ['backfill'],
      ['backfill', '--since', '400d'],
      ['backfill', '--id', other.account.idAt(0)],
    ]
    for (const args of few(commands, (_, n) => n === 0 || n === 4)) {
      const { code, stdout, stderr } = await stage.runHere([...args, '--json'], withKey('two'))
      expect({ args, code, stderr }).toEqual({ args, code: 7, stderr: expect.stringContaining('other-account') })
      expect(JSON.parse(stdout)).toMatchObject({ inserted: 0, updated: 0, deleted: 0 })
      expect(content(stage)).toEqual(before)
    }
    await other.close()

    await using rotated = await startSimulator({ account, key: 'three', port })
    account.insert(10)
    const next = await stage.runHere(['sync', '--json'], withKey('three'))
    expect({ code: next.code, inserted: JSON.parse(next.stdout).inserted }).toEqual({ code: 0, inserted: 10 })
    expect(rotated.requests).toBeLessThanOrEqual(7)
  })

  test('another base URL is refused before anything is sent', async () => {
    await using stage = await makeStage({ tasks: 300 })
    await stage.sync()
    const before = content(stage)
    await using other = await startSimulator({ tasks: 300, seed: 99 })
    for (const command of ['sync', 'backfill']) {
      const { code, stderr } = await stage.runHere([command, '--base-url', other.url])
      expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringContaining('other-service') })
    }
    expect(other.requests).toBe(0)
    expect(content(stage)).toEqual(before)
  })
})

describe.concurrent('owed details', () => {
  test.for(few(['noResult', 'bare', 'noData'] as const, (carries) => carries === 'bare'))(
    'a list that carries %s: every detail is asked for, and what fails stays owed until a later run',
    async (listCarries) => {
      await using stage = await makeStage({ tasks: 150, listCarries, openFraction: 0 })
      stage.simulator.setFaults(({ operation, n }) => (operation === 'get' && n % 3 === 0 ? { status: 500 } : null))
      const first = await stage.runJson(['sync'], { TASK_MIRROR_SERVICE_MAX_RETRIES: '0' })
      expect({ code: first.code, verdict: first.summary.verdict }).toEqual({ code: 3, verdict: 'complete' })
      const owed = stage.value<number>("SELECT count(*) FROM open_checks WHERE reason = 'detail'")
      expect(owed).toBeGreaterThan(20)
      stage.simulator.setFaults(undefined)
      // The wait before the next attempt is the tool's own; here it is over at once.
      changeMirror(stage.mirrorPath, "UPDATE open_checks SET next_check_at = 0 WHERE reason = 'detail'")
      const later = await stage.sync()
      expect(later.asked.filter(({ operation }) => operation === 'get')).toHaveLength(owed)
      expect(later.code).toBe(0)
      // A list that carries less never empties what the details brought.
      const full = (await stage.sync('--full')).summary
      expect(full.updated).toBe(0)
      // A few are compared with the list; nothing more is owed.
      expect(full.details).toBeLessThanOrEqual(7)
      await expectExactCopy(stage)
    },
  )

  test('details owed survive kill -9', async () => {
    await using stage = await makeStage({ tasks: 600, listCarries: 'noResult', openFraction: 0, latencyMs: 3 })
    const running = await stage.startUntilAsked(250, ['sync'])
    running.process.kill('SIGKILL')
    expect((await running.ended).signal).toBe('SIGKILL')
    const owed = stage.value<number>("SELECT count(*) FROM open_checks WHERE reason = 'detail'")
    expect(owed).toBeGreaterThan(100)
    expect(owed).toBeLessThan(600)
    const next = await stage.sync()
    expect(next.asked.filter(({ operation }) => operation === 'get')).toHaveLength(owed)
    expect(next.code).toBe(0)
    await expectExactCopy(stage)
  })
})

describe.concurrent('a service that fails now and then', () => {
  const kinds = ['503', 'reset', 'truncate', 'hang', '500', '429', 'html', 'empty', 'envelope-500'] as const
  const CASES = [
    ...(SOAK ? kinds.map((kind) => ({ faultKinds: [kind] })) : []),
    { faultKinds: ['503', 'reset', 'truncate'] as const },
    { faultKinds: ['500', 'hang', '429', 'html', 'empty', 'envelope-500'] as const },
  ]
  test.for(CASES)('one request in six: $faultKinds, still complete', async ({ faultKinds }) => {
    const faults = { faultRate: 0.17, faultKinds: [...faultKinds] }
    await using stage = await makeStage({ window: WINDOW, tasks: 4 * WINDOW, order: 'created_asc', seed: 5, ...faults })
    // A good answer that takes longer on a slow machine costs a retry, and there are six.
    const { code, summary } = await stage.runJson(['sync'], { TASK_MIRROR_SERVICE_REQUEST_TIMEOUT_MS: '3000' })
    expect({ code, verdict: summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
    expect(summary.retries).toBeGreaterThan(0)
    await expectExactCopy(stage)
  })

  test('one that stays down is exit 4, and the next run goes on where it stopped', async () => {
    await using stage = await makeStage({ window: WINDOW, tasks: 6 * WINDOW })
    stage.simulator.setFaults(({ n }) => (n >= 4 ? { status: 503 } : null))
    const down = await stage.runJson(['sync'], { TASK_MIRROR_SERVICE_MAX_RETRIES: '1' })
    expect({ code: down.code, outcome: down.summary.outcome }).toEqual({ code: 4, outcome: 'failed' })
    const reached = stage.value<number>('SELECT next_skip FROM walks')
    expect(reached).toBeGreaterThan(WINDOW)
    stage.simulator.setFaults(undefined)
    const next = await stage.sync()
    expect(next.asked.find(({ operation }) => operation === 'list')!.skip).toBe(reached - 10)
    expect(next.code).toBe(0)
    await expectExactCopy(stage)
  })
})
