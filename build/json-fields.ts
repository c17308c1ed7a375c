// What every field of the `--json` objects means: the words of docs/json.md. The types of what is printed are held against
// them: a field without a line, a line without a field, another type or unit does not compile (`npm run types`).

import type { runDemo } from '../src/commands/demo-steps.ts'
import type { shownKeys } from '../src/config/show.ts'
import type { Check } from '../src/doctor/check.ts'
import type { CopyResult } from '../src/export/copy.ts'
import { COMPRESSIONS } from '../src/export/encode/compression.ts'
import { FORMAT_NAMES } from '../src/export/formats.ts'
import type { ExportResult } from '../src/export/options.ts'
import type { DiskUse } from '../src/export/publish/disk-use.ts'
import type { SnapshotVerified } from '../src/export/verify/verify.ts'
import type { ProofVerified } from '../src/mirror/maintenance/proof.ts'
import type { PruneResult } from '../src/mirror/maintenance/prune.ts'
import type { Restored } from '../src/mirror/maintenance/restore.ts'
import type { MirrorVerified } from '../src/mirror/maintenance/verify.ts'
import type { MirrorStatus } from '../src/mirror/shown/status.ts'
import type { SetAsideList } from '../src/mirror/tables/set-aside.ts'
import type { readTask } from '../src/mirror/tables/tasks.ts'
import { listed } from '../src/shown.ts'
import type { RunSummary } from '../src/sync/conclude.ts'
import type { ReplayResult } from '../src/sync/one-off/replay.ts'
import type { ServiceVerified } from '../src/sync/one-off/verify.ts'
import type { ProbeResult, QUESTIONS } from '../src/sync/probe/probe.ts'

/** By path, such as `walks[].verdict`; `*` stands for any name. `type (unit) or null or absent: meaning`. */
export type JsonFields = Record<string, string>

type Unit<Name> = Name extends `${string}Ms`
  ? ' (ms)'
  : Name extends `${string}At`
    ? ' (epoch ms)'
    : Name extends 'bytes' | `${string}Bytes`
      ? ' (bytes)'
      : '' | ' (epoch ms)' | ' (share)'
type Kind<T, Name> = unknown extends T
  ? 'any'
  : T extends readonly (infer Each)[]
    ? `array of ${Kind<Each, ''>}`
    : T extends string
      ? 'string'
      : T extends number
        ? `number${Unit<Name>}`
        : T extends boolean
          ? 'boolean'
          : 'object'
type Known<T> = unknown extends T ? T : Exclude<T, null | undefined>
type OrNull<T> = unknown extends T ? '' : null extends T ? ' or null' : ''
type OrAbsent<T> = unknown extends T ? '' : undefined extends T ? ' or absent' : ''
type Line<T, Name> = `${Kind<Known<T>, Name>}${OrNull<T>}${OrAbsent<T>}: ${string}`
/** `[path, line]` of what is inside a value: names that may all be absent are `*`. */
type Inside<T, Path extends string> = T extends readonly (infer Each)[]
  ? Inside<Each, `${Path}[]`>
  : T extends object
    ? Record<never, never> extends T
      ? Entry<Exclude<T[keyof T], undefined>, '*', Path>
      : { [Name in keyof T & string]: Entry<T[Name], Name, Path> }[keyof T & string]
    : never
type Entry<T, Name extends string, Path extends string> =
  | [Path extends '' ? Name : `${Path}.${Name}`, Line<T, Name>]
  | Inside<Known<T>, Path extends '' ? Name : `${Path}.${Name}`>
type Lines<T> =
  Inside<T, ''> extends infer All
    ? {
        [One in All as One extends [infer Path extends string, string] ? Path : never]: One extends [string, infer Text]
          ? Text
          : never
      }
    : never

const fields = <T>(lines: Lines<T>): JsonFields => lines as object as JsonFields

type Versioned<T> = { schemaVersion: 1 } & T

const VERSION = { schemaVersion: 'number: 1' } as const
const LAST_FULL_WALK = {
  lastFullWalk: 'object or null: the last full walk that ended, in whichever run; null: none yet',
  'lastFullWalk.id': 'number: `id` of the table `walks`',
  'lastFullWalk.verdict': 'string: `complete` or `partial`',
  'lastFullWalk.reason': 'string or null: why it is partial, a stable code',
  'lastFullWalk.startedAt': 'number (epoch ms): when it began',
  'lastFullWalk.finishedAt': 'number (epoch ms): when it ended',
} as const
const SNAPSHOT_KIND = 'string: `full` or `changes`'

interface Chapter {
  /** Commands, with the flags that make it another object. */
  title: string
  /** What is to be known of the object as a whole. */
  about?: string
  fields: JsonFields
}

const run: Chapter = {
  title: 'sync, backfill',
  about:
    'Printed however the run ended, but not where it was refused before it began: wrong usage, a locked or damaged mirror. Counts are those of this run.',
  fields: fields<RunSummary & { dryRun?: true }>({
    ...VERSION,
    runId: 'number: `id` of the table `runs`; a dry run has no row there',
    command: 'string: `sync` or `backfill`',
    plan: 'array of string: the steps in their order, such as `full`, `head`, `tail`, `range`, `ids`, `refetch`, `open`, `details`, `deletions`',
    outcome: 'string: `ok`, `partial` (exit 3, whatever the verdict), `failed` or `interrupted`',
    verdict: 'string or null: what its walks prove: `complete` or `partial`; null where none ended',
    range: 'object: bounds of `createdAt` that the run was about, half-open',
    'range.since': 'number (epoch ms) or null: the first moment in it; null: no bound',
    'range.until': 'number (epoch ms) or null: the first moment behind it; null: no bound',
    ...LAST_FULL_WALK,
    order:
      'string or null: order of the list as known: `created_desc`, `created_asc`, `id_asc`, `id_desc`, `updated_desc` or `none`; null: not known yet',
    requests: 'number: requests sent, retries included',
    retries: 'number: of these, repeated ones',
    windows: 'number: windows of the list that were committed',
    details: 'number: details asked for',
    seen: 'number: items met, each once',
    inserted: 'number: new tasks',
    updated: 'number: changed tasks; one that is new and changes within the run, as by its detail, counts as both',
    unchanged: 'number: tasks met with the content that the mirror had; one that its detail confirms counts again',
    deleted: 'number: tombstones made',
    restored: 'number: tombstones taken back',
    rejected: 'number: items newly set aside',
    openTasks: 'number: open tasks in the mirror at the end',
    drift: 'number: differences found at seams',
    bytes: 'number (bytes): answers after decompression',
    durationMs: 'number (ms): how long it took',
    waitedMs: 'number (ms): waiting that the service asked for, and pauses before retries',
    notBefore: 'number (epoch ms) or null: until when the service asked to be left alone; null: it did not',
    dryRun: 'boolean or absent: true with `sync --dry-run`, else absent',
  }),
}

const oneOf = (names: readonly string[]): string =>
  listed(
    names.map((name) => `\`${name}\``),
    'or',
  )

const exporting: Chapter = {
  title: 'export',
  about: 'With `--out -` stdout has the tasks instead, and the log a line with the figures.',
  fields: fields<ExportResult>({
    ...VERSION,
    snapshotId: 'string: name of the snapshot; names sort by time',
    kind: SNAPSHOT_KIND,
    path: 'string: absolute path or URL of the file, or of the folder of the snapshot',
    manifest: 'string or null: path or URL of `_manifest.json`; null for a file',
    format: `string: ${oneOf(FORMAT_NAMES)}`,
    compression: `string: ${oneOf(COMPRESSIONS)}`,
    files: 'number: files with rows',
    rows: 'number: tasks in them, tombstones included where they were asked for',
    bytes: 'number (bytes): size of all files with rows',
    sha256: 'string or null: of the file, hex; null for a dataset, whose manifest has one for each file',
    cut: 'number: highest `change_seq` of the mirror when it was read; what the next `--changes` starts from',
    sinceSeq: 'number or null: of changes: only rows with a greater `change_seq`; null for a full snapshot',
    verdict: 'string or null: of the last full walk that ended: `complete` or `partial`; null: there was none',
    verdictAt: 'number (epoch ms) or null: when that walk ended; null: there was none',
    redacted: 'object: what was replaced by `[redacted]`',
    'redacted.names': 'array of string: names of headers that were looked for',
    'redacted.values': 'object: how many values were replaced, by what names them',
    'redacted.values.*': 'number: values replaced under this name',
    removed: 'array of string: ids of snapshots that `--keep` removed',
    notRemoved: 'string or null: why old snapshots were not removed, a sentence; null: nothing was in the way',
    notLimited:
      'string or null: a sentence, with the first publication of a dataset, that nothing limits how many stay',
    recorded:
      'boolean: whether it has a row in the table `snapshots`; without one `latest.json` names no feed, and after a full snapshot feeds are refused until the next one',
    notRecorded: 'string or null: why it has none, and what follows from that, a sentence; null where it has one',
    readerGone: 'boolean: false; an object whose reader of stdout went away early is not printed',
    durationMs: 'number (ms): how long it took',
  }),
}

const status: Chapter = {
  title: 'status',
  about: 'Without a mirror nothing is printed; the exit code is 3.',
  fields: fields<
    Versioned<
      {
        path: string
        ageMs: number | null
        stale: boolean
        published: DiskUse
        disk: { mirrorBytes: number; walBytes: number; snapshotBytes: number; freeBytes: number | null }
      } & MirrorStatus
    >
  >({
    ...VERSION,
    path: 'string: the mirror, as the configuration names it',
    ageMs:
      'number (ms) or null: how long ago `freshAt` is; null: no walk was complete yet, or it is dated in the future',
    stale: 'boolean: whether the mirror is older than `--max-age`; false without that flag',
    baseUrl: 'string or null: the service that the mirror belongs to; null before a first answer',
    tasks: 'object: how many tasks the mirror holds',
    'tasks.live': 'number: not deleted',
    'tasks.open': 'number: of these, not final',
    'tasks.late':
      'number or null: of the open ones, those past their `timeframe`; null: `probe` has not found that it is a moment',
    'tasks.hidden': 'number: of the live ones, those that the list shows no more and that are found by id',
    'tasks.deleted': 'number: tombstones',
    'tasks.setAside': 'number: items in `rejected_items` that were not taken in since',
    owed: 'object: what is to be asked for by id, beside the checks of open tasks',
    'owed.details': 'number: details',
    'owed.candidates': 'number: deletions to prove',
    'owed.withoutResult': 'number: of the details: those of final tasks whose detail has no result yet',
    forms: 'object: how the list and the details of tasks differ, as far as compared',
    'forms.compared': 'number: tasks compared so far',
    'forms.comparedAt': 'number (epoch ms) or null: when last; null: never',
    'forms.summary': 'array of object: fields of which details hold more than the list, or something else',
    'forms.summary[].field': 'string: such as `result.body`',
    'forms.summary[].how': 'string: what the list does with it: `absent`, `marked`, `cut` or `replaced`',
    'forms.uneven': 'array of object: fields that differ, or change with every read, without a change of the task',
    'forms.uneven[].field': 'string: such as `result.header`',
    'forms.uneven[].how': 'string: `volatile`, `only-listed`, `only-begun` or `differs`',
    order: 'string or null: as in `sync`',
    total: 'number or null: items in the list when its end was last proven; null: never',
    frontier: 'number (epoch ms) or null: all listed tasks created before it have been met; null: none yet',
    notBefore: 'number (epoch ms) or null: as in `sync`',
    freshAt:
      'number (epoch ms) or null: as of when the mirror is complete: start of the last complete walk of everything or the newest; null: none yet',
    ...LAST_FULL_WALK,
    walks:
      'array of object: the last walk of each kind that ended, newest first; before them a full walk that is under way or was cut off since',
    'walks[].id': 'number: `id` of the table `walks`',
    'walks[].kind': 'string: `full`, `head`, `tail` or `range`',
    'walks[].verdict': 'string or null: `complete` or `partial`; null: under way or cut off',
    'walks[].reason': 'string or null: why it is partial, a stable code',
    'walks[].rangeSince': 'number (epoch ms) or null: first `createdAt` in it; null: no bound',
    'walks[].rangeUntil': 'number (epoch ms) or null: first `createdAt` behind it; null: no bound',
    'walks[].met': 'number: distinct tasks met',
    'walks[].drift': 'number: differences found at seams',
    'walks[].startedAt': 'number (epoch ms): when its first run began it',
    'walks[].updatedAt': 'number (epoch ms): when it last committed something: its end, or where it was cut off',
    runs: 'array of object: the last five runs, newest first',
    'runs[].id': 'number: `id` of the table `runs`',
    'runs[].command': 'string: `sync`, `backfill`, `get`, `probe`, `rejected` or `verify`',
    'runs[].outcome':
      'string or null: `ok`, `partial`, `failed` or `interrupted`; null: it was killed or, the newest, may be running',
    'runs[].verdict':
      'string or null: what its walks prove, or of `verify` whether all was equal: `complete` or `partial`; null: nothing',
    'runs[].requests': 'number: requests sent, retries included',
    'runs[].inserted': 'number: new tasks',
    'runs[].updated': 'number: changed tasks',
    'runs[].deleted': 'number: tombstones made',
    'runs[].rejected': 'number: items newly set aside',
    'runs[].startedAt': 'number (epoch ms): when it began',
    'runs[].finishedAt': 'number (epoch ms) or null: when it ended; null as `outcome`',
    'runs[].exitCode': 'number or null: the exit code it stands for; null as `outcome`',
    'runs[].error': 'string or null: what ended it early, in words',
    walBytes: 'number (bytes): the same as `disk.walBytes`',
    published: 'object: what `export` has published on this machine and is still there',
    'published.snapshots': 'number: files, and snapshots of datasets',
    'published.bytes': 'number (bytes): their size',
    disk: 'object: room taken and left',
    'disk.mirrorBytes': 'number (bytes): size of the mirror without its WAL',
    'disk.walBytes': 'number (bytes): size of the WAL',
    'disk.snapshotBytes': 'number (bytes): the same as `published.bytes`',
    'disk.freeBytes': 'number (bytes) or null: free for this user where the mirror lies; null: the system does not say',
  }),
}

const verify: Chapter[] = [
  {
    title: 'verify',
    fields: fields<Versioned<{ mirror: MirrorVerified }>>({
      ...VERSION,
      mirror: 'object: the mirror by itself',
      'mirror.path': 'string: the file',
      'mirror.rows': 'number: rows of `tasks`, tombstones included',
      'mirror.tombstones': 'number: of these, deleted ones',
      'mirror.faults': 'array of object: what is not as it should be; empty: nothing',
      'mirror.faults[].check':
        'string: `content-hash`, `host`, `json`, `change-seq`, `owed-tombstone`, `owed-unknown`, `walk-marks` or `snapshot-cut`',
      'mirror.faults[].message': 'string: what is wrong, in words',
      'mirror.faults[].count': 'number: rows that are wrong',
      'mirror.faults[].examples': 'array of string: the first of them: ids of tasks, or of rows of other tables',
    }),
  },
  {
    title: 'verify --proof',
    fields: fields<Versioned<{ proof: ProofVerified }>>({
      ...VERSION,
      proof: 'object: what the evidence in the mirror proves',
      'proof.path': 'string: the mirror',
      'proof.walks':
        'array of object: the last complete full walk, then the complete walks since, as far as their evidence holds; empty: no proof',
      'proof.walks[].walkId': 'number: `id` of the table `walks`',
      'proof.walks[].kind': 'string: `full`, `head`, `tail` or `range`',
      'proof.walks[].startedAt': 'number (epoch ms): when it began',
      'proof.walks[].finishedAt': 'number (epoch ms): when it ended',
      'proof.walks[].sha256': 'string: of its evidence, hex; the manifest of a snapshot has that of the last full walk',
      'proof.walks[].tasks': 'number: tasks that it met, and that the mirror holds',
      'proof.walks[].proven': 'object: what its evidence proves',
      'proof.walks[].proven.range': 'object or null: the part of the list that it is about; null: the whole list',
      'proof.walks[].proven.range.order': 'string: `created_desc` or `created_asc`',
      'proof.walks[].proven.range.from':
        'number (epoch ms) or null: `createdAt` where it begins, in that order; null: no bound',
      'proof.walks[].proven.range.to':
        'number (epoch ms) or null: `createdAt` where it ends, in that order; null: no bound',
      'proof.walks[].proven.isWhole':
        'boolean: whether it proves all of that; else only up to the end of the last window that joined, ties of its last item aside',
      'proof.walks[].proven.answers': 'number: answers of the service in the evidence',
      'proof.walks[].proven.windows': 'number: windows that were taken in',
      'proof.walks[].proven.rests':
        'object: how many links between windows rest on an assumption about the service ([proof.md](proof.md))',
      'proof.walks[].proven.rests.*': 'number: links that rest on the assumption of this name',
      'proof.walks[].proven.end':
        'array of string: the assumptions that the end of the list rests on; empty: no end was claimed',
      'proof.faults': 'array of object: walks whose evidence does not hold; empty: none',
      'proof.faults[].walkId': 'number: `id` of the table `walks`',
      'proof.faults[].message': 'string: what does not hold, in words',
    }),
  },
  {
    title: 'verify --service',
    fields: fields<Versioned<{ service: ServiceVerified }>>({
      ...VERSION,
      service: 'object: the mirror beside the service',
      'service.sampled': 'number: tasks asked for',
      'service.equal': 'number: of these, equal digit for digit',
      'service.different': 'array of object: tasks that differ',
      'service.different[].id': 'string: id of the task',
      'service.different[].fields': 'array of string: what differs, such as `systemStatus` or `result.body`',
      'service.different[].wasOpen': 'boolean: whether it is open in the mirror, so that it may just have changed',
      'service.notCompared':
        'array of string: fields known to differ between list and look-up, or from read to read, without a change of the task',
      'service.missing': 'array of object: tasks for which the service has an answer, but no task',
      'service.missing[].id': 'string: id of the task',
      'service.missing[].answer': 'string: what the service said',
      'service.unanswered': 'array of object: tasks for which the service has no usable answer',
      'service.unanswered[].id': 'string: id of the task',
      'service.unanswered[].answer': 'string: what went wrong',
      'service.differAtMost':
        'number (share): at 95 %, no more of all live tasks than this is not as the service has it',
      'service.total': 'object: how many tasks there are',
      'service.total.service': 'number or null: in the list; null: its end cannot be proven',
      'service.total.mirror': 'number: live ones of the mirror',
      'service.total.hidden': 'number: as `tasks.hidden` of `status`',
      'service.total.setAside': 'number: items set aside in the mirror',
      'service.total.why': 'string: how the number of the service was found, or why it was not',
      'service.problems': 'array of string: why the mirror is not called equal, a sentence each; empty: it is',
    }),
  },
  {
    title: 'verify --snapshot',
    fields: fields<Versioned<{ snapshot: SnapshotVerified }>>({
      ...VERSION,
      snapshot: 'object: what was published',
      'snapshot.ok': 'boolean: whether nothing is wrong',
      'snapshot.place': 'string: what was checked, a folder or a URL',
      'snapshot.snapshots': 'array of object: every snapshot there whose manifest can be read',
      'snapshot.snapshots[].snapshotId': 'string: its name',
      'snapshot.snapshots[].kind': SNAPSHOT_KIND,
      'snapshot.snapshots[].cut': 'number: highest `change_seq` of the mirror when it was made',
      'snapshot.snapshots[].files': 'number: files by its manifest',
      'snapshot.snapshots[].rows': 'number: rows by its manifest',
      'snapshot.snapshots[].bytes': 'number (bytes): size of the files by its manifest',
      'snapshot.snapshots[].deep': 'object or null: its rows beside the mirror; null without `--deep`',
      'snapshot.snapshots[].deep.compared': 'number: rows compared',
      'snapshot.snapshots[].deep.changedSince':
        'number: rows not compared, because the mirror has a newer state of the task',
      'snapshot.snapshots[].deep.notComparable': 'string or null: why no row was compared, a sentence; null: rows were',
      'snapshot.snapshots[].deep.known':
        'boolean: whether the mirror has a row about the publication; `false`: it may have been restored or made anew',
      'snapshot.problems': 'array of object: what is wrong; empty: nothing',
      'snapshot.problems[].snapshotId': 'string or null: the snapshot; null: it is about the place as a whole',
      'snapshot.problems[].file':
        "string or null: the file below the snapshot's folder, or below the place where `snapshotId` is null; null: it is about the whole",
      'snapshot.problems[].check':
        'string: `latest`, `manifest`, `missing`, `unlisted`, `size`, `checksum`, `rows`, `content` or `absent`',
      'snapshot.problems[].message': 'string: what is wrong, in words',
    }),
  },
]

const rejected: Chapter[] = [
  {
    title: 'rejected',
    fields: fields<Versioned<SetAsideList>>({
      ...VERSION,
      total: 'number: items that are set aside and were not taken in since',
      items: 'array of object: the newest of them, as many as `--limit` allows',
      'items[].id': 'number: `id` of the table `rejected_items`',
      'items[].runId': 'number or null: the run that set it aside',
      'items[].source': 'string: `list` or `detail`',
      'items[].skip': 'number or null: its index in the list when it was met; null: it was no listed one',
      'items[].taskId': 'string or null: id of the task, where it is known',
      'items[].reason': 'string: why, a stable code such as `no-id`',
      'items[].message': 'string: why, in words',
      'items[].bytes': 'number (bytes): size of the raw text',
      'items[].raw': 'string or absent: the raw text as sent, with `--raw`',
      'items[].seenAt': 'number (epoch ms): when it was last met',
    }),
  },
  {
    title: 'rejected --replay',
    fields: fields<ReplayResult>({
      ...VERSION,
      tried: 'number: items that were waiting: the sum of the three below',
      taken: 'number: taken in, or found in the mirror in newer form',
      settled: 'number: settled by a later complete full walk, which met them whole or not at all',
      left: 'number: still set aside',
    }),
  },
]

/** `value` of each question of `probe`. */
const ANSWERS: Record<`answers.${keyof typeof QUESTIONS}.value`, `${string} or null: ${string}`> = {
  'answers.listNeedsKey.value': 'boolean or null: whether the list needs the key',
  'answers.detailNeedsKey.value': 'boolean or null: whether a single task needs the key',
  'answers.order.value': 'string or null: order of the list as far as seen, as in `sync`',
  'answers.takeCap.value':
    'number or string or null: the most items that a window holds; `none`: no cap was seen; else how windows are cut, in words',
  'answers.takeBeyond1000.value': 'string or null: a take of 1001 is `answered`, `cut` or `refused`',
  'answers.pastEnd.value':
    'string or null: what a skip past the end brings: `empty`, `refused`, `repeats`, `wraps` or `skip-ignored`',
  'answers.total.value': 'number or null: items in the list',
  'answers.listWhole.value': 'boolean or null: whether listed tasks have all that their details have',
  'answers.notFound.value': 'string or null: the answer to an id that does not exist, in words',
  'answers.badId.value': 'string or null: the answer to an id of another form, in words',
  'answers.badWindow.value': 'string or null: the answer to a skip of -1, in words',
  'answers.timeframe.value': 'boolean or null: whether `timeframe` reads as a moment, in epoch ms',
  'answers.date.value': 'boolean or null: whether answers have a Date header',
  'answers.clockSkewMs.value':
    'number (ms) or null: how far the clock of the service is ahead of this one; negative: behind',
  'answers.compression.value': 'string or null: the Content-Encoding of answers, or `none`',
  'answers.limits.value': 'string or null: limits that headers of answers tell, in words',
}

type Finding = ProbeResult['answers']['order']
type Asked = Omit<ProbeResult, 'answers'> & { answers: Record<string, Omit<Finding, 'value'>> }

const probe: Chapter = {
  title: 'probe',
  fields: {
    ...fields<Asked>({
      ...VERSION,
      runId: 'number: `id` of the table `runs`',
      askedAt: 'number (epoch ms): when it began',
      requests: 'number: requests sent, retries included',
      bytes: 'number (bytes): answers after decompression',
      durationMs: 'number (ms): how long it took',
      answers: 'object: one object for each question',
      'answers.*':
        'object: the answer to the question of this name; its `value` is null where it was not seen or cannot be told',
      'answers.*.seen': 'string: what was seen for it, in words; where `value` is null, why',
    }),
    ...ANSWERS,
  },
}

/** In the order of the commands. */
export const JSON_CHAPTERS: readonly Chapter[] = [
  run,
  {
    title: 'schedule',
    about: 'Printed once, when everything runs. What follows is told by the log, `/healthz` and `/metrics`.',
    fields: fields<Versioned<{ url: string | null; jobs: { name: string; nextAt: number | null }[] }>>({
      ...VERSION,
      url: 'string or null: where the pages are served; null: nowhere',
      jobs: 'array of object: what is run',
      'jobs[].name': 'string: `sync` or `export`',
      'jobs[].nextAt': 'number (epoch ms) or null: when it is due next; null: never',
    }),
  },
  {
    title: 'get',
    about:
      'The task itself, as the service sent it: every field, known or not, every number digit for digit, also beyond 2^53.',
    fields: {
      ...fields<{ id: string; _mirror?: Omit<NonNullable<ReturnType<typeof readTask>>, 'row'> }>({
        id: 'string: id of the task',
        _mirror: 'object or absent: what the mirror knows of it, with `--with-meta`',
        '_mirror.changeSeq': 'number: its last change in the order of the mirror',
        '_mirror.firstSeenAt': 'number (epoch ms): when the mirror first held it',
        '_mirror.changedAt': 'number (epoch ms): when the mirror last took in a change of it',
        '_mirror.deletedAt': 'number (epoch ms) or null: when its deletion was proven; null: it is not deleted',
      }),
      '*': 'any: the other fields of the task, as in [service.md](service.md)',
    },
  },
  status,
  {
    title: 'doctor',
    fields: fields<Versioned<{ ok: boolean; checks: Check[] }>>({
      ...VERSION,
      ok: 'boolean: whether no check is `wrong`',
      checks: 'array of object: every check, in the order of the text',
      'checks[].name':
        'string: `node`, `configuration`, `key file`, `folder`, `mirror`, `file system`, `disk`, `WAL`, `service`, `key`, `clock`, `schedule`, `last run` or `verdict`; `configuration` once for each fault of it',
      'checks[].state': 'string: `ok`, `note` or `wrong`; `note`: something to know, or it could not be told',
      'checks[].found': 'string: what was seen, one line',
      'checks[].todo': 'string or null: what to do, one line; null: nothing',
    }),
  },
  ...verify,
  ...rejected,
  {
    title: 'report',
    about: 'With `--out -` stdout has the page instead.',
    fields: fields<Versioned<{ path: string; bytes: number; durationMs: number }>>({
      ...VERSION,
      path: 'string: absolute path of the file',
      bytes: 'number (bytes): its size',
      durationMs: 'number (ms): how long reading the figures took',
    }),
  },
  exporting,
  {
    title: 'copy',
    fields: fields<CopyResult>({
      ...VERSION,
      path: 'string: absolute path of the copy',
      bytes: 'number (bytes): its size',
      tasks: 'number: rows of `tasks` in it, tombstones included',
      cut: 'number: highest `change_seq` in it',
      durationMs: 'number (ms): how long it took',
    }),
  },
  {
    title: 'restore',
    fields: fields<Versioned<Restored>>({
      ...VERSION,
      path: 'string: the mirror, links followed',
      from: 'string: the backup, as it was named',
      tasks: 'number: rows of `tasks`, tombstones included',
      cut: 'number: highest `change_seq`',
      bytes: 'number (bytes): size of the mirror',
      movedTo: 'string or null: where the old mirror is now; null: there was none',
    }),
  },
  {
    title: 'prune',
    fields: fields<Versioned<{ deletedBefore: number; dryRun: boolean } & PruneResult>>({
      ...VERSION,
      deletedBefore: 'number (epoch ms): tombstones that were made before are meant',
      dryRun: 'boolean: whether it was only counted',
      rows: 'number: tombstones that lost their payload, or would',
      bytes: 'number (bytes): the payloads as text',
    }),
  },
  {
    title: 'datasette-config',
    fields: fields<Versioned<{ database: string; yaml: string }>>({
      ...VERSION,
      database: 'string: what Datasette calls the database',
      yaml: 'string: the text of the file',
    }),
  },
  {
    title: 'demo',
    fields: fields<Awaited<ReturnType<typeof runDemo>>>({
      ...VERSION,
      exitCode: 'number: the exit code of the demo',
      equal: 'boolean: whether the mirror held every task of the account and no other at the end, digit for digit',
      tasks: 'number: tasks of the account at the end',
      files: 'array of string: the files that were made',
    }),
  },
  {
    title: 'simulate',
    about: 'Printed once, when it serves.',
    fields: fields<Versioned<{ url: string; port: number; tasks: number }>>({
      ...VERSION,
      url: 'string: base URL of the simulated service',
      port: 'number: its port',
      tasks: 'number: tasks in the list at the start',
    }),
  },
  probe,
  {
    title: 'config show',
    fields: fields<Versioned<{ keys: ReturnType<typeof shownKeys> }>>({
      ...VERSION,
      keys: 'array of object: every key of [configuration.md](configuration.md), and `API key`',
      'keys[].key': 'string: its name',
      'keys[].value': 'any: its value, secrets masked',
      'keys[].origin':
        'string: `default`, or the flag, variable or file that it comes from; of the API key also `not set`',
    }),
  },
  {
    title: 'completion',
    fields: fields<Versioned<{ shell: string; script: string }>>({
      ...VERSION,
      shell: 'string: `bash`, `zsh` or `fish`',
      script: 'string: the script',
    }),
  },
]

/** Of lines from level info on; "Run ended" has the figures of `sync` or `export` besides. */
export const LOG_FIELDS: JsonFields = {
  time: 'string: when, ISO 8601 in UTC with ms',
  level: 'string: `debug`, `info`, `warn` or `error`',
  msg: 'string: what happened, in words that may change',
  command: 'string or absent: the command (`show` for `config show`), in the last line of a run and in errors',
  runId: 'number or absent: `id` of the table `runs`',
  exitCode: 'number or absent: of a run that ended: its exit code',
  durationMs:
    'number (ms) or absent: of a run that ended: how long it took, with its beginning and end a little more than in its object',
  error: 'string or absent: of a run that ended early: the code of its error',
  code: 'string or absent: of an error: its stable code, such as `service-unreachable`',
  hint: 'string or absent: of an error: what to do',
  cause: 'string or absent: of an error: what was behind it, in words',
  file: 'string or absent: the configuration file in use',
  plan: 'string or absent: the steps of a run, with spaces between',
  run: 'number or absent: where a run begins: `id` of the table `runs`',
  walk: 'number or absent: of a walk that ended: `id` of the table `walks`',
  verdict: 'string or null or absent: `complete` or `partial`, of a walk, a run or a snapshot',
  reason: 'string or null or absent: why a walk is partial, a stable code',
  met: 'number or absent: distinct tasks that a walk met',
  lastFullWalk: 'string or absent: of a run that ended: the verdict of the last full walk',
  fields: 'string or absent: fields that the list leaves to details, with commas between',
  done: 'number or absent: progress: what is done',
  total: 'number or null or absent: progress: of how much; null: not known',
  estimated: 'boolean or absent: progress: true where `total` is only about right',
  perSecond: 'number or null or absent: progress: how fast; null: not known yet',
  secondsLeft: 'number or absent: progress: seconds, at that speed',
  inFlight: 'number or absent: progress: requests under way',
  waitMs: 'number (ms) or absent: progress: how long nothing is asked from now on',
  waitingFor: 'string or absent: progress: why: `Retry-After`, or what went wrong',
  job: 'string or absent: of `schedule`: `sync` or `export`',
  skipped: 'number or absent: of `schedule`: scheduled moments that brought no run',
  jumpMs: 'number (ms) or absent: of `schedule`: how far the clock of this machine has jumped',
  aheadMs: 'number (ms) or absent: how much later than now the last run ended',
  '*': 'any: of an error: its facts: texts, numbers, booleans or null',
}
