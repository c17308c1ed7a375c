// Publishes one snapshot of one cut: reads, redacts, writes, publishes, records it and names it in `latest.json`.
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { MirrorError } from '../errors.ts'
import { forgetSnapshot, recordSnapshot, snapshotIdOf, snapshotsAt } from '../mirror/tables/snapshots.ts'
import { severalText } from '../shown.ts'
import { aboutOf, filtersOf, openContent, packingOf, refuseMisplaced, type Snapshot } from './content.ts'
import { beginPacking, type CutPacker } from './encode/pack-in-order.ts'
import { COMPRESSION_OF, SHARES_WORK } from './encode/parquet/engine.ts'
import { encoderOf, type Packing } from './encode/pieces.ts'
import { pour, stopIfAborted } from './encode/pour.ts'
import { isForTwo } from './encode/second-entry.ts'
import { openCuts, startSecondThread } from './encode/second-thread.ts'
import type { ExportOptions, ExportResult } from './options.ts'
import { type Published, publishDataset } from './publish/dataset.ts'
import { type FeedDestination, feedBase, refuseNarrower, refuseOtherMirror } from './publish/feed.ts'
import { filesInUse, refuseInUse } from './publish/in-use.ts'
import { nameInLatest, readLatest } from './publish/latest.ts'
import type { LatestEntry, RecordedFilters } from './publish/manifest.ts'
import { isFolder, openDraft } from './publish/publish.ts'
import { removeExpired } from './publish/retention.ts'
import { type Sink, streamSink } from './publish/sink.ts'
import type { Store } from './publish/store.ts'
import { storeAt } from './publish/store-at.ts'
import { isDataset, type Target, targetOf } from './publish/target.ts'
import type { Filters } from './read/conditions.ts'
import type { FileLimits } from './read/partition.ts'
import { redactionOf } from './read/redact.ts'
import type { CutReader } from './read/rows.ts'

/**
 * Publishes a snapshot of the mirror at `dbPath` to one file, to stdout, or as a dataset.
 * At the destination stands the whole new snapshot or what was there before. Throws `MirrorError`: `usage-invalid`,
 * `disk-full`, `snapshot-unwritable`, `snapshot-damaged` and `snapshot-newer` (of `latest.json`), `value-refused`,
 * `mirror-foreign`, `interrupted`, or what opening and reading the mirror throws.
 */
export async function exportSnapshot(options: ExportOptions): Promise<ExportResult> {
  const now = options.now ?? Date.now
  const startedAt = now()
  const { engine, compression } = options
  const asked = targetOf(options.out, options.format, compression, isFolder(options.out))
  refuseMisplaced(asked, options)
  const target = engine && compression === undefined ? { ...asked, compression: COMPRESSION_OF[engine] } : asked
  const filters = filtersOf(options)
  stopIfAborted(options.signal)
  const store = isDataset(target) ? await storeAt(target, options) : null
  try {
    const place = store?.place ?? (target.kind === 'stdout' ? '-' : resolve(target.out))
    const { result, entry } = await publish({ place, store, target, filters, startedAt, now }, options)
    // Recorded first: once it is named, feeds are refused that find no row about it.
    if (place !== '-') await record(result, { place, filters, at: now(), isDataset: store !== null }, options)
    // A feed without a row is not named, so that the next ones go on from the one before.
    if (store !== null && entry !== null && (result.kind === 'full' || result.recorded))
      await nameInLatest(store, result.kind, entry, () => forget(result, options))
    if (store !== null && options.keep) Object.assign(result, await removeExpired(store, options.keep, now()))
    return { ...result, durationMs: now() - startedAt }
  } finally {
    store?.close()
  }
}

const LIMIT =
  '--keep, or export.keep where --out is not given, says how many to keep; `task-mirror status` tells the disk they take'

/** A snapshot that is to be published: where it goes and which rows it takes. */
interface ToPublish {
  place: string
  /** Null for a single file, and for stdout. */
  store: Store | null
  target: Target
  filters: RecordedFilters
  /** Epoch ms. */
  startedAt: number
  now(): number
}

/** Publishes the snapshot; `entry` is what `latest.json` is to say of it, null for a single file. */
async function publish(
  to: ToPublish,
  options: ExportOptions,
): Promise<{ result: ExportResult; entry: LatestEntry | null }> {
  const { place, store, target, filters, startedAt, now } = to
  // Refused before the work, not only at its end; a store checks its own files.
  if (store === null && place !== '-') refuseInUse(place, filesInUse(options.dbPath, options.inUse))
  const latest = store === null ? undefined : await readLatest(store)
  // A feed cannot go on from what `--keep` or somebody has removed.
  const present =
    store === null ? null : latest === null || options.changes === undefined ? [] : await store.snapshotIds()
  const limits = { partitionBy: options.partitionBy ?? 'none', rowsPerFile: options.rowsPerFile ?? null }
  const { partitionBy } = limits
  const destination: FeedDestination = { place, format: target.format, partitionBy, filters, latest, present }
  if (options.changes === undefined) refuseNarrower(destination)
  const base = options.changes === undefined ? null : feedBase(options.dbPath, options.changes, destination)
  const wanted = { ...options.filters, ...(base && { sinceSeq: base.sinceSeq, includeDeleted: true }) }
  const packing = packingOf(target, options, filters)
  const { cut, packer } = await openPacker(options, wanted, packing, limits)
  try {
    refuseUnknownStatus(cut, to, options.dbPath)
    refuseOtherMirror({ dbPath: options.dbPath, cut: cut.cut }, base, destination)
    // Only now that there is something to publish, because this makes the folder.
    await store?.makeReady(startedAt)
    const id = snapshotIdOf(startedAt, cut.cut, randomBytes(3).toString('hex'))
    const encoder = await encoderOf(packing)
    const snapshot: Snapshot = { id, options, target, filters, packing, encoder, limits, cut, packer, base }
    const { published, entry } =
      store === null
        ? { published: await publishOneFile(snapshot, to), entry: null }
        : await publishDataset(snapshot, store, now)
    const { redactor } = packer
    const result: ExportResult = {
      schemaVersion: 1,
      snapshotId: id,
      kind: base === null ? 'full' : 'changes',
      ...published,
      format: target.format,
      compression: target.compression,
      cut: cut.cut,
      sinceSeq: base?.sinceSeq ?? null,
      verdict: cut.lastFullWalk?.verdict ?? null,
      verdictAt: cut.lastFullWalk?.finishedAt ?? null,
      redacted: { names: redactor.names, values: redactor.counts() },
      removed: [],
      notRemoved: null,
      notLimited:
        store !== null && latest === null && !options.keep ? `Every snapshot stays at ${place}: ${LIMIT}` : null,
      recorded: false,
      notRecorded: null,
      durationMs: 0,
    }
    return { result, entry }
  } finally {
    await packer.stop()
    cut.close()
  }
}

/**
 * Throws `usage-invalid` for a status that no task has, unless it was published there before: it is most likely a slip
 * of the pen, which an empty snapshot would hide.
 */
function refuseUnknownStatus(cut: CutReader, { place, target, filters }: ToPublish, dbPath: string): void {
  const missing = filters.statuses?.filter((status) => !cut.hasStatus(status)) ?? []
  if (missing.length === 0) return
  const before = snapshotsAt(dbPath, place, target.format).flatMap((one) => (one.filters as RecordedFilters).statuses)
  const unknown = missing.find((status) => !before.includes(status))
  if (unknown === undefined) return
  const known = cut.someStatuses(MOST_NAMED)
  if (known.length === 0) return
  const more = known.length === MOST_NAMED ? ', ...' : ''
  throw new MirrorError('usage-invalid', `--status: no task in the mirror has the status "${unknown}"`, {
    hint: `There are: ${known.join(', ')}${more}. Upper and lower case are told apart.${severalText('--status', unknown)}`,
  })
}

/** Opens the cut for this thread, which packs at once, and where it pays also for a second one that holds the same. */
async function openPacker(
  options: ExportOptions,
  filters: Filters,
  packing: Packing,
  limits: FileLimits,
): Promise<{ cut: CutReader; packer: CutPacker }> {
  const { dbPath, signal, engine = 'hyparquet', smallCutBytes } = options
  const redact = redactionOf(options.redact)
  const isShared = (cut: CutReader) => SHARES_WORK[engine] && isForTwo(cut.bytes(), smallCutBytes)
  const start = (cut: CutReader) => (isShared(cut) ? startSecondThread(dbPath, packing.format) : null)
  const begin = (cut: CutReader) => beginPacking(cut, { packing, limits, redact, signal })
  const { cut, head: packer, second } = await openCuts(dbPath, filters, start, begin)
  if (second !== null) {
    // If `begin` fails, the calls of `pack` after it throw the error.
    second.begin(packing, redact).catch(() => {})
    packer.join(second)
  }
  return { cut, packer }
}

/** Most statuses named in a message. */
const MOST_NAMED = 12

async function publishOneFile(snapshot: Snapshot, { place: path, startedAt }: ToPublish): Promise<Published> {
  const { options, cut, packer } = snapshot
  const inUse = filesInUse(options.dbPath, options.inUse)
  const draft = path === '-' ? null : await openDraft(path, { now: startedAt, inUse })
  try {
    const sink: Sink = draft ?? streamSink(options.stdout ?? process.stdout, options.signal)
    const writer = openContent(snapshot, sink)
    try {
      const files = {
        add: writer.add,
        close: () => writer.close(aboutOf(snapshot, packer.redactor.counts())),
      }
      const { rows, readerGone } = await pour(cut, packer, files, options)
      stopIfAborted(options.signal)
      await draft?.finish()
      return { path, manifest: null, files: 1, rows, bytes: sink.bytes, sha256: draft?.sha256() ?? null, readerGone }
    } finally {
      writer.destroy()
    }
  } catch (error) {
    await draft?.discard()
    throw error
  }
}

/** Records the snapshot, which is published by now: so a failure is noted in the result, never thrown. */
async function record(
  result: ExportResult,
  { place, filters, at, isDataset }: { place: string; filters: RecordedFilters; at: number; isDataset: boolean },
  options: ExportOptions,
): Promise<void> {
  try {
    const row = { ...result, id: result.snapshotId, path: place, filters, publishedAt: at }
    await recordSnapshot(options.dbPath, row, options.busyTimeoutMs ?? BUSY_MS)
    result.recorded = true
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error
    const then =
      result.kind === 'changes'
        ? `${isDataset ? ' and latest.json does not name it' : ''}: the next feed holds the same changes`
        : isDataset
          ? ': feeds are refused there until the next full snapshot'
          : ''
    result.notRecorded = `The snapshot is published, but the mirror has no row about it (${error.message})${then}`
  }
}

/** Removes the row of a snapshot that was withdrawn. If it stays it does no harm: nothing goes on from what is gone. */
async function forget({ snapshotId, recorded }: ExportResult, options: ExportOptions): Promise<void> {
  if (!recorded) return
  try {
    await forgetSnapshot(options.dbPath, snapshotId, options.busyTimeoutMs ?? BUSY_MS)
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error
  }
}

/** How long a writer of the mirror is waited for. */
const BUSY_MS = 5_000
