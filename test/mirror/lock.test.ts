// The lock and the name of its holder in a folder where others may write.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/mirror/connect.ts'
import { holding, takeLock } from '../../src/mirror/lock.ts'
import { closeWriter, openReader, openWriter } from '../../src/mirror/open.ts'
import { forgetSnapshot } from '../../src/mirror/tables/snapshots.ts'
import { runCli, runInside } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'
import { few, SOAK } from '../support/soak.ts'

const OPTIONS = { busyTimeoutMs: 100, fileMode: 0o600 }

test('a link in the place of the holder is replaced, and what it leads to is left alone', () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  writeFileSync(scratch.path('precious'), 'mine')
  symlinkSync(scratch.path('precious'), `${path}.holder`)
  const lock = takeLock(path, 'sync', 0)
  expect(readFileSync(scratch.path('precious'), 'utf8')).toBe('mine')
  expect(lstatSync(`${path}.holder`).isFile()).toBe(true)
  expect(statSync(`${path}.holder`).mode & 0o777).toBe(0o600)
  lock.release()
  expect(existsSync(`${path}.holder`)).toBe(false)
})

test('a mirror with a second name is read, and not written to: by each name it would have a WAL and a lock of its own', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  openWriter(path, OPTIONS).close()
  linkSync(path, scratch.path('other.sqlite'))
  for (const name of ['m.sqlite', 'other.sqlite']) {
    expect(() => openWriter(scratch.path(name), OPTIONS)).toThrow(/not written to: .* a hard link/)
    await expect(forgetSnapshot(scratch.path(name), 'none', 0)).rejects.toThrow(/a hard link/)
    openReader(scratch.path(name)).close()
  }
  rmSync(scratch.path('other.sqlite'))
  openWriter(path, OPTIONS).close()
})

test('where the name of a mirror leads in a ring, a snapshot is not recorded, in words', async () => {
  using scratch = makeScratch()
  symlinkSync(scratch.path('b.sqlite'), scratch.path('a.sqlite'))
  symlinkSync(scratch.path('a.sqlite'), scratch.path('b.sqlite'))
  await expect(forgetSnapshot(scratch.path('a.sqlite'), 'none', 0)).rejects.toMatchObject({ code: 'mirror-unreadable' })
})

test('a pipe in the place of the holder keeps nobody waiting', () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  execFileSync('mkfifo', [`${path}.holder`])
  takeLock(path, 'sync', 0).release()
  const lock = takeLock(path, 'sync', 0)
  rmSync(`${path}.holder`)
  execFileSync('mkfifo', [`${path}.holder`])
  expect(() => takeLock(path, 'sync', 0)).toThrow(/Another run holds the mirror \S+$/)
  lock.release()
})

test.each(['.lock', '.lock-journal', '-wal', '-shm', '-journal'])(
  'a link, a pipe and a folder in the place of %s are refused, and nothing is written through them',
  async (suffix) => {
    using scratch = makeScratch()
    const path = scratch.path('task-mirror.sqlite')
    openWriter(path, OPTIONS).close()
    writeFileSync(scratch.path('precious'), 'mine')
    const plant = [
      () => symlinkSync(scratch.path('precious'), path + suffix),
      () => execFileSync('mkfifo', [path + suffix]),
      () => mkdirSync(path + suffix),
    ]
    // A pipe alone would keep somebody waiting: a process can be ended then.
    for (const make of few(plant, (_, n) => n === (suffix.startsWith('.lock') ? 1 : 0) || suffix === '-wal')) {
      rmSync(path + suffix, { force: true, recursive: true })
      make()
      const env = { TASK_MIRROR_BASE_URL: 'http://127.0.0.1:1' }
      const run = make === plant[1] || SOAK ? runCli : runInside
      const { code, stderr } = await run(['sync'], { cwd: scratch.dir, env })
      expect({ suffix, code }).toEqual({ suffix, code: 7 })
      expect(stderr).toMatch(/is (a link|a pipe|no regular file); nothing was written to it/)
      if (!suffix.startsWith('.lock')) expect(() => openReader(path)).toThrow(/nothing was written to it/)
    }
    expect(readFileSync(scratch.path('precious'), 'utf8')).toBe('mine')
  },
)

test('a folder in the place of the holder is exit 7, and the lock is free again', async () => {
  using scratch = makeScratch()
  mkdirSync(scratch.path('task-mirror.sqlite.holder'))
  const env = { TASK_MIRROR_BASE_URL: 'http://127.0.0.1:1' }
  expect(await runCli(['sync'], { cwd: scratch.dir, env })).toMatchObject({ code: 7 })
  rmSync(scratch.path('task-mirror.sqlite.holder'), { recursive: true })
  takeLock(scratch.path('task-mirror.sqlite'), 'sync', 0).release()
})

test('what somebody wrote about the holder is told in bounds and without control characters', () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  const lock = takeLock(path, 'sync', 0)
  writeFileSync(`${path}.holder`, `pid 7 \u001b]0;owned\u0007\u009b2J\u202e\n${'x'.repeat(5000)}`)
  try {
    takeLock(path, 'sync', 0)
    expect.unreachable()
  } catch (error) {
    const { message } = error as Error
    expect(message).toMatch(/\(pid 7 \?\]0;owned\?2J\?x{2,}\.\.\.\)$/)
    expect(message.length).toBeLessThan(path.length + 200)
  }
  lock.release()
})

test.skipIf(process.geteuid?.() !== 0)(
  "another user's file or link is filled where only some may have put it there, and refused where everybody may",
  async () => {
    using scratch = makeScratch()
    const path = scratch.path('task-mirror.sqlite')
    const real = scratch.path('real.sqlite')
    const env = { TASK_MIRROR_BASE_URL: 'http://127.0.0.1:1' }
    const plants: [name: string, plant: () => void][] = [
      [path, () => writeFileSync(path, '')],
      [path, () => symlinkSync('real.sqlite', path)],
      [
        `${path}-wal`,
        () => {
          openWriter(path, OPTIONS).close()
          writeFileSync(`${path}-wal`, '')
        },
      ],
    ]
    for (const [name, plant] of plants) {
      for (const file of [path, real, `${path}-wal`]) rmSync(file, { force: true })
      writeFileSync(real, '')
      plant()
      lchownSync(name, 12345, 12345)
      for (const mode of [0o1777, 0o777]) {
        chmodSync(scratch.dir, mode)
        expect(() => takeLock(path, 'sync', 0)).toThrow(/task-mirror.sqlite(-wal)? belongs to neither you nor root/)
      }
      expect(await runInside(['sync'], { cwd: scratch.dir, env })).toMatchObject({ code: 7 })
      expect((await runInside(['doctor'], { cwd: scratch.dir, env })).stdout).toMatch(/^wrong {2}mirror .*neither/m)
      chmodSync(scratch.dir, 0o2775)
      takeLock(path, 'sync', 0).release()
    }
    expect(statSync(real).size).toBe(0)
  },
)

test('two links to one mirror have one lock', () => {
  using scratch = makeScratch()
  mkdirSync(scratch.path('disk'))
  const real = scratch.path('disk', 'real.sqlite')
  openWriter(real, OPTIONS).close()
  symlinkSync(real, scratch.path('link.sqlite'))
  const lock = takeLock(scratch.path('link.sqlite'), 'sync', 0)
  expect(() => takeLock(real, 'sync', 0)).toThrow(/Another run holds/)
  lock.release()
  takeLock(real, 'sync', 0).release()
})

test('a run whose lock was removed leaves the name of the run that holds the mirror now', () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  const before = takeLock(path, 'sync', 0)
  rmSync(`${path}.lock`)
  const now = takeLock(path, 'backfill', 0)
  expect(() => before.assertHeld()).toThrow('was removed or replaced')
  before.release()
  expect(() => takeLock(path, 'sync', 0)).toThrow(/backfill/)
  now.release()
})

test('a link to what is not there, as of a disk that is not mounted, is refused and stays', () => {
  using scratch = makeScratch()
  mkdirSync(scratch.path('disk'))
  for (const target of ['disk/m.sqlite', 'not-mounted/m.sqlite']) {
    const link = scratch.path('link.sqlite')
    symlinkSync(target, link)
    symlinkSync('link.sqlite', scratch.path('second.sqlite'))
    for (const path of [link, scratch.path('second.sqlite')]) {
      for (const open of [() => takeLock(path, 'sync', 0), () => openWriter(path, OPTIONS)]) {
        expect(open).toThrow(
          expect.objectContaining({ code: 'mirror-unwritable', message: expect.stringMatching('link to') }),
        )
      }
    }
    expect(readdirSync(scratch.dir).sort()).toEqual(['disk', 'link.sqlite', 'second.sqlite'])
    expect(readdirSync(scratch.path('disk'))).toEqual([])
    for (const name of ['link.sqlite', 'second.sqlite']) rmSync(scratch.path(name))
  }
})

test('a link to an empty file stays one, and the mirror is where it leads', () => {
  using scratch = makeScratch()
  mkdirSync(scratch.path('disk'))
  writeFileSync(scratch.path('disk', 'm.sqlite'), '')
  symlinkSync('disk/m.sqlite', scratch.path('link.sqlite'))
  openWriter(scratch.path('link.sqlite'), OPTIONS).close()
  expect(lstatSync(scratch.path('link.sqlite')).isSymbolicLink()).toBe(true)
  expect(statSync(scratch.path('disk', 'm.sqlite')).size).toBeGreaterThan(0)
})

test('a WAL that another mirror left is never played into a new one', () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  const db = openWriter(path, OPTIONS)
  db.exec("INSERT INTO service_facts VALUES ('total', '7', 1)")
  linkSync(`${path}-wal`, scratch.path('wal'))
  db.close()
  rmSync(path)
  renameSync(scratch.path('wal'), `${path}-wal`)
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
  openWriter(path, OPTIONS).close()
  const reader = connect(path, { readonly: true })
  expect(reader.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(reader.prepare('SELECT count(*) FROM service_facts').pluck().get()).toBe(0)
  reader.close()
})

test('a folder or a link in the place of what a new mirror needs beside it is put aside', () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  for (const suffix of ['-wal', '-shm', '-journal']) {
    for (const put of [mkdirSync, (place: string) => symlinkSync(scratch.path('nowhere'), place)]) {
      put(path + suffix)
      openWriter(path, OPTIONS).close()
      expect(existsSync(scratch.path('nowhere'))).toBe(false)
      rmSync(path)
    }
  }
})

/** Another process: it takes new pages of the mirror, and folds them back when it is told to. */
const OTHER = `
  const Database = require('better-sqlite3')
  const db = new Database(process.argv[1])
  db.exec('CREATE TABLE other AS SELECT randomblob(700) FROM mine LIMIT 300')
  console.log('written')
  process.stdin.once('data', () => {
    db.close()
    process.exit()
  })`

test('a writer whose -wal and -shm were removed folds nothing back below what another program has written since', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  const lock = takeLock(path, 'sync', 0)
  const db = openWriter(path, OPTIONS)
  db.exec(
    `CREATE TABLE mine AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT randomblob(300) FROM n;
     PRAGMA wal_checkpoint(TRUNCATE);
     INSERT INTO mine SELECT randomblob(1000) FROM mine`,
  )
  const assertHeld = holding(lock, db)
  for (const name of ['-wal', '-shm']) rmSync(path + name)
  const other = spawn(process.execPath, ['-e', OTHER, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void other.kill('SIGKILL'))
  await once(other.stdout, 'data')
  expect(() => closeWriter(db, assertHeld)).toThrow('was removed or replaced')
  lock.release()
  other.stdin.write('go')
  await once(other, 'exit')
  const after = connect(path, {})
  expect(after.pragma('integrity_check(1)', { simple: true })).toBe('ok')
  after.close()
})
