// Where an incremental publication carries on from, and which publications belong together.
import { MirrorError } from '../../errors.ts'
import { changedLastAt, knowsSnapshot, snapshotsAt } from '../../mirror/tables/snapshots.ts'
import { type Format, SWITCHES } from '../formats.ts'
import type { PartitionBy } from '../read/partition.ts'
import type { Latest, LatestEntry, RecordedFilters } from './manifest.ts'

export interface FeedBase {
  /** Only rows with a greater `change_seq` are published. */
  sinceSeq: number
  /** The publication it carries on from; null where there is none. */
  buildsOn: string | null
}

export interface FeedDestination {
  /** As recorded with publications. */
  place: string
  format: Format
  partitionBy: PartitionBy
  filters: RecordedFilters
  /** What `latest.json` says; null where there is none; undefined where the destination is a file. */
  latest: Latest | null | undefined
  /** Names of the publications that are there; null where the destination is a file. */
  present: readonly string[] | null
}

/**
 * The publication that a feed goes on from. It is still there, with all that it builds on, its filters took all that
 * these take, and it is the full snapshot that `latest.json` names or a feed after it, because readers leave out what
 * is older. `last`: the furthest such publication; without one everything counts as changed. A number: the same, but
 * of a cut as high, so that it, or what it builds on, holds the changes below.
 */
export function feedBase(dbPath: string, changes: number | 'last', destination: FeedDestination): FeedBase {
  const { place, format, filters, latest, present } = destination
  const series = seriesOf(filters)
  // Nothing lies below 0.
  if (changes === 0) return { sinceSeq: 0, buildsOn: null }
  const least = Math.max(changes === 'last' ? 0 : changes, latest?.full?.cut ?? 0)
  const named = latest?.full?.snapshotId
  const rows = snapshotsAt(dbPath, place, format, named)
    // A full snapshot that no reader is told of does not mention what was deleted before it.
    .filter(({ id, sinceSeq }) => latest === undefined || sinceSeq !== null || id === named)
    .filter((row) => seriesOf(row.filters) === series && isWithin(filters, row.filters))
  const there = present && new Set(present)
  // How far what is there reaches, and what is gone reached: a publication that begins between builds on what is gone.
  let [reach, gone] = [0, 0]
  const whole = rows.filter(({ id, cut, sinceSeq }) => {
    const isGone = there?.has(id) === false
    if (isGone) gone = Math.max(gone, cut)
    if (isGone || ((sinceSeq ?? 0) > reach && reach < gone)) return false
    reach = Math.max(reach, cut)
    return true
  })
  // Of exports that overlap, the one that goes further may be recorded first.
  const before = whole
    .filter(({ cut }) => cut >= least)
    .sort((one, other) => one.cut - other.cut)
    .at(-1)
  return { sinceSeq: changes === 'last' ? (before?.cut ?? 0) : changes, buildsOn: before?.id ?? null }
}

/**
 * Throws `mirror-foreign` where the mirror cannot be the one that published at the destination. That is so where the
 * destination, or the number that a feed is to begin with, has later changes than the mirror. It is so for a feed whose
 * last publication is gone, or is unknown to the mirror: another mirror made it, or this one was restored from an older
 * backup. And it is so for a full snapshot (`base` null) with as many changes as an unknown publication, if the mirror
 * has changed since that: readers would take both together.
 */
export function refuseOtherMirror(
  { dbPath, cut }: { dbPath: string; cut: number },
  base: FeedBase | null,
  { place, latest, present }: FeedDestination,
): void {
  const known = Math.max(latest?.full?.cut ?? 0, latest?.changes?.cut ?? 0)
  if (known > cut)
    throw foreign(`${place} has changes up to ${known}, the mirror only up to ${cut}`, { place, cut, known })
  const last = latest?.changes ?? latest?.full ?? null
  const isUnknown = last !== null && !knowsSnapshot(dbPath, last.snapshotId)
  if (base === null) {
    // A kill, too, leaves a publication without a row; but nothing in it has changed since.
    if (!isUnknown || known < cut || (changedLastAt(dbPath) ?? 0) <= last.publishedAt) return
    const { snapshotId } = last
    const message = `${place} has as many changes as the mirror, ${cut}, which made others since, and has no row about ${snapshotId}`
    throw foreign(message, { place, cut, snapshotId })
  }
  const { sinceSeq } = base
  if (sinceSeq > cut)
    throw foreign(`--changes ${sinceSeq}: the mirror has changes up to ${cut} only`, { place, cut, sinceSeq })
  if (last === null) return
  // The next changes would go on from it.
  const { snapshotId } = last
  if (!present?.includes(snapshotId))
    throw unfounded(place, `${snapshotId}, which latest.json names, is not there`, snapshotId)
  if (isUnknown)
    throw unfounded(place, `${snapshotId} was not published from this mirror, or it has no row about it`, snapshotId)
  if (base.buildsOn === null && sinceSeq > 0)
    throw new MirrorError(
      'usage-invalid',
      `--changes ${sinceSeq}: no publication of this kind at ${place} goes that far`,
      {
        facts: { place, sinceSeq },
        hint: 'What lies between would be nowhere: use --changes last, or a folder of its own.',
      },
    )
}

/**
 * Throws `usage-invalid` for a full snapshot that leaves out tasks or columns, also that of its partitions, of the full
 * snapshot that `latest.json` names (of the last feed where it names none), or that has another format. Readers of
 * `latest.json`, and of the feeds that follow, would miss those without being told. Publications of earlier versions do
 * not say what they hold.
 */
export function refuseNarrower({ place, format, partitionBy, filters, latest }: FeedDestination): void {
  const last = latest?.full ?? latest?.changes
  if (last?.filters === undefined) return
  const { since, until, statuses, columns } = last.filters
  const which = latest?.full ? 'the last full snapshot' : 'the last feed'
  // Not those of a feed: nobody counts on a column that not every feed has.
  const parts = latest?.full?.partitionBy ?? 'none'
  const lacks = (some: string[] | null, all: string[] | null): boolean =>
    some !== null && (all === null || all.some((name) => !some.includes(name)))
  const narrower = [
    ...(filters.since !== null && since === null ? ['--since'] : []),
    ...(filters.until !== null && until === null ? ['--until'] : []),
    ...(lacks(filters.statuses, statuses) ? ['--status'] : []),
    ...(lacks(filters.columns, columns) ? ['--columns'] : []),
    ...(parts !== 'none' && parts !== partitionBy ? [`--partition-by ${partitionBy}, not ${parts}`] : []),
  ]
  const isOther = last.format !== undefined && last.format !== format
  const why = isOther
    ? `--format ${format}: ${which} in ${place} is ${last.format}, and readers of its latest.json would miss the feeds that follow it`
    : narrower.length > 0
      ? `${narrower.join(', ')}: ${which} in ${place} holds more, and readers of its latest.json would miss what this one leaves out`
      : null
  if (why === null) return
  const asLast = [
    ...(isOther ? [`--format ${last.format}`] : []),
    ...(parts !== 'none' && parts !== partitionBy ? [`--partition-by ${parts}`] : []),
  ]
  const instead = asLast.length > 0 ? `Give ${asLast.join(' and ')}, or publish` : 'Publish'
  const hint = `${instead} it into a folder of its own, or to a file.`
  throw new MirrorError('usage-invalid', why, { facts: { place, snapshotId: last.snapshotId }, hint })
}

function foreign(message: string, facts: Record<string, string | number>): MirrorError {
  return new MirrorError('mirror-foreign', message, {
    facts,
    hint: 'The mirror was replaced by an older or another one: publish a full snapshot into a new folder.',
  })
}

function unfounded(place: string, message: string, snapshotId: string): MirrorError {
  return new MirrorError('mirror-foreign', `Changes cannot be published at ${place}: ${message}`, {
    facts: { place, snapshotId },
    hint: 'Publish a full snapshot there first, without --changes: the next changes go on from it. After a restore, into a new folder.',
  })
}

/** What an absent filter means. */
const UNFILTERED = {
  ...{ since: null, until: null, statuses: null, redact: [], columns: null, invalidJson: 'keep' },
  ...Object.fromEntries(SWITCHES.map(([name]) => [name, false])),
}

/**
 * What need not be equal for two publications to belong together: tombstones and `_mirror` are in every feed, bounds
 * are compared.
 */
const OF_NO_SERIES: ReadonlySet<string> = new Set(['includeDeleted', 'withMeta', 'since', 'until'])

/** Whether all that `filters` take by `createdAt` was taken by `before`: `--since 7d` is a later moment every time. */
function isWithin(filters: RecordedFilters, before: Record<string, unknown>): boolean {
  const { since, until } = { ...UNFILTERED, ...before } as Pick<RecordedFilters, 'since' | 'until'>
  const isFromThere = since === null || (filters.since !== null && filters.since >= since)
  return isFromThere && (until === null || (filters.until !== null && filters.until <= until))
}

/** Whether feeds such as `feed` hold every change of what `full` took. */
export function holdsAllOf(full: LatestEntry, feed: LatestEntry): boolean {
  if (full.filters === undefined || feed.filters === undefined || full.format !== feed.format) return false
  return seriesOf(full.filters) === seriesOf(feed.filters) && isWithin(full.filters, feed.filters)
}

/** Equal for publications that belong together but for bounds: a feed goes on from the last one. */
export function seriesOf(filters: Record<string, unknown>): string {
  const all: Record<string, unknown> = { ...UNFILTERED, ...filters }
  const names = Object.keys(all).filter((name) => !OF_NO_SERIES.has(name))
  return JSON.stringify(names.sort().map((name) => [name, all[name]]))
}
