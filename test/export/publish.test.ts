import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MirrorError } from '../../src/errors.ts'
import { clearLeftOvers } from '../../src/export/publish/drafts.ts'
import { FolderStore } from '../../src/export/publish/folder.ts'
import { explainSnapshot, openDraft } from '../../src/export/publish/publish.ts'
import { draftName } from '../support/draft-name.ts'

const NOW = Date.now()
const options = { now: NOW, inUse: [] }
const bytes = (text: string) => Buffer.from(text)

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'task-mirror-publish-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('nothing has the final name until publish, then the whole file has', async () => {
  const folder = scratch()
  const path = join(folder, 'tasks.ndjson')
  const draft = await openDraft(path, options)
  await draft.write(bytes('one\n'))
  await draft.write(bytes('two\n'))
  const hidden = new RegExp(`^\\.tasks\\.ndjson\\.task-mirror-([0-9a-f]{8}-)?${process.pid}-[0-9a-f]{12}\\.tmp$`)
  expect(readdirSync(folder)).toEqual([expect.stringMatching(hidden)])
  await draft.finish()
  expect(readdirSync(folder)).toEqual(['tasks.ndjson'])
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
  expect(draft.bytes).toBe(8)
  expect(draft.sha256()).toBe(createHash('sha256').update('one\ntwo\n').digest('hex'))
})

test('until a snapshot is whole its files have no ending by which other programs find them', async () => {
  const folder = scratch()
  const store = new FolderStore(folder, [])
  await store.makeReady(NOW)
  const files = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const publication = await store.begin('20261126T000000Z-abc')
  for (const name of ['part-00000.parquet', 'created_month=2026-11/part-00000.parquet']) {
    const file = await publication.open(name)
    await file.write(bytes('rows'))
    await file.finish()
    expect(files().map((entry) => entry.name)).not.toContain('part-00000.parquet')
  }
  await publication.publish(bytes('{}'))
  expect(
    readdirSync(folder, { recursive: true })
      .filter((name) => /\.(parquet|json|tmp)$/.test(`${name}`))
      .sort(),
  ).toEqual([
    '20261126T000000Z-abc/_manifest.json',
    '20261126T000000Z-abc/created_month=2026-11/part-00000.parquet',
    '20261126T000000Z-abc/part-00000.parquet',
  ])
})

test('a file that is brought to the disk while it is written is whole, and can be given up at any moment', async () => {
  const folder = scratch()
  const piece = Buffer.alloc(3 * 1024 * 1024 + 1, 'tasks')
  for (const isKept of [true, false]) {
    const path = join(folder, `large-${isKept}`)
    const draft = await openDraft(path, options)
    const hash = createHash('sha256')
    for (let i = 0; i < 6; i++) {
      piece[0] = i
      hash.update(piece)
      await draft.write(piece)
    }
    if (!isKept) {
      await draft.discard()
      continue
    }
    await draft.finish()
    expect(draft.bytes).toBe(6 * piece.length)
    expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(hash.digest('hex'))
  }
  expect(readdirSync(folder)).toEqual(['large-true'])
})

test('what stood at the destination stays whole until the rename', async () => {
  const path = join(scratch(), 'tasks.ndjson')
  writeFileSync(path, 'before')
  const draft = await openDraft(path, options)
  await draft.write(bytes('after'))
  expect(readFileSync(path, 'utf8')).toBe('before')
  await draft.finish()
  expect(readFileSync(path, 'utf8')).toBe('after')
})

test('discard leaves the folder as it was, also after publish', async () => {
  const folder = scratch()
  const path = join(folder, 'tasks.ndjson')
  writeFileSync(path, 'before')
  const discarded = await openDraft(path, options)
  await discarded.write(bytes('after'))
  await discarded.discard()
  expect(readdirSync(folder)).toEqual(['tasks.ndjson'])
  const published = await openDraft(path, options)
  await published.finish()
  await published.discard()
  expect(readdirSync(folder)).toEqual(['tasks.ndjson'])
})

test.each([0o600, 0o644, 0o666])('the file has mode %o whatever the umask', async (mode) => {
  const path = join(scratch(), 'a.parquet')
  const draft = await openDraft(path, { ...options, mode })
  await draft.finish()
  expect(statSync(path).mode & 0o777).toBe(mode)
})

test('drafts of dead exports are cleared away, those of living ones and other files are not', async () => {
  const folder = scratch()
  const dead = spawnSync(process.execPath, ['-e', '']).pid
  const old = new Date(NOW - 25 * 3_600_000)
  const living = draftName('living', process.ppid)
  for (const name of [
    draftName('a.parquet', dead),
    draftName('b.ndjson', dead),
    draftName('old', process.ppid),
    living,
    `a.task-mirror-${dead}-eee.tmp`,
    `.a.task-mirror-${dead}.tmp`,
  ]) {
    writeFileSync(join(folder, name), '')
    if (name.startsWith('.old')) utimesSync(join(folder, name), old, old)
  }
  const draft = await openDraft(join(folder, 'a.parquet'), options)
  await draft.discard()
  expect(readdirSync(folder).sort()).toEqual(
    [`.a.task-mirror-${dead}.tmp`, living, `a.task-mirror-${dead}-eee.tmp`].sort(),
  )
})

// Elsewhere no place is told: all names are alike.
test.runIf(process.platform === 'linux')(
  'a draft of another container, or of an earlier version, goes when nothing was written for an hour',
  async () => {
    const folder = scratch()
    const dead = spawnSync(process.execPath, ['-e', '']).pid
    const places = [`0badc0de-${dead}`, `0badc0de-${process.pid}`, `${dead}`]
    const names = places.map((place, i) => `.tasks.task-mirror-${place}-${i}.tmp`)
    for (const [minutes, stay] of [
      [59, names],
      [61, []],
    ] as const) {
      const written = new Date(NOW - minutes * 60_000)
      for (const name of names) {
        writeFileSync(join(folder, name), '')
        utimesSync(join(folder, name), written, written)
      }
      await clearLeftOvers(folder, NOW)
      expect(readdirSync(folder).sort()).toEqual([...stay].sort())
    }
  },
)

test('every file of a dataset that is begun shows in the time of its folder that it is alive', async () => {
  const folder = scratch()
  const publication = await new FolderStore(folder, []).begin('20261126T000000000Z-1-abcdef')
  const hidden = join(folder, readdirSync(folder)[0]!)
  for (const part of ['part-00000.parquet', 'part-00001.parquet']) {
    utimesSync(hidden, 0, 0)
    const file = await publication.open(`created_month=2026-11/${part}`)
    await file.finish()
    expect(statSync(hidden).mtimeMs).toBeGreaterThan(NOW - 60_000)
  }
})

test('a name as long as the file system allows can be published', async () => {
  const path = join(scratch(), `${'é'.repeat(123)}.parquet`)
  const draft = await openDraft(path, options)
  await draft.finish()
  expect(statSync(path).size).toBe(0)
})

test('a folder or device at the destination is refused and left alone', async () => {
  const folder = scratch()
  mkdirSync(join(folder, 'a.parquet'))
  for (const path of [join(folder, 'a.parquet'), '/dev/null']) {
    await expect(openDraft(path, options)).rejects.toMatchObject({ code: 'usage-invalid' })
  }
  expect(statSync('/dev/null').isFile()).toBe(false)
})

test('a missing folder is snapshot-unwritable with a hint', async () => {
  await expect(openDraft(join(scratch(), 'no', 'a.parquet'), options)).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    message: expect.stringMatching(/the folder .*no is missing$/),
    hint: expect.stringContaining('Create the folder'),
  })
})

test('a folder that is there is not called missing: /proc takes no files, a file is no folder', async () => {
  const file = join(scratch(), 'file')
  writeFileSync(file, '')
  const refused = [
    [join(file, 'a.parquet'), `${file} is no folder`],
    ...(process.platform === 'linux' ? [['/proc/a.parquet', 'the folder /proc takes no such file']] : []),
  ] as const
  for (const [path, why] of refused) {
    await expect(openDraft(path, options)).rejects.toMatchObject({
      code: 'snapshot-unwritable',
      message: `${path} cannot be written: ${why}`,
      hint: 'Name another file with --out.',
    })
  }
})

test('a full device is disk-full', async () => {
  const full = '/dev/full'
  if (!statSync(full, { throwIfNoEntry: false })) return
  const error = (() => {
    try {
      writeFileSync(full, 'x')
    } catch (caught) {
      return caught
    }
  })()
  expect(explainSnapshot('a.parquet', error)).toMatchObject({ code: 'disk-full' })
})

test.each([
  ['ENOSPC', 'disk-full'],
  ['EDQUOT', 'disk-full'],
  ['EACCES', 'snapshot-unwritable'],
  ['EROFS', 'snapshot-unwritable'],
  ['EIO', 'snapshot-unwritable'],
])('%s is %s', (code, expected) => {
  const error = Object.assign(new Error(`${code}: said the kernel`), { code, syscall: 'write' })
  expect(explainSnapshot('a.parquet', error)).toMatchObject({ code: expected, cause: error })
})

test('errors that are not of the file system come back as they are', () => {
  const bug = new TypeError('x')
  const known = new MirrorError('interrupted', 'x')
  expect(explainSnapshot('a', bug)).toBe(bug)
  expect(explainSnapshot('a', known)).toBe(known)
})
