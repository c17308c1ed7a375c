import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import type { CommandStreams } from '../src/context.ts'
import { MirrorError } from '../src/errors.ts'
import { run } from '../src/program.ts'
import { makeScratch } from './support/scratch.ts'

function streamsFor(env: Record<string, string> = {}, write?: () => never) {
  const out: string[] = []
  const err: string[] = []
  const stdout = new Writable({
    write(chunk, _, done) {
      write?.()
      out.push(String(chunk))
      done()
    },
  })
  stdout.on('error', () => {})
  const streams: CommandStreams = {
    stdout,
    stderr: { isTTY: false, columns: () => undefined, write: (text) => void err.push(text) },
    env,
    onProgressRequest: () => {},
  }
  return { streams, out, err }
}

const stoppedBy = (signal: string, exitCode: number) =>
  AbortSignal.abort(new MirrorError('interrupted', `Stopped by ${signal}`, { facts: { signal, exitCode } }))

test.each([
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
])('%s gives exit %d and is told, whatever the command made of it', async (name, exitCode) => {
  const { streams, err } = streamsFor()
  expect(await run(['config', 'show'], streams, stoppedBy(name, exitCode))).toBe(exitCode)
  expect(err.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level: 'warn', msg: `Stopped by ${name}` }),
  ])
})

test('a signal wins over the error it came with, which is still told', async () => {
  using scratch = makeScratch()
  const { streams, err } = streamsFor()
  const args = ['status', '--db', scratch.path('none.sqlite')]
  expect(await run(args, streams, stoppedBy('SIGTERM', 143))).toBe(143)
  expect(err.join('')).toContain('There is no mirror')
})

test('a closed stdout does not hide another failure', async () => {
  using scratch = makeScratch()
  const { streams, err } = streamsFor()
  expect(await run(['config', 'show'], streams, stoppedBy('EPIPE', 0))).toBe(0)
  expect(err).toEqual([])
  expect(await run(['status', '--db', scratch.path('none.sqlite')], streams, stoppedBy('EPIPE', 0))).toBe(3)
})

test.each([
  [
    ['sync', '--ful'],
    "task-mirror: unknown option '--ful'\n  Did you mean --full? `task-mirror sync --help` says what there is.\n",
  ],
  [
    ['sync', '--since', '7d'],
    "task-mirror: unknown option '--since'\n  It is a flag of backfill and export. `task-mirror sync --help` says what there is.\n",
  ],
  [
    ['status', '--tasks', '5'],
    "task-mirror: unknown option '--tasks'\n  It is a flag of simulate. `task-mirror status --help` says what there is.\n",
  ],
  [['rejected', '--limit', 'x'], 'task-mirror: --limit: "x" is not a whole number from 1 to 999999999\n'],
  [['backfill', '--id', 'a', '--since', '1d'], 'task-mirror: --id cannot be combined with --since and --until\n'],
])('on a terminal %j is told as every error is', async (args, words) => {
  const { streams, err } = streamsFor()
  expect(
    await run(args, { ...streams, stderr: { ...streams.stderr, isTTY: true } }, new AbortController().signal),
  ).toBe(2)
  expect(err.join('')).toBe(words)
})

test('an unforeseen failure is exit 1 and one line; where it happened is told at level debug', async () => {
  const broken = (): never => {
    throw new Error('first line\nsecond line')
  }
  const never = new AbortController().signal
  for (const [level, lines] of [
    ['info', 1],
    ['debug', 2],
  ] as const) {
    const { streams, err } = streamsFor({ TASK_MIRROR_LOG_LEVEL: level }, broken)
    expect(await run(['config', 'show'], streams, never)).toBe(1)
    expect(err).toHaveLength(lines)
    expect(JSON.parse(err[0]!)).toMatchObject({
      code: 'bug',
      msg: 'unforeseen failure: first line',
      hint: expect.stringContaining('--log-level debug'),
    })
    if (lines === 2) expect(JSON.parse(err[1]!).stack).toContain('program.test.ts')
  }
})

test('a variable that is called nearly as a known one is told, without its value; others are let be', async () => {
  using scratch = makeScratch()
  const misspelt = ['SERVICE_CONCURENCY', 'APIKEY', 'BASEURL', 'API_KEY_FLIE']
  // Kubernetes sets such ones for a service of this name; simulate reads the last.
  const others = ['SERVICE_HOST', 'SERVICE_PORT', 'PORT_80_TCP', 'UI', 'SERVICE_CONCURRENCY', 'LATENCY_MS']
  const env = Object.fromEntries([...misspelt, ...others].map((name) => [`TASK_MIRROR_${name}`, '7']))
  const { streams, err } = streamsFor({ ...env, TASK_MIRROR_DBB: '' })
  expect(
    await run(['status', '--quiet', '--db', scratch.path('none.sqlite')], streams, new AbortController().signal),
  ).toBe(3)
  const told = err.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn')
  expect(told.map(({ msg }) => msg)).toEqual(
    ['SERVICE_CONCURRENCY', 'API_KEY', 'BASE_URL', 'API_KEY_FILE'].map(
      (near, index) => `TASK_MIRROR_${misspelt[index]} is set, but nothing reads it; did you mean TASK_MIRROR_${near}?`,
    ),
  )
})
