// Where an incremental publication carries on from, and which publications belong together.
import { MirrorError } from '../../errors.ts'
import { knowsSnapshot, snapshotsAt } from '../../mirror/tables/snapshots.ts'
import { type Format, SWITCHES } from '../formats.ts'
import type { InvalidJson } from '../read/invalid-json.ts'
import type { Latest } from './manifest.ts'

/** The filters of a publication as recorded, switches that are on among them; equal filters are equal text. */
export interface RecordedFilters extends Record<string, unknown> {
  /** Bounds of createdAt, epoch ms. */
  since: number | null
  until: number | null
  statuses: string[] | null
  includeDeleted: boolean
  /** Names of headers whose values are replaced. */
  redact: string[]
  withMeta: boolean
  /** Names in the order of the table; null for all. */
  columns: string[] | null
  variant: boolean
  /** Absent in what 0.1.0 recorded, which kept all. */
  invalidJson?: InvalidJson
}

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
  filters: RecordedFilters
  /** What `latest.json` says; null where there is none; undefined where the destination is a file. */
  latest: Latest | null | undefined
}

/** `last`: the last publication there with these filters; without one, or in an emptied folder, all has changed. */
export function feedBase(dbPath: string, changes: number | 'last', destination: FeedDestination): FeedBase {
  const nothing = { sinceSeq: 0, buildsOn: null }
  if (changes === 'last' && destination.latest === null) return nothing
  const series = seriesOf(destination.filters)
  const before = snapshotsAt(dbPath, destination.place, destination.format).filter(
    (row) => seriesOf(row.filters) === series && (changes === 'last' || row.cut === changes),
  )[0]
  if (changes !== 'last') return { sinceSeq: changes, buildsOn: before?.id ?? null }
  return before === undefined ? nothing : { sinceSeq: before.cut, buildsOn: before.id }
}

/**
 * Throws `mirror-foreign` for a full snapshot (`base` null) or a feed at a destination, or a feed from a number, with later
 * changes than the mirror's; and for a feed after a publication that is gone, or that the mirror does not know: it was made
 * by another mirror, or after the backup that this one was restored from. `present`: the names of what is there.
 */
export function refuseOtherMirror(
  { dbPath, cut, present }: { dbPath: string; cut: number; present: readonly string[] },
  base: FeedBase | null,
  { place, latest }: FeedDestination,
): void {
  const known = Math.max(latest?.full?.cut ?? 0, latest?.changes?.cut ?? 0)
  if (known > cut)
    throw foreign(`${place} has changes up to ${known}, the mirror only up to ${cut}`, { place, cut, known })
  if (base === null) return
  const { sinceSeq } = base
  if (sinceSeq > cut)
    throw foreign(`--changes ${sinceSeq}: the mirror has changes up to ${cut} only`, { place, cut, sinceSeq })
  const last = latest?.changes ?? latest?.full ?? null
  if (last === null) return
  const { snapshotId } = last
  if (!present.includes(snapshotId))
    throw unfounded(place, `${snapshotId}, which latest.json names, is not there`, snapshotId)
  if (!knowsSnapshot(dbPath, snapshotId))
    throw unfounded(place, `${snapshotId} was not published from this mirror, or it has no row about it`, snapshotId)
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
    hint: 'Publish a full snapshot there first, without --changes: the next changes go on from it.',
  })
}

/** What an absent filter means. */
const UNFILTERED = {
  ...{ since: null, until: null, statuses: null, redact: [], columns: null, invalidJson: 'keep' },
  ...Object.fromEntries(SWITCHES.map(([name]) => [name, false])),
}

/** What must be equal for two publications to belong together; tombstones and `_mirror` are in every feed. */
function seriesOf(filters: Record<string, unknown>): string {
  const all: Record<string, unknown> = { ...UNFILTERED, ...filters }
  const names = Object.keys(all).filter((name) => name !== 'includeDeleted' && name !== 'withMeta')
  return JSON.stringify(names.sort().map((name) => [name, all[name]]))
}
