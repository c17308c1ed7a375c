// What the files of a snapshot hold, wherever they go: columns, redaction, format, what a file says of itself.

import { MirrorError } from '../errors.ts'
import { flagOf, listed } from '../shown.ts'
import type { Encoder, FileWriter } from './encode/format.ts'
import type { CutPacker } from './encode/pack-in-order.ts'
import type { Packing } from './encode/pieces.ts'
import { type FormatOption, formatEntry, formatsWith, SWITCHES, titlesOf } from './formats.ts'
import type { ExportOptions } from './options.ts'
import type { FeedBase } from './publish/feed.ts'
import type { RecordedFilters } from './publish/manifest.ts'
import type { Sink } from './publish/sink.ts'
import { isDataset, type Target } from './publish/target.ts'
import { chosenColumns } from './read/columns.ts'
import type { FileLimits } from './read/partition.ts'
import type { CutReader } from './read/rows.ts'

/** A snapshot that is being made: what was asked for, and the cut that it is made of. */
export interface Snapshot {
  id: string
  options: ExportOptions
  target: Target
  filters: RecordedFilters
  packing: Packing
  encoder: Encoder
  limits: FileLimits
  cut: CutReader
  packer: CutPacker
  /** null for a full snapshot. */
  base: FeedBase | null
}

/** Begins a file of the snapshot. */
export function openContent({ encoder, packing, options }: Snapshot, sink: Sink): FileWriter {
  return encoder.open(sink, packing.encoding, `task-mirror version ${options.toolVersion}`)
}

/** Names and texts for a file's footer; `redacted` where the number of replaced values is known by then. */
export function aboutOf(snapshot: Snapshot, redacted: Record<string, number> | null): Record<string, string> {
  const { id, options, filters, cut, packer, base } = snapshot
  const { lastFullWalk: walk } = cut
  return {
    'task-mirror.version': options.toolVersion,
    'task-mirror.schema_version': '1',
    'task-mirror.snapshot': id,
    'task-mirror.cut': String(cut.cut),
    ...(base === null ? {} : { 'task-mirror.since_seq': String(base.sinceSeq) }),
    'task-mirror.verdict': JSON.stringify({ verdict: walk?.verdict ?? null, at: walk?.finishedAt ?? null }),
    'task-mirror.filters': JSON.stringify(filters),
    'task-mirror.redacted': JSON.stringify({
      names: packer.redactor.names,
      ...(redacted && { values: redacted }),
    }),
  }
}

export function packingOf(
  { format, compression }: Target,
  { engine = 'hyparquet' }: ExportOptions,
  filters: RecordedFilters,
): Packing {
  const columns = chosenColumns(filters.columns, filters.variant)
  return { format, encoding: { compression, columns, engine, switches: filters } }
}

/** The filters in one spelling, so that equal filters are equal text. Throws `usage-invalid` for an unknown column. */
export function filtersOf(options: ExportOptions): RecordedFilters {
  const { filters = {}, redact, columns = null, changes, withMeta = false } = options
  return {
    since: filters.since ?? null,
    until: filters.until ?? null,
    statuses: filters.statuses ? [...new Set(filters.statuses)].sort() : null,
    includeDeleted: changes !== undefined || (filters.includeDeleted ?? false),
    redact: [...new Set(redact.map((name) => name.toLowerCase()))].sort(),
    // Without `_mirror` a tombstone in a feed of NDJSON could not be told from a task.
    withMeta: withMeta || changes !== undefined,
    columns: columns === null ? null : chosenColumns(columns, false).map((column) => column.name),
    variant: options.variant ?? false,
    invalidJson: filters.invalidJson ?? 'keep',
    ...Object.fromEntries(SWITCHES.flatMap(([name]) => (options[name] === true ? [[name, true]] : []))),
  }
}

/** Columns that a feed cannot do without: which task, whether it is gone, and which of two rows is newer. */
const FEED_COLUMNS = ['id', 'deleted_at', 'change_seq']

/** Throws `usage-invalid` for options that do not go with the format or the place. */
export function refuseMisplaced(target: Target, options: ExportOptions): void {
  const isOneFile = !isDataset(target)
  const own: FormatOption[] = ['columns', 'engine', ...SWITCHES.map(([name]) => name)]
  const misplaced: [boolean, string, string][] = [
    ...own.map((name): [boolean, string, string] => {
      const takers = formatsWith(name)
      const why = `it is for ${titlesOf(takers, 'and')}, not for ${formatEntry(target.format).title}: use --format ${listed(takers, 'or')}`
      return [Boolean(options[name]) && !takers.includes(target.format), flagOf(name), why]
    }),
    [
      isOneFile && (options.partitionBy ?? 'none') !== 'none',
      '--partition-by',
      'one file has no partitions: let --out end in /',
    ],
    [isOneFile && (options.rowsPerFile ?? null) !== null, '--rows-per-file', 'let --out end in / for a dataset'],
    [isOneFile && (options.keep ?? null) !== null, '--keep', 'let --out end in / for a dataset'],
    [isOneFile && options.partitionValues !== undefined, '--partition-value', 'let --out end in / for a dataset'],
    [
      target.kind === 'stdout' && options.changes === 'last',
      '--changes last',
      'stdout has no memory of it: give the number, which is "cut" of the last result',
    ],
    [
      options.changes !== undefined && FEED_COLUMNS.some((name) => options.columns && !options.columns.includes(name)),
      '--changes',
      `it needs the columns ${FEED_COLUMNS.join(', ')}`,
    ],
  ]
  for (const [isMisplaced, flag, why] of misplaced) {
    if (isMisplaced) throw new MirrorError('usage-invalid', `${flag} cannot be used here: ${why}`)
  }
}
