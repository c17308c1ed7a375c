// The text of `status`. Pure.
import prettyBytes from 'pretty-bytes'
import prettyMilliseconds from 'pretty-ms'
import { ageOf } from '../../clock.ts'
import type { DiskUse } from '../../export/publish/disk-use.ts'
import type { MirrorStatus, WalkFigures } from '../../mirror/shown/status.ts'
import { LONGEST_KEPT_WAIT_MS } from '../../mirror/tables/facts.ts'
import type { RunRow } from '../../mirror/tables/runs.ts'
import { LARGE_WAL, LARGE_WAL_BYTES } from '../../mirror/wal.ts'
import { countText, grouped, moment, runOutcome } from '../../shown.ts'
import { pairs, table } from './layout.ts'

const SHOWN_FIELDS = 6

interface StatusInput {
  path: string
  ageMs: number | null
  maxAge: number | null
  stale: boolean
  found: MirrorStatus
  now: number
  /** A moment later than now by more than this is treated as unknown. */
  settleMs: number
  /** What publications take of this machine's disk. */
  published: DiskUse
  /** Bytes on this machine's disks; `freeBytes`: beside the mirror, null where the system does not say. */
  disk: { mirrorBytes: number; walBytes: number; snapshotBytes: number; freeBytes: number | null }
  /** Width of the terminal. */
  width?: number | undefined
}

/** How long ago a moment (epoch ms) was, in words. */
type Ago = (at: number) => string

export function statusText(facts: StatusInput): string {
  const { path, ageMs, maxAge, stale, found, now, settleMs, published, disk, width } = facts
  const ago = (at: number): string => {
    const age = ageOf(at, now, settleMs)
    return age === null ? 'in the future' : `${spoken(age)} ago`
  }
  // No run stores a wait beyond the longest one allowed: a longer one was stored under a wrong clock.
  const isKept = (until: number) => until > now && ageOf(until - LONGEST_KEPT_WAIT_MS, now, settleMs) !== null
  const unknown = found.freshAt === null ? 'no complete walk yet' : 'not known: the last walk is dated in the future'
  const { tasks, owed, lastFullWalk, notBefore, frontier } = found
  const limit = maxAge === null ? '' : `, ${stale ? 'older than' : 'within'} ${spoken(maxAge)}`
  const lines = pairs(
    [
      ['mirror', path],
      ['service', found.baseUrl],
      ['fresh', ageMs === null ? unknown : `as of ${spoken(ageMs)} ago${limit}`],
      ['tasks', `${grouped(tasks.live)} live (${grouped(tasks.open)} open), ${grouped(tasks.deleted)} deleted`],
      ['not listed', tasks.hidden === 0 ? null : `${grouped(tasks.hidden)} of these, which are found by id`],
      ['late', tasks.late ? `${grouped(tasks.late)} open, past their timeframe (inferred: see probe)` : null],
      ['set aside', tasks.setAside === 0 ? 'none' : `${countText(tasks.setAside, 'item')}; see task-mirror rejected`],
      ['owed', owedText(owed)],
      ['list', formsText(found.forms)],
      ['WAL', found.walBytes > LARGE_WAL_BYTES ? `${prettyBytes(found.walBytes)}: ${LARGE_WAL}` : null],
      ['disk', diskText(disk)],
      ['published', publishedText(published)],
      ['full walk', lastFullWalk === null ? 'none yet' : fullWalkText(lastFullWalk, ago)],
      ['order', found.order ?? 'not known yet'],
      ['in the list', found.total === null ? null : `${countText(found.total, 'item')} when its end was last proven`],
      [
        'frontier',
        frontier === null ? null : `all that is listed and was created before ${moment(frontier)} has been met`,
      ],
      ['not before', notBefore !== null && isKept(notBefore) ? `${moment(notBefore)}, as the service asked` : null],
    ],
    width,
  )
  const tables = [
    ...(found.walks.length === 0 ? [] : [walksTable(found.walks, ago, width)]),
    ...(found.runs.length === 0 ? [] : [runsTable(found.runs, width)]),
  ]
  return [lines, ...tables].join('\n\n')
}

function diskText({ mirrorBytes, walBytes, snapshotBytes, freeBytes }: StatusInput['disk']): string {
  const snapshots = snapshotBytes === 0 ? '' : `, snapshots ${prettyBytes(snapshotBytes)}`
  const free = freeBytes === null ? '' : `; ${prettyBytes(freeBytes)} free`
  return `mirror ${prettyBytes(mirrorBytes)}, WAL ${prettyBytes(walBytes)}${snapshots}${free}`
}

function publishedText({ snapshots, bytes }: DiskUse): string | null {
  if (snapshots === 0) return null
  return `${countText(snapshots, 'snapshot')}, ${prettyBytes(bytes)} on this disk`
}

function owedText({ details, candidates, withoutResult }: MirrorStatus['owed']): string | null {
  const parts = []
  const missing = withoutResult === 0 ? '' : ` (${countText(withoutResult, 'final task')} without a result)`
  if (details > 0) parts.push(`${countText(details, 'detail')}${missing}`)
  if (candidates > 0) parts.push(countText(candidates, 'deletion to prove', 'deletions to prove'))
  return parts.length === 0 ? null : parts.join(', ')
}

/** The service chooses field names, so there may be many: not all of them are shown. */
function formsText({ compared, summary, uneven }: MirrorStatus['forms']): string | null {
  if (compared === 0) return null
  const lines = [`shows tasks whole: ${countText(compared, 'task')} compared with their details`]
  const replaced = summary.filter(({ how }) => how === 'replaced')
  const less = summary.filter(({ how }) => how !== 'replaced')
  if (summary.length > 0) lines.length = 0
  if (less.length > 0) lines.push(`is a summary: details hold more of ${named(less)}`)
  if (replaced.length > 0) lines.push(`shows something else in place of ${named(replaced)}: details are asked for`)
  const ofKind = (kind: string) => uneven.filter(({ how }) => how === kind)
  if (ofKind('volatile').length > 0) lines.push(`changes with every read: ${named(ofKind('volatile'))}`)
  if (ofKind('only-listed').length > 0) lines.push(`only the list has ${named(ofKind('only-listed'))}`)
  if (ofKind('only-begun').length > 0) lines.push(`details have only the beginning of ${named(ofKind('only-begun'))}`)
  if (ofKind('differs').length > 0) lines.push(`list and details differ in ${named(ofKind('differs'))}`)
  return lines.join('\n')
}

function named(fields: readonly { field: string }[]): string {
  const names = [...new Set(fields.map(({ field }) => field.replace(/\s/g, ' ')))]
  return names.length <= SHOWN_FIELDS ? names.join(', ') : `${names.slice(0, SHOWN_FIELDS).join(', ')} and others`
}

function fullWalkText(walk: NonNullable<MirrorStatus['lastFullWalk']>, ago: Ago): string {
  const reason = walk.reason === null ? '' : ` (${walk.reason})`
  return `${walk.verdict}${reason}, ended ${ago(walk.finishedAt)}`
}

function walksTable(walks: readonly WalkFigures[], ago: Ago, width?: number): string {
  return table(
    ['last walk', 'verdict', 'ended', 'range of createdAt', 'met', 'began'],
    walks.map((walk) => [
      walk.kind,
      walk.verdict === null
        ? 'under way or cut off'
        : `${walk.verdict}${walk.reason === null ? '' : ` (${walk.reason})`}`,
      walk.verdict === null ? `last window ${ago(walk.updatedAt)}` : ago(walk.updatedAt),
      rangeText(walk),
      walk.met,
      ago(walk.startedAt),
    ]),
    { width },
  )
}

/** What a walk covered: the newest tasks for head and tail walks, everything where no bound is set. */
function rangeText({ kind, rangeSince, rangeUntil }: WalkFigures): string {
  if (kind === 'head' || kind === 'tail') return 'what is new'
  if (rangeSince === null && rangeUntil === null) return 'everything'
  const since = rangeSince === null ? '' : `from ${moment(rangeSince)}`
  const until = rangeUntil === null ? '' : `before ${moment(rangeUntil)}`
  return [since, until].filter((part) => part !== '').join(', ')
}

function runsTable(runs: readonly RunRow[], width?: number): string {
  return table(
    ['run', 'started', 'outcome', 'exit', 'verdict', 'command', 'requests', 'inserted', 'updated', 'deleted'],
    runs.map((run, index) => [
      run.id,
      moment(run.startedAt),
      runOutcome(run.outcome, index),
      run.exitCode,
      run.verdict ?? '',
      run.command,
      run.requests,
      run.inserted,
      run.updated,
      run.deleted,
    ]),
    { width },
  )
}

function spoken(ms: number): string {
  return prettyMilliseconds(ms < 1000 ? ms : Math.round(ms / 1000) * 1000, { unitCount: 2 })
}
