// Where an incremental publication carries on from, and which publications belong together.
import { MirrorError } from '../../errors.ts'
import { snapshotsAt } from '../../mirror/tables/snapshots.ts'
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

/** Throws `mirror-foreign` where destination or feed know later changes than the mirror, which was replaced then. */
export function refuseOlderMirror(cut: number, base: FeedBase, { place, latest }: FeedDestination): void {
  const published = base.buildsOn === null ? 0 : base.sinceSeq
  const known = Math.max(published, latest?.full?.cut ?? 0, latest?.changes?.cut ?? 0)
  if (known <= cut && base.sinceSeq > cut) {
    throw new MirrorError('mirror-foreign', `--changes ${base.sinceSeq}: the mirror has changes up to ${cut} only`, {
      facts: { cut, sinceSeq: base.sinceSeq },
      hint: "The number is another mirror's, or the mirror was replaced by an older one: publish a full snapshot into a new folder.",
    })
  }
  if (known <= cut) return
  throw new MirrorError('mirror-foreign', `${place} has changes up to ${known}, the mirror only up to ${cut}`, {
    facts: { place, cut, known },
    hint: 'The mirror was replaced by an older or another one: publish a full snapshot into a new folder.',
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
