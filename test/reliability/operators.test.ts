// Issue 5: careless operators. Wrong values and names in the configuration, files that are no mirror, places that cannot be
// written, odd environments: refused in words or of no effect, and nobody's file is touched.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { environmentName, KEYS } from '../../src/config/keys.ts'
import { loadConfig } from '../../src/config/load.ts'
import { schemaOfKey } from '../../src/config/schema.ts'
import { MirrorError } from '../../src/errors.ts'
import { makeStage, type Stage } from '../acceptance/stage.ts'
import { makeScratch } from '../support/scratch.ts'
import { few, SOAK } from '../support/soak.ts'
import { runShell, runShellInTurn, uidMissing } from './shell.ts'
import { makeSmallDisk, smallDiskMissing } from './small-disk.ts'

interface Manifest {
  files: { path: string; rows: number }[]
}

const WRONG = [{}, [], [7], true, false, null, '', 'hunter2 ~', -1, 0.5, 1e300, { a: 'hunter2' }, ['']]

function refusalOf(load: () => unknown): string {
  try {
    load()
  } catch (error) {
    expect(error).toBeInstanceOf(MirrorError)
    expect(error).toMatchObject({ code: 'config-invalid', hint: expect.stringMatching(/\w/) })
    return (error as MirrorError).message
  }
  return ''
}

function nested(key: string, value: unknown): object {
  return key.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object
}

function loadFile(content: object): string {
  using scratch = makeScratch()
  writeFileSync(scratch.path('c.json'), JSON.stringify(content))
  return refusalOf(() => loadConfig({ file: scratch.path('c.json'), env: {}, overrides: [] }))
}

/** Keys where a secret may stand, in its place or by mistake. */
const HUSHED =
  /^service\.(baseUrl|proxy|auth\.\w+)$|^schedule\.hosts$|^notify\.(\w*healthcheckUrl|insecureHosts)$|^export\.(s3\.insecureHosts|redactHeaders)$/i

describe('the configuration', () => {
  test.for(KEYS)('%s refuses every wrong value by name, and repeats none that may be a secret', (key) => {
    const isShown = (value: unknown) => typeof value === 'string' && value !== '' && !HUSHED.test(key)
    const wrong = WRONG.filter((value) => !schemaOfKey(key).safeParse(value).success)
    expect(wrong.length).toBeGreaterThan(4)
    for (const value of wrong) {
      const said = loadFile(nested(key, value))
      expect(said, JSON.stringify(value)).toContain(`${key}`)
      expect(said, JSON.stringify(value)).toMatch(/expected .*, got /)
      expect(said.includes('hunter2')).toBe(isShown(value))
    }
    const name = environmentName(key)
    for (const value of wrong) {
      // A single text is a list of one there.
      if (typeof value !== 'string' || value === '' || schemaOfKey(key).safeParse([value]).success) continue
      const said = refusalOf(() => loadConfig({ file: null, env: { [name]: value }, overrides: [] }))
      expect(said).toMatch(new RegExp(`^${name}: expected `))
      expect(said.includes('hunter2')).toBe(isShown(value))
    }
  })

  test.for(KEYS)('a misspelt %s is refused with the right name', (key) => {
    const section = key.slice(0, key.lastIndexOf('.') + 1)
    const name = key.slice(section.length)
    for (const misspelt of [`${name}s`, name.toUpperCase(), `${name.slice(0, -1)}`]) {
      if (misspelt === name || KEYS.includes(section + misspelt)) continue
      const said = loadFile(nested(section + misspelt, 1))
      expect(said).toContain(`${section}${misspelt}: there is no such key`)
      if (name.length > 3) expect(said, misspelt).toContain('did you mean')
      if (name.length > 6) expect(said, misspelt).toContain(`did you mean ${key}?`)
    }
  })

  test('what only the whole can refuse is exit 2 before anything is sent', async () => {
    await using stage = await makeStage({ tasks: 10 })
    const far = 'http://tasks.example.com'
    const cases: [string[], Record<string, string>, RegExp][] = [
      [['schedule', '--sync', 'every day'], {}, /cron/i],
      [['schedule', '--listen', '127.0.0.1:99999'], {}, /listen|port/i],
      [['sync', '--base-url', far], { TASK_MIRROR_API_KEY: 'hunter2' }, /unencrypted/],
      [['sync'], { TASK_MIRROR_API_KEY: 'hunter2\r\nx-evil: 1' }, /line break/],
      [['sync'], { TASK_MIRROR_API_KEY: 'hunter2\u0007' }, /control character/],
      [['sync'], { TASK_MIRROR_API_KEY: 'hunter2', TASK_MIRROR_API_KEY_FILE: '/k' }, /both set/],
      [['sync'], { TASK_MIRROR_API_KEY_FILE: stage.dir }, /EISDIR/],
      [['sync', '--config', stage.dir], {}, /EISDIR/],
      [['status', '--config', 'nowhere.json'], {}, /ENOENT/],
    ]
    for (const [args, env, says] of cases) {
      const { code, stdout, stderr } = await stage.runHere(args, env)
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
      expect(stderr).toMatch(says)
      expect(stderr).not.toContain('hunter2')
    }
    expect(stage.simulator.requests).toBe(0)
    expect(readdirSync(stage.dir)).toEqual([])
  })
})

const READING = [['status'], ['export', '--out', '-'], ['verify'], ['get', 'x'], ['rejected'], ['report', '--out', '-']]
const WRITING = [['sync'], ['backfill'], ['prune', '--deleted-before', '1d'], ['rejected', '--replay'], ['probe']]

describe('a file that is no mirror', () => {
  test.concurrent.for<[string, (path: string) => void, RegExp]>([
    ['a text file', (path) => writeFileSync(path, 'dear diary\n'), /not a SQLite database/],
    ['a directory', (path) => mkdirSync(path), /not a file/],
    ['a database of another program', makeOther, /another program/],
    ['a database of another program in WAL mode', (path) => makeOther(path, 'WAL'), /another program/],
  ])('%s is refused by every command and left as it is, byte for byte', async ([what, make, says]) => {
    await using stage = await makeStage({ tasks: 10 })
    const path = join(stage.dir, 'precious.db')
    make(path)
    const before = pictureOf(stage.dir)
    // To read it, to write it, and in another process.
    const lines = [...READING, ...WRITING, ['copy', '--out', join(stage.dir, 'copy.db')]]
    for (const args of few(lines, ([name]) => what.includes('WAL') || ['status', 'sync', 'copy'].includes(name!))) {
      const { code, stderr } = await stage.runHere([...args, '--db', path])
      expect({ args, code, stderr }).toEqual({ args, code: 7, stderr: expect.stringMatching(says) })
      expect(pictureOf(stage.dir), args.join(' ')).toEqual(before)
    }
    expect(stage.simulator.requests).toBe(0)
  })

  test.concurrent('no mirror is made under the name of a file that lies beside one, and none of these is written to', async () => {
    await using stage = await makeStage({ tasks: 10 })
    expect((await stage.sync()).code).toBe(0)
    const asked = stage.simulator.requests
    const before = pictureOf(stage.dir)
    for (const ending of ['-wal', '-shm', '-journal', '.lock', '.holder']) {
      for (const args of few([['sync'], ['rejected', '--replay'], ['probe']], ([name]) => name === 'sync')) {
        const { code, stderr } = await stage.runHere([...args, '--db', stage.mirrorPath + ending])
        expect({ args, ending, code, stderr }).toMatchObject({
          code: 7,
          stderr: expect.stringContaining('no name for a mirror'),
        })
      }
    }
    expect(pictureOf(stage.dir)).toEqual(before)
    expect(stage.simulator.requests).toBe(asked)
  })

  test.concurrent('a mirror of a newer program is refused by every command and left as it is', async () => {
    await using stage = await makeStage({ tasks: 10 })
    expect((await stage.sync()).code).toBe(0)
    const db = new Database(stage.mirrorPath)
    db.pragma('user_version = 999')
    db.pragma('wal_checkpoint(TRUNCATE)')
    db.close()
    const before = readFileSync(stage.mirrorPath)
    const asked = stage.simulator.requests
    const lines = [...READING, ...WRITING, ['copy', '--out', join(stage.dir, 'copy.db')]]
    for (const args of few(lines, ([name]) => ['status', 'sync', 'copy', 'verify'].includes(name!))) {
      const { code, stderr } = await stage.runHere(args)
      expect({ args, code, stderr }).toEqual({ args, code: 7, stderr: expect.stringMatching(/newer task-mirror/) })
      expect(readFileSync(stage.mirrorPath).equals(before), args.join(' ')).toBe(true)
    }
    expect(stage.simulator.requests).toBe(asked)
  })
})

function makeOther(path: string, mode = 'DELETE'): void {
  const db = new Database(path)
  db.pragma(`journal_mode = ${mode}`)
  db.exec("CREATE TABLE tasks (id TEXT, precious TEXT); INSERT INTO tasks VALUES ('1', 'photo')")
  db.close()
}

/** Every name in the folder with its mode, and the bytes of every file. */
function pictureOf(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => {
      const stat = statSync(join(folder, name))
      const bytes = stat.isFile() ? readFileSync(join(folder, name)) : 'folder'
      return [name, `${stat.mode} ${stat.mtimeMs} ${createHash('sha256').update(bytes).digest('hex')}`]
    }),
  )
}

describe('places that cannot be written', () => {
  test.skipIf(smallDiskMissing !== null)(
    `a read-only mount (${smallDiskMissing ?? 'tmpfs'}) is exit 7 with a hint, and a copy can be read there`,
    async () => {
      using disk = makeSmallDisk('16m')
      await using stage = await makeStage({ tasks: 200, openFraction: 0 })
      const db = disk.path('mirror.sqlite')
      expect(await stage.runHere(['sync', '--db', db])).toMatchObject({ code: 0 })
      const copy = disk.path('copy.sqlite')
      expect(await stage.runHere(['copy', '--db', db, '--out', copy])).toMatchObject({ code: 0 })
      // The last writer takes the files with it that readers share; they could not make them here.
      expect(await stage.runHere(['sync', '--db', db])).toMatchObject({ code: 0 })
      disk.makeReadOnly()
      expect(await stage.runHere(['sync', '--db', db])).toMatchObject({
        code: 7,
        stderr: expect.stringMatching(/Check the owner and mode .* the mount is writable.*cannot be written/),
      })
      for (const args of [['status'], ['prune', '--deleted-before', '1d'], ['export', '--out', '-']]) {
        expect(await stage.runHere([...args, '--db', db])).toMatchObject({
          code: 7,
          stderr: expect.stringMatching(
            /task-mirror copy.*what changes the mirror has to run there.*its folder cannot be written/,
          ),
        })
      }
      expect(await stage.runHere(['status', '--db', copy])).toMatchObject({ code: 0 })
      const exported = await stage.runHere(['export', '--db', copy, '--out', '-', '--quiet'])
      expect(exported.stdout.split('\n')).toHaveLength(201)
    },
  )

  test.skipIf(smallDiskMissing !== null)(
    `a file that is mounted by itself (${smallDiskMissing ?? 'bind'}), as into a container, is exit 7, and doctor says so`,
    async () => {
      using disk = makeSmallDisk('16m')
      await using stage = await makeStage({ tasks: 200, openFraction: 0 })
      expect(await stage.sync()).toMatchObject({ code: 0 })
      for (const [name, of] of [
        ['mirror.sqlite', stage.mirrorPath],
        ['new.sqlite', join(stage.dir, 'new.sqlite')],
      ] as const) {
        const at = disk.path(name)
        for (const file of [at, of]) writeFileSync(file, '', { flag: 'a' })
        expect(spawnSync('mount', ['--bind', of, at]).status).toBe(0)
        try {
          const says = expect.stringMatching(/Mount the folder.*not written to: it is mounted by itself/)
          expect(await stage.runHere(['sync', '--db', at])).toMatchObject({ code: 7, stderr: says })
          if (of !== stage.mirrorPath) continue
          const { code, stdout } = await stage.runHere(['doctor', '--db', at])
          expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringMatching(/wrong +mirror .*by itself/) })
        } finally {
          spawnSync('umount', [at])
        }
      }
    },
  )

  test.skipIf(uidMissing !== null)(
    `folders of others (${uidMissing ?? 'another uid'}) are exit 7 with a hint`,
    async () => {
      await using stage = await makeStage({ tasks: 200, openFraction: 0 })
      expect(await stage.sync()).toMatchObject({ code: 0 })
      chmodSync(stage.dir, 0o755)
      for (const [args, says] of [
        [['sync', '--db', join(stage.dir, 'new.sqlite')], /cannot be written/],
        [['sync'], /cannot be (read|written)/],
        [['status'], /mirror-unreadable.*cannot be read: permission denied/],
      ] as const) {
        const { code, stderr } = await asOther(stage, args)
        expect({ args, code, stderr }).toEqual({ args, code: 7, stderr: expect.stringMatching(says) })
        expect(stderr).toMatch(/Check the (disk|owner)/)
      }
      // The mirror may be read, but not the files made that its readers share.
      const lent = join(stage.dir, 'lent/mirror.sqlite')
      mkdirSync(join(stage.dir, 'lent'), { mode: 0o755 })
      copyFileSync(stage.mirrorPath, lent)
      chmodSync(lent, 0o644)
      for (const args of few([['status'], ['verify'], ['export', '--out', '-']], (_, n) => n === 0)) {
        expect(await asOther(stage, [...args, '--db', lent])).toMatchObject({
          code: 7,
          stderr: expect.stringMatching(/mirror-unreadable.*task-mirror copy.*its folder cannot be written/),
        })
      }
      // A folder that may not even be looked into, as that of a service's own user.
      mkdirSync(join(stage.dir, 'closed'), { mode: 0o700 })
      const { code, stderr } = await asOther(stage, ['status', '--db', join(stage.dir, 'closed/mirror.sqlite')])
      expect({ code, stderr }).toEqual({
        code: 7,
        stderr: expect.stringMatching(/closed.mirror.sqlite cannot be read: permission denied/),
      })
    },
  )

  test.skipIf(uidMissing !== null)(
    `a uid without a name, without HOME (${uidMissing ?? '12345'}) does everything in a folder of its own`,
    async () => {
      await using stage = await makeStage({ tasks: 200, openFraction: 0 })
      chmodSync(stage.dir, 0o700)
      chownSync(stage.dir, 12345, 0)
      const more = SOAK ? ['status', 'verify', 'export --out tasks.parquet', 'report'] : []
      const lines = ['sync', 'export --out lake/', 'copy --out copy.sqlite', ...more]
      await runShellInTurn(OTHER, lines, optionsOf(stage))
    },
  )
})

const OTHER = 'exec setpriv --reuid=12345 --regid=12345 --clear-groups "$@"'

function optionsOf(stage: Stage) {
  return {
    cwd: stage.dir,
    env: { TASK_MIRROR_BASE_URL: stage.simulator.url, TASK_MIRROR_MIRROR_PATH: stage.mirrorPath },
  }
}

function asOther(stage: Stage, args: readonly string[]) {
  return runShell(OTHER, args, optionsOf(stage))
}

describe('odd environments', () => {
  test.concurrent.for(few(['0000', '0077', '0777', '0277'], (umask) => umask === '0000' || umask === '0777'))(
    'umask %s: every file is 0600 and every folder 0700',
    async (umask) => {
      await using stage = await makeStage({ tasks: 200, openFraction: 0 })
      // What cannot even be read by its owner is in the way of a mirror and of folders first.
      const lines = [
        'sync',
        'export --out lake/ --partition-by month',
        'export --out tasks.ndjson',
        'copy --out copy.sqlite',
        'report',
      ]
      await runShellInTurn(
        `umask ${umask}; exec "$@"`,
        few(lines, (_, n) => umask === '0000' || n < 2),
        optionsOf(stage),
      )
      const modes = readdirSync(stage.dir, { recursive: true, encoding: 'utf8' }).map((name) => {
        const stat = statSync(join(stage.dir, name))
        return `${(stat.mode & 0o777).toString(8)} ${stat.isDirectory() ? 'folder' : 'file'}`
      })
      expect(new Set(modes)).toEqual(new Set(['600 file', '700 folder']))
    },
  )

  test.concurrent('TZ, LC_ALL and HOME change no byte of what is published', async () => {
    await using stage = await makeStage({ tasks: 300, openFraction: 0 })
    expect(await stage.sync()).toMatchObject({ code: 0 })
    const worlds: Record<string, string>[] = [
      { TZ: 'UTC', LC_ALL: 'C', HOME: '' },
      // West of Greenwich: what comes soon after midnight there belongs to the day before.
      { TZ: 'America/St_Johns', LC_ALL: 'tr_TR.UTF-8', HOME: '/nonexistent' },
      ...(SOAK
        ? [
            { TZ: 'Pacific/Auckland', LC_ALL: 'C', LANG: '', HOME: '' },
            { TZ: 'nonsense', LC_ALL: 'nonsense' },
          ]
        : []),
    ]
    const seen = new Set<string>()
    for (const [n, env] of worlds.entries()) {
      const [lines, lake, get] = await runShellInTurn(
        'exec "$@"',
        [
          'export --out - --quiet',
          `export --out lake${n}/ --partition-by day --json`,
          `get ${stage.value<string>('SELECT min(id) FROM tasks')}`,
        ],
        { cwd: stage.dir, env },
      )
      const { path } = JSON.parse(lake!) as { path: string }
      // Of every folder its rows: the same days may have others.
      const { files } = JSON.parse(readFileSync(join(path, '_manifest.json'), 'utf8')) as Manifest
      const days = files.map(({ path: file, rows }) => `${file} ${rows}`).sort()
      seen.add(JSON.stringify([lines, days, get]))
    }
    expect(seen.size).toBe(1)
  })

  test.concurrent('a reader that has gone ends every command quietly with exit 0', async () => {
    // More than a pipe holds.
    await using stage = await makeStage({ tasks: 400, openFraction: 0 })
    expect((await stage.sync()).code).toBe(0)
    const gone = '{ "$@"; echo "exit $?" >&2; } | head -c 1 >/dev/null'
    const options = { cwd: stage.dir, env: { TASK_MIRROR_QUIET: '1' } }
    const lines = ['export --out - --no-redact', 'status --json', 'config show', '--help', 'report --out -']
    // By a thread in pieces, and at once.
    for (const line of few(lines, (_, n) => n < 2)) {
      const { stderr } = await runShell(gone, line.split(' '), options)
      expect({ line, stderr }).toEqual({ line, stderr: 'exit 0\n' })
    }
    const closed = await runShell('"$@" >&-; echo "exit $?"', ['status'], options)
    expect(closed.stdout).toBe('exit 0\n')
  })
})
