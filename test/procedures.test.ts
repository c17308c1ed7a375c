// Backup, restore, upgrade and going back, by the very commands that docs/operations.md shows: one mirror goes through all of
// them, and so does the oldest mirror that is kept.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  cpSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { startSimulator } from '../src/simulator/server.ts'
import { idOf, type Service, serve } from './golden/service.ts'
import { CLI, HANGS_MS } from './support/cli.ts'
import { makeScratch, type Scratch } from './support/scratch.ts'
import { few, SOAK } from './support/soak.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The commands of a chapter, block by block. */
function blocksOf(chapter: string): string[][] {
  const text = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8').split(`\n## ${chapter}\n`)[1]!.split('\n## ')[0]!
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!.trimEnd().split('\n'))
}

const [backup, restore] = blocksOf('Backup and restore') as [string[], string[]]
const [upgrade, rollBack] = blocksOf('Upgrade and roll back') as [string[], string[]]

/** Runs one line of the page with `program` as task-mirror. */
async function type(line: string, program: string, { dir }: Scratch, env: Record<string, string>) {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn('bash', ['-c', `task-mirror() { '${process.execPath}' '${program}' "$@"; }; ${line}`], {
    cwd: dir,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: HANGS_MS,
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { line, code, said }
}

/** Runs a block up to the line that installs another program, or from there. */
async function follow(lines: string[], program: string, scratch: Scratch, env: Record<string, string>, fine = [0]) {
  for (const line of lines) {
    const { code, said } = await type(line, program, scratch, env)
    expect(fine, `${line}\n${said}`).toContain(code)
  }
}

const isInstall = (line: string) => line.startsWith('npm install')
const before = (lines: string[]) => lines.slice(0, lines.findIndex(isInstall))
const after = (lines: string[]) => lines.slice(lines.findIndex(isInstall) + 1)

/** This program with one migration more. */
function newerProgram(scratch: Scratch): string {
  cpSync(join(ROOT, 'dist'), scratch.path('newer/dist'), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), scratch.path('newer/node_modules'))
  copyFileSync(join(ROOT, 'package.json'), scratch.path('newer/package.json'))
  const migration = 'CREATE TABLE later (a INTEGER) STRICT; INSERT INTO later VALUES (1);'
  writeFileSync(scratch.path('newer/dist/mirror/migrations/0999_later.sql'), migration)
  return scratch.path('newer/dist/cli.js')
}

const idsIn = (path: string): string[] => {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare('SELECT id FROM live_tasks ORDER BY id').pluck().all() as string[]
  } finally {
    db.close()
  }
}

// The gate runs it beside the tests.
test
  .skipIf(!SOAK)
  .concurrent(
    'a mirror is backed up, damaged, restored, upgraded and taken back by the commands of the page',
    async () => {
      using scratch = makeScratch()
      await using simulator = await startSimulator({ tasks: 300, openFraction: 0.02 })
      const env = { TASK_MIRROR_BASE_URL: simulator.url }
      const mirror = scratch.path('task-mirror.sqlite')
      const all = () => simulator.account.ids().sort()
      await follow(['task-mirror sync', ...backup], CLI, scratch, env)

      const half = openSync(mirror, 'r+')
      writeSync(half, Buffer.alloc(64 * 1024, 'overwritten'), 0, 64 * 1024, 16 * 1024)
      closeSync(half)
      simulator.account.insert(5)
      const damaged = await type('task-mirror verify', CLI, scratch, env)
      expect(damaged.code, damaged.said).toBe(7)
      await follow(restore, CLI, scratch, env)
      expect(idsIn(mirror)).toEqual(all())

      writeFileSync(mirror, 'no database at all any more'.repeat(100))
      const foreign = await type(restore[0]!, CLI, scratch, env)
      expect(foreign).toMatchObject({ code: 7, said: expect.stringContaining('If this was it, move it away') })
      await follow(['mkdir away && mv task-mirror.sqlite* away/', ...restore], CLI, scratch, env)
      expect(idsIn(mirror)).toEqual(all())

      const newer = newerProgram(scratch)
      await follow(before(upgrade), CLI, scratch, env)
      simulator.account.insert(5)
      await follow(after(upgrade), newer, scratch, env)
      expect(idsIn(mirror)).toEqual(all())

      const migrated = readFileSync(mirror)
      // As by every other command (test/reliability/operators.test.ts).
      const refused = await type('task-mirror sync', CLI, scratch, env)
      expect(refused, refused.said).toMatchObject({ code: 7, said: expect.stringContaining('newer task-mirror') })
      expect(readFileSync(mirror).equals(migrated), 'the older program changed a newer mirror').toBe(true)

      simulator.account.insert(5)
      await follow(after(rollBack), CLI, scratch, env)
      expect(idsIn(mirror)).toEqual(all())
      await follow(['task-mirror verify'], CLI, scratch, env)
    },
  )

const GOLDEN = fileURLToPath(new URL('golden/', import.meta.url))
const VERSIONS = readdirSync(GOLDEN).flatMap((name) => /^(.*)\.sqlite$/.exec(name)?.[1] ?? [])

test.concurrent.for(few(VERSIONS, (_, n) => n === 0))(
  'the upgrade of the page takes a mirror of %s over, and back',
  async (version) => {
    using scratch = makeScratch()
    const account = JSON.parse(readFileSync(join(GOLDEN, `${version}.service.json`), 'utf8')) as Service
    await using service = await serve(account)
    const mirror = scratch.path('task-mirror.sqlite')
    copyFileSync(join(GOLDEN, `${version}.sqlite`), mirror)
    // Its service has moved to this test.
    const db = new Database(mirror)
    db.prepare("UPDATE service_facts SET value = ? WHERE key = 'base_url'").run(JSON.stringify(service.url))
    const schema = () => new Database(scratch.path('before-upgrade.sqlite')).pragma('user_version', { simple: true })
    const made = db.pragma('user_version', { simple: true })
    db.close()
    const listed = account.list.map(idOf)
    const env = { TASK_MIRROR_BASE_URL: service.url }
    await follow(before(upgrade), CLI, scratch, env)
    expect(schema(), 'the copy must be one that the older program takes').toBe(made)
    // 3: its last full walk could prove nothing, and a detail is owed.
    await follow(after(upgrade), CLI, scratch, env, [0, 3])
    await follow(['task-mirror verify'], CLI, scratch, env)
    expect(listed).toEqual(expect.arrayContaining(idsIn(mirror)))
    // What the list shows and the mirror does not have is set aside.
    expect(listed.length - idsIn(mirror).length).toBeLessThanOrEqual(2)
    await follow(after(rollBack), CLI, scratch, env, [0, 3])
    await follow(['task-mirror verify'], CLI, scratch, env)
  },
)

test('the page shows all four procedures', () => {
  expect([backup, restore, upgrade, rollBack].map(({ length }) => length > 0)).toEqual([true, true, true, true])
  expect(['Backup and restore', 'Upgrade and roll back'].map((chapter) => blocksOf(chapter).length)).toEqual([2, 2])
  expect([upgrade, rollBack].every((lines) => lines.some(isInstall))).toBe(true)
})
