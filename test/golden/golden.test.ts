// A release takes over the mirrors of those before it: opens, verifies, exports and goes on with each that was kept here.
// The mirrors were made by `make.ts`; each holds open tasks, tombstones, odd values, set-aside items, an owed detail, a
// publication and a run that was killed in the middle of a full walk.
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runHere } from '../support/cli.ts'
import { canonical } from '../support/json-canon.ts'
import { makeScratch } from '../support/scratch.ts'
import { idOf, type Service, serve } from './service.ts'

const FOLDER = new URL('.', import.meta.url).pathname
const VERSIONS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sqlite'))
  .map((name) => name.replace(/\.sqlite$/, ''))

function takeOver(version: string) {
  const scratch = makeScratch()
  const mirror = scratch.path('tasks.sqlite')
  copyFileSync(`${FOLDER}${version}.sqlite`, mirror)
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    runHere(args, { TASK_MIRROR_DB: mirror, ...env })
  return { run, [Symbol.dispose]: () => scratch[Symbol.dispose]() }
}

const WHOLE = ['export', '--format', 'ndjson', '--no-redact', '--include-deleted', '--with-meta', '--out', '-']

test('the mirror of every release is kept', () => {
  const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8')
  const released = [...changelog.matchAll(/^## \[(\d[^\]]*)\]/gm)].map(([, version]) => version)
  expect(VERSIONS).toEqual(['0.1.0', ...released].toSorted())
})

test.concurrent.for(VERSIONS)(
  'a mirror of %s is verified and gives, task by task, what it gave then',
  async (version) => {
    using taken = takeOver(version)
    expect(await taken.run(['verify'])).toMatchObject({ code: 0 })
    const { code, stdout } = await taken.run(WHOLE)
    expect(code).toBe(0)
    const lines = (text: string) => text.trimEnd().split('\n').map(canonical)
    expect(lines(stdout)).toEqual(lines(readFileSync(`${FOLDER}${version}.ndjson`, 'utf8')))
  },
)

test.concurrent.for(VERSIONS)(
  'a mirror of %s goes on: re-bound, synced, verified, equal to the service',
  async (version) => {
    using taken = takeOver(version)
    const account = JSON.parse(readFileSync(`${FOLDER}${version}.service.json`, 'utf8')) as Service
    await using service = await serve(account)
    const env = { TASK_MIRROR_BASE_URL: service.url }
    expect(await taken.run(['sync'], env), 'another address is refused').toMatchObject({ code: 7 })
    const first = await taken.run(['sync', '--rebind'], env)
    // 3 while the owed detail waits for its turn.
    expect([0, 3], first.stderr).toContain(first.code)
    const full = await taken.run(['sync', '--full', '--details', 'always', '--json'], env)
    expect(full, full.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(full.stdout)).toMatchObject({ outcome: 'ok', verdict: 'complete' })
    expect(await taken.run(['verify'], env)).toMatchObject({ code: 0 })

    const { stdout } = await taken.run(['export', '--format', 'ndjson', '--no-redact', '--out', '-'])
    const expected = account.list.filter((text) => typeof idOf(text) === 'string' && !text.includes('[[[[[[[['))
    const whole = expected.map((text) => account.details[String(idOf(text))] ?? text)
    expect(stdout.trimEnd().split('\n').map(canonical).sort()).toEqual(whole.map(canonical).sort())
  },
)
