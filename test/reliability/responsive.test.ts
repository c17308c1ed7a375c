// Whatever the service sends, the main thread looks at its events again soon: signals, /healthz and the deadlines of other
// requests hang on it. SOAK=1 tries bodies as large as they may be.
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DEFAULTS } from '../../src/config/defaults.ts'
import { verifyService } from '../../src/sync/one-off/verify.ts'
import { probeService } from '../../src/sync/probe/probe.ts'
import { runSync } from '../../src/sync/run.ts'
import { startCli } from '../support/cli.ts'
import { HOSTILE_BODIES } from '../support/hostile-bodies.ts'
import { serveLarge } from '../support/large-answers.ts'
import { loopDelayOf } from '../support/loop-delay.ts'
import { allowedMs } from '../support/processor.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'
import { few, SOAK } from '../support/soak.ts'

const SIZE = SOAK ? DEFAULTS.service.maxResponseBytes - 2_000 : 5_000_000
/** Where the decoder's way is different; the others take long. */
const SHORT = ['a lone surrogate', 'lists in one another', 'tiny items']
const LONGEST_MS = SOAK ? 200 : 110
/** What a health check may have to wait for: some steps, and whatever else is due. */
const LONGEST_BEFORE_HEALTH_MS = SOAK ? 1000 : 500
/** Of the body meanwhile. */
const BYTES = SOAK ? 20_000_000 : 10_000_000

test.each(few(Object.keys(HOSTILE_BODIES), (name) => SHORT.includes(name)))(
  '%s: the main thread is never held up',
  async (name) => {
    using scratch = makeScratch()
    const body = (HOSTILE_BODIES[name] as (size: number) => string)(SIZE)
    await using service = await serveLarge(body)
    const context = makeRunContext(service.url, scratch.path('mirror.sqlite'), {
      service: { maxRetries: 0, requestTimeoutMs: 60_000, maxBytesInFlight: DEFAULTS.service.maxResponseBytes },
      sync: { details: 'never' },
    })
    let ended = ''
    const delay = await loopDelayOf(async () => {
      const { summary } = await runSync(context, { command: 'sync', full: true })
      ended = `${summary.outcome}, ${summary.seen} seen, ${summary.rejected} rejected`
    })
    if (process.env.SHOW === '1') process.stdout.write(`${name}: ${JSON.stringify(delay)} ${ended}\n`)
    expect(delay.longestCpuMs).toBeLessThan(allowedMs(LONGEST_MS))
  },
)

// A probe asks for many windows: with names that nobody knows it alone takes as long as all of the above.
test.each(few(Object.keys(HOSTILE_BODIES), (name) => name === 'tiny items'))(
  '%s: probe and verify hold up the main thread as little',
  async (name) => {
    using scratch = makeScratch()
    const body = (HOSTILE_BODIES[name] as (size: number) => string)(SOAK ? SIZE : 4_000_000)
    await using service = await serveLarge(body)
    const context = makeRunContext(service.url, scratch.path('mirror.sqlite'), {
      service: { maxRetries: 0, requestTimeoutMs: 60_000, maxBytesInFlight: DEFAULTS.service.maxResponseBytes },
      sync: { details: 'never' },
    })
    await runSync(context, { command: 'sync', full: true })
    const delay = await loopDelayOf(async () => {
      await probeService(context).catch(() => undefined)
      await verifyService(context, 2)
    })
    if (process.env.SHOW === '1') process.stdout.write(`probe, verify, ${name}: ${JSON.stringify(delay)}\n`)
    expect(delay.longestCpuMs).toBeLessThan(allowedMs(LONGEST_MS))
  },
)

test(`/healthz is answered and SIGTERM obeyed while a body of ${BYTES / 1e6} MB is taken in`, async () => {
  using scratch = makeScratch()
  await using service = await serveLarge((HOSTILE_BODIES['unknown names'] as (size: number) => string)(BYTES))
  const args = ['schedule', '--base-url', service.url, '--sync', '* * * * *', '--listen', '127.0.0.1:0']
  const running = startCli([...args, '--json', '--log-level', 'error'], {
    cwd: scratch.dir,
    env: { TASK_MIRROR_SCHEDULE_JITTER_MS: '0' },
  })
  const { url } = JSON.parse(await running.untilStdout(/\n/)) as { url: string }
  const took: number[] = []
  for (let asked = 0; asked < (SOAK ? 30 : 12); asked += 1) {
    const before = mainThreadMs(running.process.pid as number)
    const { status } = await fetch(`${url}/healthz`)
    took.push(mainThreadMs(running.process.pid as number) - before)
    expect(status).toBe(503)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  running.process.kill('SIGTERM')
  const { code } = await running.ended
  if (process.env.SHOW === '1') process.stdout.write(`healthz after ${Math.max(...took)} ms of the main thread\n`)
  // 143 where the writer was in the middle of the body and was not waited for.
  expect([0, 143]).toContain(code)
  expect(Math.max(...took)).toBeLessThan(allowedMs(LONGEST_BEFORE_HEALTH_MS))
})

/** Processor time of a process's main thread, ms, in steps of 10; 0 where no system tells. */
function mainThreadMs(pid: number): number {
  const path = `/proc/${pid}/task/${pid}/stat`
  if (!existsSync(path)) return 0
  const [, fields = ''] = readFileSync(path, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13).map(Number) as [number, number]
  return 10 * (user + system)
}
