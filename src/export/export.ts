// Publishes one snapshot of one cut: reads, redacts, writes, publishes, records. Knows the order of these steps;
// how each is done is the business of the files beside it.
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { setImmediate as breathe } from 'node:timers/promises'
import { MirrorError } from '../errors.ts'
import { recordSnapshot } from '../mirror/snapshots.ts'
import type { Verdict } from '../task.ts'
import { COLUMNS, positionOf, type RawRow } from './columns.ts'
import type { ParquetEngine } from './parquet/engine.ts'
import { hyparquetEngine } from './parquet/hyparquet.ts'
import { type Draft, openDraft } from './publish.ts'
import { makeRedactor, type Redactor } from './redact.ts'
import { type CutReader, type Filters, openCut } from './rows.ts'
import { compressingSink, interrupted, ReaderGone, type Sink, streamSink } from './sink.ts'
import { type Compression, type Format, type Target, targetOf } from './target.ts'
import { ndjsonWriter, type SnapshotWriter } from './writer.ts'

export interface ExportOptions {
  /** The mirror. */
  dbPath: string
  /** A file's path, or `-` for stdout. */
  out: string
  /** Where `-` goes; `process.stdout` unless given. */
  stdout?: Writable
  /** Where absent, the ending of `out` decides. */
  format?: Format | undefined
  compression?: Compression | undefined
  filters?: Filters
  /** Names of headers whose values are replaced (`REDACTED_HEADERS` and more); null for none. */
  redact: readonly string[] | null
  /** NDJSON only: adds `_mirror` to every task. Parquet always has these columns. */
  withMeta?: boolean
  toolVersion: string
  signal?: AbortSignal
  /** Epoch ms. */
  now?: () => number
  /** Mode of the published file. */
  fileMode?: number
  /** How long recording the snapshot waits for a writer. */
  busyTimeoutMs?: number
  /** Rows written so far, and how many there will be (null where that is not known beforehand). */
  onProgress?: (rows: number, totalRows: number | null) => void
}

export interface ExportResult {
  schemaVersion: 1
  snapshotId: string
  /** Absolute; `-` for stdout. */
  path: string
  format: Format
  compression: Compression
  rows: number
  /** Bytes of the file, or those given to stdout. */
  bytes: number
  /** Of the file; null for stdout. */
  sha256: string | null
  /** Highest `change_seq` of the mirror when it was read. */
  cut: number
  /** How the last full walk that ended did, and when (epoch ms); nulls where there was none. */
  verdict: Verdict | null
  verdictAt: number | null
  /** The names looked for, and how many values were replaced by name. */
  redacted: { names: string[]; values: Record<string, number> }
  /** Whether the mirror has a row about it in `snapshots`. */
  recorded: boolean
  /** Why it has none, one sentence; null where it has, and for stdout. */
  notRecorded: string | null
  /** True where the reader of stdout went away before the end. */
  readerGone: boolean
  durationMs: number
}

const ROW_GROUP_BYTES = 8 * 1024 * 1024

/**
 * Publishes a snapshot of the mirror at `dbPath` to one file or to stdout.
 * At the destination stands the whole new file or what was there before. Throws `MirrorError`: `usage-invalid`,
 * `disk-full`, `snapshot-unwritable`, `interrupted`, or what opening and reading the mirror throws.
 */
export async function exportSnapshot(options: ExportOptions): Promise<ExportResult> {
  const now = options.now ?? Date.now
  const startedAt = now()
  const target = targetOf(options.out, options.format, options.compression)
  const redactor = makeRedactor(options.redact ?? [])
  const filters = options.filters ?? {}
  const path = target.out === '-' ? '-' : resolve(target.out)
  refuseMirrorItself(path, options.dbPath)
  stopIfAborted(options.signal)
  const cut = openCut(options.dbPath, filters)
  const snapshotId = snapshotIdOf(startedAt, cut.cut, randomBytes(3).toString('hex'))
  let draft: Draft | null = null
  let result: ExportResult
  try {
    if (path !== '-') {
      draft = await openDraft(path, {
        mode: options.fileMode ?? 0o600,
        pid: process.pid,
        random: randomBytes(6).toString('hex'),
        now: startedAt,
      })
    }
    const sink = draft ?? streamSink(options.stdout ?? process.stdout, options.signal)
    const written = await writeSnapshot(cut, sink, target, redactor, snapshotId, options)
    stopIfAborted(options.signal)
    await draft?.publish()
    result = {
      schemaVersion: 1,
      snapshotId,
      path,
      format: target.format,
      compression: target.compression,
      rows: written.rows,
      bytes: sink.bytes,
      sha256: draft?.sha256() ?? null,
      cut: cut.cut,
      verdict: cut.verdict,
      verdictAt: cut.verdictAt,
      redacted: { names: [...redactor.names], values: redactor.counts() },
      recorded: false,
      notRecorded: null,
      readerGone: written.readerGone,
      durationMs: 0,
    }
  } catch (error) {
    await draft?.discard()
    throw error
  } finally {
    cut.close()
  }
  if (path !== '-') await record(result, options, now())
  return { ...result, durationMs: now() - startedAt }
}

async function writeSnapshot(
  cut: CutReader,
  sink: Sink,
  target: Target,
  redactor: Redactor,
  snapshotId: string,
  options: ExportOptions,
): Promise<{ rows: number; readerGone: boolean }> {
  const total = options.onProgress ? cut.total() : null
  const { writer, destroy } = writerOf(target, sink, options)
  let rows = 0
  try {
    for (const batch of cut.batches()) {
      stopIfAborted(options.signal)
      if (redactor.names.length > 0) for (const row of batch) redactRow(row, redactor)
      await writer.write(batch)
      rows += batch.length
      options.onProgress?.(rows, total)
      // Lets signals and timers in, also where no write made it wait.
      await breathe()
    }
    await writer.close({
      'task-mirror.version': options.toolVersion,
      'task-mirror.snapshot': snapshotId,
      'task-mirror.cut': String(cut.cut),
      'task-mirror.verdict': JSON.stringify({ verdict: cut.verdict, at: cut.verdictAt }),
      'task-mirror.filters': JSON.stringify(filtersOf(options)),
      'task-mirror.redacted': JSON.stringify({ names: redactor.names, values: redactor.counts() }),
    })
    return { rows, readerGone: false }
  } catch (error) {
    if (error instanceof ReaderGone) return { rows, readerGone: true }
    throw error
  } finally {
    destroy()
  }
}

function writerOf(target: Target, sink: Sink, options: ExportOptions): { writer: SnapshotWriter; destroy: () => void } {
  if (target.format === 'ndjson') {
    const compressing = compressingSink(sink, target.compression)
    return { writer: ndjsonWriter(compressing, options.withMeta ?? false), destroy: () => compressing.destroy() }
  }
  const engine: ParquetEngine = hyparquetEngine
  const writer = engine.open(sink, COLUMNS, {
    compression: target.compression,
    rowGroupBytes: ROW_GROUP_BYTES,
    createdBy: `task-mirror version ${options.toolVersion}`,
  })
  return { writer, destroy: () => {} }
}

const HEADERS = [positionOf('data_header'), positionOf('result_header')]
const EXTRA = positionOf('extra')

function redactRow(row: RawRow, redactor: Redactor): void {
  for (const i of HEADERS) {
    const text = row[i]
    if (typeof text === 'string') row[i] = redactor.header(text)
  }
  const extra = row[EXTRA]
  if (typeof extra === 'string') row[EXTRA] = redactor.extra(extra)
}

/** The snapshot is published: whatever keeps the mirror from taking the row is said, never thrown. */
async function record(result: ExportResult, options: ExportOptions, at: number): Promise<void> {
  try {
    await recordSnapshot(
      options.dbPath,
      {
        id: result.snapshotId,
        cut: result.cut,
        path: result.path,
        format: result.format,
        files: 1,
        rows: result.rows,
        bytes: result.bytes,
        filters: filtersOf(options),
        sinceSeq: null,
        publishedAt: at,
      },
      options.busyTimeoutMs ?? 5_000,
    )
    result.recorded = true
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error
    result.notRecorded = `The snapshot is published, but the mirror has no row about it: ${error.message}`
  }
}

/** In one spelling, so that equal filters are equal text. */
function filtersOf({ filters = {}, redact, withMeta = false }: ExportOptions): Record<string, unknown> {
  return {
    since: filters.since === undefined || filters.since === null ? null : Number(filters.since),
    until: filters.until === undefined || filters.until === null ? null : Number(filters.until),
    statuses: filters.statuses ? [...new Set(filters.statuses)].sort() : null,
    includeDeleted: filters.includeDeleted ?? false,
    redact: redact === null ? [] : [...new Set(redact.map((name) => name.toLowerCase()))].sort(),
    withMeta,
  }
}

/** Sorts by time; two of the same millisecond differ by `random`. */
export function snapshotIdOf(at: number, cut: number, random: string): string {
  return `${new Date(at).toISOString().replace(/[-:.]/g, '')}-${cut}-${random}`
}

function refuseMirrorItself(path: string, dbPath: string): void {
  if (path === '-') return
  const [out, mirror] = [path, dbPath].map((name) => statSync(name, { throwIfNoEntry: false }))
  const isMirror = out !== undefined && mirror !== undefined && out.dev === mirror.dev && out.ino === mirror.ino
  if (isMirror || ['-wal', '-shm', '-journal'].some((suffix) => path === resolve(dbPath) + suffix)) {
    throw new MirrorError('usage-invalid', `${path} is the mirror itself`, {
      facts: { path },
      hint: 'Name another file with --out.',
    })
  }
}

function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw interrupted()
}
