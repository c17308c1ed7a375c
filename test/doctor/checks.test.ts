// The decisions of `doctor`, case by case.
import { describe, expect, test } from 'vitest'
import { type Check, wrongBy } from '../../src/doctor/check.ts'
import { habitOf, lastRunCheck, scheduleCheck, verdictCheck } from '../../src/doctor/history-checks.ts'
import {
  diskCheck,
  type FileFacts,
  folderCheck,
  keyFileCheck,
  mirrorFilesCheck,
  nodeCheck,
  walCheck,
} from '../../src/doctor/machine-checks.ts'
import { fileSystemCheck } from '../../src/doctor/mounts.ts'
import { clockCheck, keyCheck, serviceCheck } from '../../src/doctor/service-checks.ts'
import { MirrorError } from '../../src/errors.ts'
import { mountOf } from '../../src/mirror/mounts.ts'
import type { History } from '../../src/mirror/shown/history.ts'
import { makeTimetable } from '../../src/schedule/timetable.ts'
import type { Reached } from '../../src/sync/one-off/reach.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const GIB = 1024 ** 3
const NOW = Date.UTC(2026, 10, 22, 9, 2)

/** Says what to do exactly where something is wrong; notes may. */
function expectState(check: Check | null, state: Check['state'], says: RegExp): void {
  expect(check).toMatchObject({ state, found: expect.stringMatching(says) })
  if (state !== 'note') expect(check!.todo !== null).toBe(state === 'wrong')
}

const file = (given: Partial<FileFacts> = {}): FileFacts => ({
  path: '/srv/tasks/x',
  uid: 1000,
  mode: 0o600,
  kind: 'file',
  isWritable: true,
  ...given,
})

test.each([
  ['22.19.0', 'ok'],
  ['24.21.0', 'ok'],
  ['25.1.0', 'note'],
] as const)('Node %s is %s', (version, state) => expectState(nodeCheck(version, '/usr/bin/node'), state, /usr\/bin/))

const FILE = 'TASK_MIRROR_API_KEY_FILE'
test.each<[string, Parameters<typeof keyFileCheck>[0], Check['state'], RegExp]>([
  ['none', { origin: null, file: null, isWanted: true }, 'note', /without one/],
  ['none, and none wanted', { origin: null, file: null, isWanted: false }, 'ok', /placement is none/],
  ['in a variable', { origin: 'TASK_MIRROR_API_KEY', file: null, isWanted: true }, 'ok', /in TASK_MIRROR_API_KEY/],
  ['0600', { origin: FILE, file: file(), isWanted: true }, 'ok', /mode 0600/],
  ['0640', { origin: FILE, file: file({ mode: 0o640 }), isWanted: true }, 'ok', /mode 0640/],
  ['0644', { origin: FILE, file: file({ mode: 0o644 }), isWanted: true }, 'wrong', /can read the key/],
  ['0602', { origin: FILE, file: file({ mode: 0o602 }), isWanted: true }, 'wrong', /can replace the key/],
  ['of root', { origin: FILE, file: file({ uid: 0 }), isWanted: true }, 'ok', /0600/],
  ['of another user', { origin: FILE, file: file({ uid: 1001 }), isWanted: true }, 'note', /another user/],
  ['a pipe', { origin: FILE, file: file({ kind: 'other', mode: 0o666 }), isWanted: true }, 'ok', /x/],
])('a key file: %s', (_, facts, state, says) => expectState(keyFileCheck(facts, 1000), state, says))

test.each<[string, FileFacts | null, Check['state'], RegExp]>([
  ['is missing', null, 'wrong', /does not exist/],
  ['is a file', file(), 'wrong', /no folder/],
  ['is mine', file({ kind: 'folder', mode: 0o700 }), 'ok', /0700/],
  ['is shared with a group', file({ kind: 'folder', mode: 0o770 }), 'ok', /0770/],
  ['cannot be written', file({ kind: 'folder', mode: 0o755, isWritable: false }), 'wrong', /cannot be written/],
  ['can be written by everybody', file({ kind: 'folder', mode: 0o777 }), 'wrong', /delete or replace/],
])('a folder that %s', (_, facts, state, says) => expectState(folderCheck('/srv/tasks', facts), state, says))

test.each<[string, Partial<FileFacts>[], RegExp | null]>([
  ['all as they should be', [{}, { path: '/srv/tasks/x-wal' }], null],
  ['readable by a group', [{ mode: 0o640 }], null],
  ['a link in the place of the WAL', [{}, { path: '/srv/tasks/x-wal', kind: 'other' }], /x-wal is no regular file/],
  ['a WAL that sudo left', [{}, { path: '/srv/tasks/x-wal', uid: 0, isWritable: false }], /x-wal .* belongs to uid 0/],
  ['of another user', [{ isWritable: false }], /cannot be written/],
  ['readable by everybody', [{ mode: 0o644 }, { path: '/srv/tasks/x-wal', mode: 0o604 }], /can read .*x-wal/],
  ['writable by everybody', [{ mode: 0o646 }], /can change/],
])('files of a mirror: %s', (_, given, says) => {
  const check = mirrorFilesCheck(given.map(file))
  if (says === null) expect(check).toBeNull()
  else expectState(check, 'wrong', says)
})

const MOUNTS = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 27 0:50 / /srv rw - xfs /dev/vdb rw
41 40 0:51 / /srv/shared\\040files rw shared:7 master:1 - nfs4 nas:/tasks rw
42 27 0:52 / /data rw - ext4 /dev/vdc rw
43 27 0:53 / /data rw - tmpfs tmpfs rw
a line that is none
`
test.each([
  ['/home/me', 'ext4'],
  ['/srv', 'xfs'],
  ['/srv/tasks', 'xfs'],
  ['/srvother', 'ext4'],
  ['/srv/shared files/tasks', 'nfs4'],
  ['/data/x', 'tmpfs'],
])('%s lies on %s', (path, type) => expect(mountOf(MOUNTS, path)?.type).toBe(type))

test('what is no table of mounts holds nothing', () => expect(mountOf('what\n - \n', '/')).toBeNull())

test.each<[string, Check['state']]>([
  ...['ext4', 'xfs', 'btrfs', 'zfs', 'apfs', 'fuseblk'].map((type): [string, 'ok'] => [type, 'ok']),
  ...['tmpfs', 'overlay', 'virtiofs', 'fuse.gocryptfs', 'something-new'].map((type): [string, 'note'] => [
    type,
    'note',
  ]),
  ...['nfs', 'nfs4', 'cifs', 'smb3', '9p', 'fuse.sshfs', 'fuse.rclone', 'ceph', 'lustre'].map(
    (type): [string, 'wrong'] => [type, 'wrong'],
  ),
])('a mirror on %s is %s', (type, state) =>
  expectState(fileSystemCheck({ type, mountPoint: '/srv' }), state, new RegExp(`^${type}`)),
)

test('where the system does not say, nothing is claimed', () => {
  expectState(fileSystemCheck(null), 'note', /does not say/)
  expectState(diskCheck(null), 'note', /does not say/)
})

test.each<[string, number, number | null, number, Check['state']]>([
  ['much', 100 * GIB, 1e6, 10 * GIB, 'ok'],
  ['less than the mirror', 5 * GIB, 1e6, 10 * GIB, 'note'],
  ['less than a tenth of the mirror', GIB, 1e6, 10 * GIB, 'wrong'],
  ['next to nothing, no mirror yet', 1e6, 1e6, 0, 'wrong'],
  ['much, but no inodes', 100 * GIB, 3, 0, 'wrong'],
  ['much, inodes not counted', 100 * GIB, null, 0, 'ok'],
])('room: %s', (_, freeBytes, freeFiles, mirrorBytes, state) =>
  expectState(diskCheck({ freeBytes, freeFiles, mirrorBytes }), state, /./),
)

test('a WAL is wrong from 64 MiB on, and whoever has it open is named', () => {
  expectState(walCheck(64 * 1024 ** 2, [{ pid: 7, name: 'python3' }], '/m'), 'ok', /67.1 MB/)
  expectState(walCheck(80e6, null, '/m'), 'wrong', /80 MB: a reader/)
  expectState(walCheck(80e6, [], '/m'), 'wrong', /80 MB: a reader/)
  expectState(walCheck(80e6, [{ pid: 7, name: 'python3' }], '/m'), 'wrong', /open in python3 \(process 7\)/)
})

const error = (code: 'key-refused' | 'service-unreachable' | 'wait-too-long') =>
  new MirrorError(code, `It was ${code}`, { hint: 'Do something.' })
const listed = { kind: 'ok', items: 1, firstId: 'a' } as const
const reached = (given: Partial<Reached>): Reached => ({
  list: listed,
  get: listed,
  skew: null,
  tookMs: 12.4,
  ...given,
})

describe('the service and the key', () => {
  test.each<[string, Partial<Reached>, Check['state'], Check['state']]>([
    ['answers', {}, 'ok', 'ok'],
    [
      'lists nothing',
      { list: { kind: 'ok', items: 0, firstId: null }, get: { kind: 'refused', httpStatus: 404, message: '' } },
      'ok',
      'ok',
    ],
    ['refuses the key', { list: { kind: 'key-refused', error: error('key-refused') }, get: null }, 'ok', 'wrong'],
    ['refuses it for single tasks', { get: { kind: 'key-refused', error: error('key-refused') } }, 'ok', 'wrong'],
    ['forbids single tasks', { get: { kind: 'refused', httpStatus: 403, message: 'no' } }, 'ok', 'wrong'],
    ['has lost the task', { get: { kind: 'refused', httpStatus: 404, message: 'gone' } }, 'ok', 'note'],
    ['fails for single tasks', { get: { kind: 'failed', httpStatus: null, message: 'late' } }, 'ok', 'note'],
    [
      'knows no such path',
      { list: { kind: 'refused', httpStatus: 404, message: 'what?' }, get: null },
      'wrong',
      'note',
    ],
    ['is strained', { list: { kind: 'failed', httpStatus: 503, message: 'busy' }, get: null }, 'wrong', 'note'],
    ['is not there', { list: { kind: 'error', error: error('service-unreachable') }, get: null }, 'wrong', 'note'],
    ['asks to wait', { list: { kind: 'error', error: error('wait-too-long') }, get: null }, 'wrong', 'note'],
  ])('where it %s', (_, given, service, key) => {
    expectState(serviceCheck('https://a.example', reached(given)), service, /./)
    for (const hasKey of [true, false]) expectState(keyCheck(hasKey, reached(given)), key, /./)
  })

  test.each([
    [204, /^An account that has no task yet may be answered so\. Check service\.baseUrl, /],
    [404, /^Check service\.baseUrl, /],
  ])('a list refused with %d is told what to do', (httpStatus, todo) => {
    const list = { kind: 'refused', httpStatus, message: `HTTP ${httpStatus}` } as const
    expect(serviceCheck('https://a.example', reached({ list, get: null })).todo).toMatch(todo)
  })

  test('what the service says passes for no line of its own', () => {
    const said = {
      kind: 'failed',
      httpStatus: 500,
      message: `no\nok     key  accepted\u2028\u0085${'x'.repeat(1000)}`,
    } as const
    const { found } = serviceCheck('https://a.example', reached({ list: said, get: null }))
    expect(found).not.toMatch(/[\n\u2028\u0085]/)
    expect(found.length).toBeLessThanOrEqual(400)
  })

  test('a password in a URL is not shown, neither in what was found nor in what to do', () => {
    const path = 'https://me:sEcrEt@host/x'
    const named = new MirrorError('config-invalid', `${path} cannot be read`, { hint: `Check ${path}.` })
    expect(wrongBy('configuration', named)).toMatchObject({
      found: 'https://[masked]@host/x cannot be read',
      todo: 'Check https://[masked]@host/x.',
    })
  })
})

test.each<[string, Reached['skew'], Check['state'], RegExp]>([
  ['no Date', null, 'note', /not compared/],
  ['as good as none', { aheadMs: 900, uncertainMs: 600 }, 'ok', /agrees/],
  ['ours behind', { aheadMs: 2 * HOUR, uncertainMs: 600 }, 'wrong', /2h behind the service/],
  ['ours ahead', { aheadMs: -5 * MINUTE, uncertainMs: 600 }, 'wrong', /5m ahead of the service/],
  ['a slow answer', { aheadMs: 35_000, uncertainMs: 9_000 }, 'ok', /agrees/],
])('clocks: %s', (_, skew, state, says) => expectState(clockCheck({ skew }), state, says))

const every = (gap: number, from: number, count = 12) => Array.from({ length: count }, (_, index) => from - index * gap)

test.each<[string, number[], number | null]>([
  ['every five minutes', every(5 * MINUTE, NOW), 5 * MINUTE],
  ['too few', every(5 * MINUTE, NOW, 10), null],
  ['quicker than cron', every(5000, NOW, 20), null],
  [
    'by hand',
    [
      NOW,
      NOW - HOUR,
      NOW - HOUR - 1000,
      NOW - 30 * HOUR,
      NOW - 31 * HOUR,
      NOW - 90 * HOUR,
      NOW - 91 * HOUR,
      ...every(24 * HOUR, NOW - 200 * HOUR, 4),
      ...every(MINUTE, NOW - 400 * HOUR, 4),
    ],
    null,
  ],
  ['with one night off', [...every(HOUR, NOW), ...every(HOUR, NOW - 30 * HOUR)], HOUR],
])('runs that come %s', (_, starts, habit) => expect(habitOf(starts)).toBe(habit))

const hourly = makeTimetable('0 * * * *', 'UTC', 'schedule.sync')
test.each<[string, Partial<Parameters<typeof scheduleCheck>[0]>, Check['state'], RegExp]>([
  ['no run', { starts: [] }, 'note', /no run of sync/],
  ['just now', { starts: [NOW - MINUTE], timetable: hourly }, 'ok', /1m ago/],
  ['one moment missed, which has just passed', { starts: [NOW - 62 * MINUTE], timetable: hourly }, 'ok', /ago/],
  [
    'two moments missed',
    { starts: [NOW - 63 * MINUTE], timetable: hourly },
    'wrong',
    /schedule.sync wanted one 1h 2m ago/,
  ],
  ['dated in the future', { starts: [NOW + HOUR], timetable: hourly }, 'wrong', /future/],
  ['under way or killed', { starts: [NOW - 9 * HOUR], isUnfinished: true, timetable: hourly }, 'note', /has not ended/],
  ['nobody knows when', { starts: [NOW - 900 * HOUR] }, 'ok', /not known/],
  ['as they always came', { starts: every(5 * MINUTE, NOW - 9 * MINUTE) }, 'ok', /about every 5m/],
  [
    'not as they always came',
    { starts: every(5 * MINUTE, NOW - 16 * MINUTE) },
    'wrong',
    /before, they came about every 5m/,
  ],
])('the schedule: %s', (_, given, state, says) => {
  const facts = { starts: [], isUnfinished: false, timetable: null, now: NOW, settleMs: MINUTE, ...given }
  expectState(scheduleCheck(facts), state, says)
})

const run = (given: Partial<NonNullable<History['lastRun']>>) => ({
  id: 7,
  command: 'sync',
  startedAt: NOW - MINUTE,
  finishedAt: NOW - 1000,
  exitCode: 0,
  error: null,
  errorCode: null,
  rejected: 0,
  ...given,
})
test.each<[string, History['lastRun'], Check['state'], RegExp]>([
  ['none', null, 'note', /none yet/],
  ['well', run({}), 'ok', /run 7 \(sync\) ended well 1s ago/],
  ['not ended', run({ finishedAt: null, exitCode: null }), 'note', /has not ended/],
  ['stopped', run({ exitCode: 143 }), 'note', /exit 143/],
  ['out of time', run({ exitCode: 4, error: 'why', errorCode: 'duration-reached' }), 'note', /exit 4 .*: why$/],
  ...[1, 2, 3, 4, 5, 7, 99].map(
    (exitCode) =>
      [`exit ${exitCode}`, run({ exitCode, error: 'why' }), 'wrong', /: why$/] as [
        string,
        History['lastRun'],
        'wrong',
        RegExp,
      ],
  ),
])('the last run: %s', (_, last, state, says) => expectState(lastRunCheck(last, NOW, MINUTE), state, says))

test.each([0, 2])('what was set aside is spoken of where something was: %i', (rejected) => {
  const { todo } = lastRunCheck(run({ exitCode: 3, rejected }), NOW, MINUTE)
  expect(todo?.includes('task-mirror rejected')).toBe(rejected > 0)
})

test.each<[string, History['lastFullWalk'], Check['state'], RegExp]>([
  ['none', null, 'note', /no full walk/],
  [
    'complete',
    { id: 1, verdict: 'complete', reason: null, startedAt: 0, finishedAt: 0 },
    'ok',
    /complete; the mirror is as of 5m ago/,
  ],
  [
    'partial',
    { id: 1, verdict: 'partial', reason: 'page-of-one', startedAt: 0, finishedAt: 0 },
    'wrong',
    /page-of-one/,
  ],
])('the verdict: %s', (_, lastFullWalk, state, says) => {
  const history = { lastFullWalk, freshAt: NOW - 5 * MINUTE } as History
  expectState(verdictCheck(history, NOW, MINUTE), state, says)
})
