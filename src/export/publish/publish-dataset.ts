// Publishes a dataset: its files, then its manifest, then `latest.json`.
import { createHash } from 'node:crypto'
import { ageOf } from '../../clock.ts'
import { isMirrorError, MirrorError } from '../../errors.ts'
import type { Content } from '../content.ts'
import { type Packers, pour, stopIfAborted } from '../encode/pour.ts'
import type { ExportOptions, ExportResult } from '../options.ts'
import type { FileLimits } from '../read/partition.ts'
import type { CutReader } from '../read/rows.ts'
import { datasetWriter } from './dataset.ts'
import type { FeedBase, RecordedFilters } from './feed.ts'
import { jsonBytes, type Kind, type Latest, latestAfter, type ManifestFile, parseLatest } from './manifest.ts'
import { LATEST, MANIFEST, MOST_BYTES, type Store } from './store.ts'
import { endingOf, type Target } from './target.ts'

export type Published = Pick<ExportResult, 'path' | 'manifest' | 'files' | 'rows' | 'bytes' | 'sha256' | 'readerGone'>

interface DatasetJob {
  store: Store
  target: Target
  snapshotId: string
  cut: CutReader
  packers: Packers
  limits: FileLimits
  /** null for a full snapshot. */
  base: FeedBase | null
  filters: RecordedFilters
  content: Content
  options: ExportOptions
  /** Epoch ms. */
  now: () => number
}

/** Between 128 and 512 MB: what engines of all kinds read well. */
const FILE_BYTES = 256 * 1024 * 1024

/** Throws what the store, the writers and the reading of the cut throw; then nothing of it is left. */
export async function publishDataset(job: DatasetJob): Promise<Published> {
  const { store, snapshotId, content, options } = job
  const publication = await store.begin(snapshotId)
  const dataset = datasetWriter(publication, {
    ...job.limits,
    fileBytes: options.fileBytes ?? FILE_BYTES,
    ending: endingOf(job.target),
    writerFor: content.open,
    about: content.about(null),
  })
  try {
    await pour(job.cut, job.packers, dataset, options)
    stopIfAborted(options.signal)
    const { files } = dataset
    const { kind, manifest, rows, bytes, publishedAt } = manifestOf(job, files)
    refuseTooLarge(manifest)
    await publication.publish(manifest)
    const entry = {
      snapshotId,
      manifest: `${snapshotId}/${MANIFEST}`,
      manifestSha256: createHash('sha256').update(manifest).digest('hex'),
      cut: job.cut.cut,
      sinceSeq: job.base?.sinceSeq ?? null,
      rows,
      bytes,
      publishedAt,
    }
    const path = `${store.place}/${snapshotId}`
    try {
      await store.update(LATEST, (before) => jsonBytes(latestAfter(latestOf(store, before), kind, entry)))
    } catch (error) {
      if (!(await isWithdrawn(store, snapshotId))) throw notLatest(path, error)
      throw error
    }
    return { path, manifest: `${path}/${MANIFEST}`, files: files.length, rows, bytes, sha256: null, readerGone: false }
  } catch (error) {
    await dataset.discard()
    await publication.discard()
    throw error
  }
}

/**
 * Takes a snapshot away that `latest.json` could not be told of: it would lie there unknown, and another copy after every
 * attempt. False where that failed, and where `latest.json` may name it all the same, because only the answer was lost.
 */
async function isWithdrawn(store: Store, snapshotId: string): Promise<boolean> {
  try {
    const latest = await readLatest(store)
    if ([latest?.full, latest?.changes].some((entry) => entry?.snapshotId === snapshotId)) return false
    await store.remove(snapshotId)
    return true
  } catch {
    return false
  }
}

function notLatest(path: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = isMirrorError(error) ? error.code : 'snapshot-unwritable'
  return new MirrorError(code, `${path} is published, but ${LATEST} may not name it: ${error.message}`, {
    facts: { path, ...(isMirrorError(error) && error.facts) },
    hint: `Look into why ${LATEST} cannot be replaced, then export once more; that snapshot can be removed.`,
    cause: error,
  })
}

/** Throws `usage-invalid`: nobody could read it, us included. */
function refuseTooLarge({ length }: Buffer): void {
  if (length <= MOST_BYTES) return
  throw new MirrorError(
    'usage-invalid',
    `The manifest would have ${length} bytes, more than the ${MOST_BYTES} that are read`,
    {
      hint: 'Publish fewer files: a larger --rows-per-file, or larger partitions.',
    },
  )
}

/** What `latest.json` of a destination says; null where there is none. Throws `snapshot-damaged`. */
export async function readLatest(store: Store): Promise<Latest | null> {
  return latestOf(store, await store.read(LATEST))
}

function latestOf(store: Store, bytes: Buffer | null): Latest | null {
  return bytes === null ? null : parseLatest(bytes, `${store.place}/${LATEST}`)
}

function manifestOf(job: DatasetJob, files: ManifestFile[]) {
  const { cut, base, content, options, target } = job
  const publishedAt = job.now()
  const rows = files.reduce((sum, file) => sum + file.rows, 0)
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const kind: Kind = base === null ? 'full' : 'changes'
  // Files are in the order of createdAt.
  const first = files.find((file) => file.minCreatedAt !== null)
  const last = files.findLast((file) => file.maxCreatedAt !== null)
  const manifest = jsonBytes({
    schemaVersion: 1,
    snapshotId: job.snapshotId,
    kind,
    toolVersion: options.toolVersion,
    publishedAt,
    cut: cut.cut,
    sinceSeq: base?.sinceSeq ?? null,
    buildsOn: base?.buildsOn ?? null,
    lastFullWalk:
      cut.verdict === null || cut.verdictAt === null
        ? null
        : { verdict: cut.verdict, finishedAt: cut.verdictAt, ageMs: ageOf(cut.verdictAt, publishedAt) },
    proof: cut.proof,
    format: target.format,
    compression: target.compression,
    engine: content.engine,
    partitionBy: job.limits.partitionBy,
    partitionValues: options.partitionValues ?? {},
    filters: job.filters,
    redacted: { names: [...content.redactor.names], values: content.redactor.counts() },
    schema: content.packing.encoding.columns.map(({ name, kind: type, nullable }) => ({ name, type, nullable })),
    rows,
    bytes,
    minCreatedAt: first?.minCreatedAt ?? null,
    maxCreatedAt: last?.maxCreatedAt ?? null,
    files,
  })
  return { kind, manifest, rows, bytes, publishedAt }
}
