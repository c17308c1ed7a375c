// No command writes onto what the program works with, whatever the path is spelt like.
import { createHash } from 'node:crypto'
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { filesInUse, refuseInUse } from '../../src/export/publish/in-use.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { runHere } from '../support/cli.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'

/** A mirror that a program has open, so that its WAL is there; a configuration and a key beside it. */
function furnish(scratch: Scratch) {
  mkdirSync(scratch.path('data'))
  const mirror = scratch.path('data', 'Mirror.sqlite')
  openWriter(mirror, { busyTimeoutMs: 100, fileMode: 0o600 }).close()
  const db = new Database(mirror)
  db.exec("INSERT INTO service_facts VALUES ('total', '1', 1)")
  const config = scratch.path('task-mirror.json')
  const key = scratch.path('key')
  writeFileSync(config, '{}', { mode: 0o600 })
  writeFileSync(key, 'hunter2', { mode: 0o600 })
  writeFileSync(`${mirror}.lock`, '')
  symlinkSync(scratch.path('data'), scratch.path('linked'))
  symlinkSync(mirror, scratch.path('link.sqlite'))
  linkSync(mirror, scratch.path('hard.sqlite'))
  linkSync(config, scratch.path('hard.json'))
  return { mirror, config, key, [Symbol.dispose]: () => void db.close() }
}

function hashes(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, createHash('sha256').update(readFileSync(path)).digest('hex')]
    }),
  )
}

test('every file in use is known by every spelling, and others are free', () => {
  using scratch = makeScratch()
  using placed = furnish(scratch)
  const { mirror, config, key } = placed
  const inUse = filesInUse(mirror, [config, key])
  const spellings = [
    ...['', '-wal', '-shm', '-journal', '.lock', '.holder'].flatMap((suffix) => [
      mirror + suffix,
      relative(process.cwd(), mirror + suffix),
      scratch.path('linked', `Mirror.sqlite${suffix}`),
      scratch.path('data', '..', 'linked', '.', `mirror.SQLITE${suffix}`),
    ]),
    ...['link.sqlite', 'hard.sqlite', 'hard.json', 'task-mirror.json', 'TASK-MIRROR.json', 'key'].map((name) =>
      scratch.path(name),
    ),
  ]
  for (const out of spellings) expect(() => refuseInUse(out, inUse), out).toThrow(/is the mirror itself, or its WAL/)
  for (const name of ['other.sqlite', 'data/Mirror.sqlite.ndjson', 'none/Mirror.sqlite', 'data']) {
    expect(() => refuseInUse(scratch.path(name), inUse), name).not.toThrow()
  }
  // By a link to the mirror too: SQLite's files stand beside the file itself.
  expect(() => refuseInUse(`${mirror}-wal`, filesInUse(scratch.path('link.sqlite')))).toThrow()
})

test('every command with an output refuses them with exit 2 and changes no byte', async () => {
  using scratch = makeScratch()
  using placed = furnish(scratch)
  const { mirror, config, key } = placed
  const token = scratch.path('token')
  writeFileSync(token, 'hunter3', { mode: 0o600 })
  const before = hashes(scratch.dir)
  const outs = [
    token,
    mirror,
    `${mirror}-wal`,
    scratch.path('linked', 'mirror.sqlite.lock'),
    scratch.path('hard.sqlite'),
    config,
    key,
  ]
  for (const out of outs) {
    for (const command of [['export', '--format', 'ndjson'], ['copy'], ['report']]) {
      const { code, stderr } = await runHere([...command, '--out', out], {
        ...{ TASK_MIRROR_DB: mirror, TASK_MIRROR_CONFIG: config, TASK_MIRROR_API_KEY_FILE: key },
        TASK_MIRROR_SCHEDULE_TOKEN_FILE: token,
      })
      expect({ command, out, code }).toEqual({ command, out, code: 2 })
      expect(stderr).toContain('is the mirror itself, or its WAL')
    }
  }
  expect(hashes(scratch.dir)).toEqual(before)
})

test('a dataset whose latest.json is the mirror, and a demo where the mirror is, are refused', async () => {
  using scratch = makeScratch()
  for (const [folder, name, command] of [
    ['lake', 'latest.json', 'export'],
    ['demo', 'demo-mirror.sqlite', 'demo'],
  ] as const) {
    mkdirSync(scratch.path(folder))
    const mirror = scratch.path(folder, name)
    openWriter(mirror, { busyTimeoutMs: 100, fileMode: 0o600 }).close()
    const before = hashes(scratch.dir)
    const { code, stderr } = await runHere([command, '--out', `${scratch.path(folder)}/`], { TASK_MIRROR_DB: mirror })
    expect({ command, code }).toEqual({ command, code: 2 })
    expect(stderr).toContain('is the mirror itself')
    expect(hashes(scratch.dir)).toEqual(before)
  }
})
