// The crontab that docs/install.md shows for a clone. Those of the packages: test/packed and test/container/deb.sh.
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { startSimulator } from '../src/simulator/server.ts'
import { runCli } from './support/cli.ts'
import { cronMissing, crontabsOf, runByCron } from './support/cron.ts'
import { makeScratch } from './support/scratch.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const crontabs = crontabsOf(readFileSync(`${ROOT}docs/install.md`, 'utf8'))

test('there is one for the clone, the npm package and the Debian package', () => {
  expect(crontabs).toHaveLength(3)
})

describe.skipIf(cronMissing !== null)(`by cron, in its bare environment (${cronMissing ?? "Debian's"})`, () => {
  test('a clone is synced, and nothing is printed that cron would mail', async () => {
    using scratch = makeScratch()
    // What `npm ci && npm run build` leave in a clone, in a folder where a mirror may be made.
    for (const name of ['dist', 'node_modules']) symlinkSync(`${ROOT}${name}`, scratch.path(name))
    writeFileSync(scratch.path('key'), 'a-made-up-key', { mode: 0o600 })
    await using simulator = await startSimulator({ tasks: 200, key: 'a-made-up-key' })
    // A clone that has brought no Node along needs the folder of the machine's.
    const ours = existsSync(`${ROOT}node_modules/.bin/node`) ? '' : `${dirname(process.execPath)}:`
    const crontab = crontabs[0]!
      .replace(/^PATH=([^:]*:)/m, `PATH=$1${ours}`)
      .replaceAll('/srv/task-mirror', scratch.dir)
      .replaceAll('https://tasks.example.com', simulator.url)
    expect(await runByCron(crontab)).toEqual({ code: 0, printed: '' })
    expect(await runCli(['status', '--max-age', '15m'], { cwd: scratch.dir })).toMatchObject({ code: 0 })
    // Each of the lines before it is needed, but for PATH where the machine's own Node is new enough.
    for (const name of ['TASK_MIRROR_API_KEY_FILE', 'TASK_MIRROR_BASE_URL']) {
      const { code, printed } = await runByCron(crontab.replace(new RegExp(`^${name}=.*\n`, 'm'), ''))
      expect({ name, code }, printed).toEqual({ name, code: expect.not.toBeOneOf([0]) })
    }
  })
})
