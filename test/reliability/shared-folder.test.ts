// A destination that other users of the machine may write: what they put there under our hidden names, or in the place of
// what is ours, is neither followed nor removed.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { expect, test, vi } from 'vitest'
import { exportSnapshot } from '../../src/export/export.ts'
import { clearLeftOvers } from '../../src/export/publish/drafts.ts'
import { FolderStore } from '../../src/export/publish/folder.ts'
import { verifySnapshot } from '../../src/export/verify/verify.ts'
import { makeStage } from '../acceptance/stage.ts'
import { makeMirror, ordinaryRows } from '../export/mirror.ts'
import { draftName } from '../support/draft-name.ts'
import { makeScratch } from '../support/scratch.ts'
import { runShell, uidMissing } from './shell.ts'

const isRoot = process.getuid?.() === 0
const DEAD = spawnSync(process.execPath, ['-e', '']).pid
const SNAPSHOT = '20260101T000000000Z-1-abcdef'

const partName = (n: number) => `part-${String(n).padStart(5, '0')}.parquet`

/** The folder of a snapshot, or of somebody's own files that have the same names. */
function fill(folder: string, files: number): void {
  mkdirSync(folder, { mode: 0o700 })
  for (let n = 0; n < files; n += 1) writeFileSync(`${folder}/${partName(n)}`, '')
}

test("another user's left-overs, links and pipes stay, our own go", async () => {
  using scratch = makeScratch()
  const left = (name: string) => scratch.path(draftName(name, DEAD))
  fill(scratch.path('precious'), 2)
  symlinkSync(scratch.path('precious'), left('link'))
  spawnSync('mkfifo', [left('pipe')])
  fill(left('folder'), 2)
  fill(`${left('folder')}/created_month=2026-01`, 1)
  writeFileSync(left('file'), '')
  const stay = ['link', 'pipe']
  if (isRoot) {
    for (const name of ['their-folder', 'their-file']) {
      if (name.endsWith('folder')) fill(left(name), 1)
      else writeFileSync(left(name), '')
      chownSync(left(name), 12345, 12345)
      stay.push(name)
    }
  }
  await clearLeftOvers(scratch.dir, Date.now())
  expect(readdirSync(scratch.dir).sort()).toEqual(['precious', ...stay.map((name) => draftName(name, DEAD))].sort())
  expect(readdirSync(scratch.path('precious'))).toHaveLength(2)
})

test('an own folder that somebody gave the name of a left-over keeps what no export writes', async () => {
  using scratch = makeScratch()
  const named = scratch.path(draftName('x', DEAD))
  mkdirSync(named)
  writeFileSync(`${named}/letter.txt`, '')
  mkdirSync(`${named}/photos`)
  await clearLeftOvers(scratch.dir, Date.now())
  expect(readdirSync(named).sort()).toEqual(['letter.txt', 'photos'])
})

test('a link under the name of a left-over is not looked behind', async () => {
  using scratch = makeScratch()
  symlinkSync('/', scratch.path(draftName('x', process.ppid)))
  const began = performance.now()
  await clearLeftOvers(scratch.dir, Date.now())
  expect(performance.now() - began).toBeLessThan(1000)
})

test.each<[string, string, (path: string) => unknown]>([
  ['a pipe', 'is no file', (path) => spawnSync('mkfifo', [path])],
  ['a device without end', 'is no file', (path) => symlinkSync('/dev/zero', path)],
  [
    'a file of a terabyte',
    'holds more than',
    (path) => {
      writeFileSync(path, '')
      truncateSync(path, 2 ** 40)
    },
  ],
])('%s in the place of latest.json or a manifest ends verify and export in words', async (_, why, plant) => {
  using scratch = makeScratch()
  const mirror = makeMirror(...ordinaryRows(3))
  const place = scratch.path('lake')
  const publishing = () => exportSnapshot({ dbPath: mirror.path, out: `${place}/`, redact: [], toolVersion: '0' })
  const { path } = await publishing()
  for (const name of [`${place}/latest.json`, `${path}/_manifest.json`]) {
    rmSync(name)
    plant(name)
  }
  await expect(publishing()).rejects.toMatchObject({
    code: 'snapshot-damaged',
    message: expect.stringContaining(`${place}/latest.json ${why}`),
    hint: expect.stringContaining('remove it'),
  })
  const { problems } = await verifySnapshot(`${place}/`, { deep: false, dbPath: mirror.path })
  expect(problems.map(({ check, message }) => [check, message.includes(why)])).toEqual([
    ['manifest', true],
    ['latest', true],
  ])
})

test.skipIf(uidMissing !== null)(
  `another user's latest.json in a sticky folder: exit 7, and no attempt leaves a copy (${uidMissing ?? 'by setpriv'})`,
  async () => {
    await using stage = await makeStage({ tasks: 20, openFraction: 0 })
    expect((await stage.sync()).code).toBe(0)
    const place = `${stage.dir}/lake`
    expect((await stage.runHere(['export', '--out', `${place}/`])).code).toBe(0)
    const before = readdirSync(place)
    for (const path of [stage.dir, ...['', '-wal', '-shm', '.lock'].map((end) => stage.mirrorPath + end)]) {
      if (existsSync(path)) chownSync(path, 12345, 12345)
    }
    chmodSync(stage.dir, 0o755)
    chmodSync(place, 0o1777)
    chmodSync(`${place}/latest.json`, 0o644)
    for (let n = 0; n < 2; n += 1) {
      const { code, stderr } = await runShell(
        'exec setpriv --reuid=12345 --regid=12345 --clear-groups "$@"',
        ['export', '--out', `${place}/`],
        { cwd: stage.dir, env: { TASK_MIRROR_MIRROR_PATH: stage.mirrorPath } },
      )
      expect(code, stderr).toBe(7)
      expect(stderr).toMatch(/EPERM|EACCES/)
    }
    expect(readdirSync(place)).toEqual(before)
  },
)

const FILES = 5

/** What the other user does at the moment when the first file of a snapshot goes. */
let meanwhile: (() => void) | null = null

vi.mock('node:fs/promises', async (original) => {
  const fs = await original<typeof import('node:fs/promises')>()
  const unlink: typeof fs.unlink = (path) => {
    meanwhile?.()
    meanwhile = null
    return fs.unlink(path)
  }
  return { ...fs, unlink }
})

// Other systems have no path to a folder that is held open.
test.runIf(process.platform === 'linux').each<[string, (shared: string) => Promise<() => Promise<unknown>>]>([
  [
    'a left-over',
    async (shared) => {
      fill(`${shared}/${draftName('x', DEAD)}`, FILES)
      return () => clearLeftOvers(shared, Date.now())
    },
  ],
  [
    'a snapshot that --keep lets go',
    async (shared) => {
      fill(`${shared}/${SNAPSHOT}`, FILES)
      return () => new FolderStore(shared, []).remove(SNAPSHOT)
    },
  ],
  [
    'a snapshot that is given up',
    async (shared) => {
      const publication = await new FolderStore(shared, []).begin(SNAPSHOT)
      for (let n = 0; n < FILES; n += 1) writeFileSync(`${shared}/${readdirSync(shared)[0]}/${partName(n)}`, '')
      return publication.discard
    },
  ],
])('%s that becomes a link while it is removed does not lead to what is behind the link', async (_, begin) => {
  using scratch = makeScratch()
  const [shared, victim] = [scratch.path('shared'), scratch.path('precious')]
  mkdirSync(shared)
  fill(victim, FILES)
  const remove = await begin(shared)
  meanwhile = () => {
    const draft = `${shared}/${readdirSync(shared)[0]}`
    renameSync(draft, `${shared}/aside`)
    symlinkSync(victim, draft)
  }
  await remove().catch(() => {})
  expect(readdirSync(`${shared}/aside`)).toEqual([])
  expect(readdirSync(victim)).toHaveLength(FILES)
})
