// What stands in the files of a snapshot, whatever their place: columns, redaction, format, what a file says of itself.
import { setImmediate as breathe } from 'node:timers/promises'
import { MirrorError } from '../../errors.ts'
import type { HeadStart } from '../encode/head-start.ts'
import { type PackerOptions, type PackStretch, STRETCH_BYTES } from '../encode/packer.ts'
import { CODEC_OF, type EngineName } from '../encode/parquet/engine.ts'
import { engineOf } from '../encode/parquet/engines.ts'
import type { SecondThread } from '../encode/second-thread.ts'
import { packTogether } from '../encode/together.ts'
import { ndjsonWriter, type SnapshotWriter } from '../encode/writer.ts'
import { letYoungGenerationsGrow } from '../encode/young-generations.ts'
import { type FormatOption, factsOf, flagOf, formatsWith, listed, SWITCHES, titlesOf } from '../formats.ts'
import type { ExportOptions } from '../options.ts'
import type { RecordedFilters } from '../publish/feed.ts'
import { compressingSink, interrupted, ReaderGone, type Sink } from '../publish/sink.ts'
import type { Target } from '../publish/target.ts'
import { type Column, chosenColumns } from './columns.ts'
import { type Redactor, redactRow } from './redact.ts'
import type { CutReader } from './rows.ts'
import type { Stretch } from './stretches.ts'

export interface Content {
  columns: Column[]
  redactor: Redactor
  /** null for NDJSON. */
  engine: EngineName | null
  /** Begins a file. `destroy` frees what it holds, also after a failure. */
  writerFor(sink: Sink): { writer: SnapshotWriter; destroy: () => void }
  /** Names and texts for a file's footer; `redacted` where the number of replaced values is known by then. */
  about(redacted: Record<string, number> | null): Record<string, string>
}

export interface ContentOptions {
  target: Target
  options: ExportOptions
  filters: RecordedFilters
  columns: Column[]
  redactor: Redactor
  cut: CutReader
  snapshotId: string
  sinceSeq: number | null
}

/** Small enough for readers on small machines, large enough to compress well. */
const ROW_GROUP_BYTES = STRETCH_BYTES.parquet

export async function contentOf(of: ContentOptions): Promise<Content> {
  const { target, options, filters, columns, redactor, cut, snapshotId, sinceSeq } = of
  const parquet = target.format === 'parquet' ? await engineOf(options.engine ?? 'hyparquet') : null
  return {
    columns,
    redactor,
    engine: parquet?.name ?? null,
    writerFor(sink) {
      if (parquet === null) {
        const compressing = compressingSink(sink, target.compression)
        return { writer: ndjsonWriter(compressing, filters.withMeta), destroy: () => compressing.destroy() }
      }
      const writer = parquet.open(sink, columns, {
        compression: target.compression,
        rowGroupBytes: ROW_GROUP_BYTES,
        createdBy: `task-mirror version ${options.toolVersion}`,
      })
      return { writer, destroy: () => {} }
    },
    about: (values) => ({
      'task-mirror.version': options.toolVersion,
      'task-mirror.schema_version': '1',
      'task-mirror.snapshot': snapshotId,
      'task-mirror.cut': String(cut.cut),
      ...(sinceSeq === null ? {} : { 'task-mirror.since_seq': String(sinceSeq) }),
      'task-mirror.verdict': JSON.stringify({ verdict: cut.verdict, at: cut.verdictAt }),
      'task-mirror.filters': JSON.stringify(filters),
      'task-mirror.redacted': JSON.stringify({ names: redactor.names, ...(values && { values }) }),
    }),
  }
}

/** How stretches are packed where two threads share the work. */
export function packingOf(target: Target, filters: RecordedFilters, columns: Column[]): PackerOptions {
  if (target.format === 'ndjson') return { format: 'ndjson', withMeta: filters.withMeta }
  return { format: 'parquet', columns, codec: CODEC_OF[target.compression] }
}

/** The other thread, which holds the same cut, and what this one has begun meanwhile. */
export interface TwoThreads {
  second: SecondThread
  /** Packs a stretch there. */
  there: PackStretch
  head: HeadStart
}

/** By then, about 32 MB of rows, this thread has the room that it needs. */
const GROWN_AFTER = 500

/** Takes rows in order, or rows that are encoded already. */
export type RowTaker = Pick<SnapshotWriter, 'write' | 'add'>

/**
 * Brings all rows of the cut, redacted, to `writer` and then ends it with `close`; with `both` by two
 * threads. A reader of stdout that has gone away ends it without failure.
 */
export async function pour(
  cut: CutReader,
  { redactor }: Pick<Content, 'redactor'>,
  writer: RowTaker,
  { signal, onProgress }: Pick<ExportOptions, 'signal' | 'onProgress'>,
  close: () => Promise<unknown>,
  both: TwoThreads | null = null,
): Promise<{ rows: number; readerGone: boolean }> {
  const total = onProgress ? cut.total() : null
  let rows = 0
  let batches = 0

  function took(count: number): void {
    rows += count
    onProgress?.(rows, total)
  }

  /** Lets signals and timers in, also where no write made it wait. */
  async function pause(): Promise<void> {
    await breathe()
    stopIfAborted(signal)
  }

  async function pourAlone(stretch?: Stretch): Promise<void> {
    for (const batch of cut.batches(stretch)) {
      stopIfAborted(signal)
      if (++batches === GROWN_AFTER) letYoungGenerationsGrow(false)
      if (redactor.names.length > 0) for (const row of batch) redactRow(row, redactor)
      await writer.write(batch)
      took(batch.length)
      await pause()
    }
  }

  async function pourWith({ second, there, head }: TwoThreads): Promise<void> {
    for await (const { packed, rest } of packTogether(head.first, head.stretches, head.pack, there)) {
      stopIfAborted(signal)
      if (packed !== null) {
        await writer.add(packed)
        took(packed.rows)
      }
      if (rest !== null) await pourAlone(rest)
      await pause()
    }
    redactor.add(second.counts())
    // It takes a while to end, and the footer is written meanwhile.
    void second.close()
  }

  try {
    if (both !== null) await pourWith(both)
    else await pourAlone()
    await close()
    return { rows, readerGone: false }
  } catch (error) {
    if (error instanceof ReaderGone) return { rows, readerGone: true }
    throw error
  } finally {
    letYoungGenerationsGrow(true)
  }
}

/** In one spelling, so that equal filters are equal text. Throws `usage-invalid` for a column that there is none of. */
export function filtersOf(options: ExportOptions): RecordedFilters {
  const { filters = {}, redact, columns = null, changes, withMeta = false } = options
  const bound = (value: number | bigint | null | undefined) =>
    value === undefined || value === null ? null : Number(value)
  return {
    since: bound(filters.since),
    until: bound(filters.until),
    statuses: filters.statuses ? [...new Set(filters.statuses)].sort() : null,
    includeDeleted: changes !== undefined || (filters.includeDeleted ?? false),
    redact: redact === null ? [] : [...new Set(redact.map((name) => name.toLowerCase()))].sort(),
    ...Object.fromEntries(SWITCHES.flatMap(([name]) => (options[name] === true ? [[name, true]] : []))),
    // Without it a tombstone in a feed of NDJSON could not be told from a task.
    withMeta: withMeta || changes !== undefined,
    columns: columns === null ? null : chosenColumns(columns, false).map((column) => column.name),
    variant: options.variant ?? false,
    invalidJson: filters.invalidJson ?? 'keep',
  }
}

/** What a feed cannot do without: whose row, which of two is newer, whether it is gone. */
const FEED_COLUMNS = ['id', 'deleted_at', 'change_seq']

/** Throws `usage-invalid` for options that do not go with the format or the place. */
export function refuseMisplaced(target: Target, options: ExportOptions): void {
  const isDataset = target.kind === 'folder' || target.kind === 's3'
  const own: FormatOption[] = ['columns', 'engine', ...SWITCHES.map(([name]) => name)]
  const misplaced: [boolean, string, string][] = [
    ...own.map((name): [boolean, string, string] => {
      const takers = formatsWith(name)
      const why = `it is for ${titlesOf(takers, 'and')}, not for ${factsOf(target.format).title}: use --format ${listed(takers, 'or')}`
      return [Boolean(options[name]) && !takers.includes(target.format), flagOf(name), why]
    }),
    [
      !isDataset && (options.partitionBy ?? 'none') !== 'none',
      '--partition-by',
      'one file has no partitions: let --out end in /',
    ],
    [!isDataset && (options.rowsPerFile ?? null) !== null, '--rows-per-file', 'let --out end in / for a dataset'],
    [!isDataset && (options.keep ?? null) !== null, '--keep', 'let --out end in / for a dataset'],
    [!isDataset && options.partitionValues !== undefined, '--partition-value', 'let --out end in / for a dataset'],
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

/** Throws `interrupted`. */
export function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw interrupted()
}
