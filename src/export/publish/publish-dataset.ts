// Publishes a dataset: its files, then its manifest; and `latest.json`, when the caller says so.
import { createHash } from 'node:crypto'
import { ageOf } from '../../clock.ts'
import { isMirrorError, MirrorError } from '../../errors.ts'
import { aboutOf, openContent, type Snapshot } from '../content.ts'
import { pour, stopIfAborted } from '../encode/pour.ts'
import { formatsWith } from '../formats.ts'
import type { ExportResult } from '../options.ts'
import { datasetWriter } from './dataset.ts'
import {
  jsonBytes,
  type Latest,
  type LatestEntry,
  latestAfter,
  type Manifest,
  type ManifestFile,
  parseLatest,
} from './manifest.ts'
import { LATEST, MANIFEST, MOST_BYTES, type Store } from './store.ts'
import { endingOf } from './target.ts'

export type Published = Pick<ExportResult, 'path' | 'manifest' | 'files' | 'rows' | 'bytes' | 'sha256' | 'readerGone'>

/** Between 128 and 512 MB: what engines of all kinds read well. */
const FILE_BYTES = 256 * 1024 * 1024

/**
 * Publishes the dataset; `entry` is what `latest.json` is to say of it. `now`: epoch ms. Throws what the store, the
 * writers and reading the cut throw; then nothing of the dataset is left.
 */
export async function publishDataset(
  snapshot: Snapshot,
  store: Store,
  now: () => number,
): Promise<{ published: Published; entry: LatestEntry }> {
  const { id: snapshotId, options, target, limits, cut, packer } = snapshot
  const publication = await store.begin(snapshotId)
  const dataset = datasetWriter(publication, {
    ...limits,
    fileBytes: options.fileBytes ?? FILE_BYTES,
    ending: endingOf(target),
    writerFor: (sink) => openContent(snapshot, sink),
    about: aboutOf(snapshot, null),
  })
  try {
    await pour(cut, packer, dataset, options)
    stopIfAborted(options.signal)
    const { files } = dataset
    const publishedAt = now()
    const facts = manifestOf(snapshot, files, publishedAt)
    const { sinceSeq, rows, bytes } = facts
    const manifest = jsonBytes(facts)
    refuseTooLarge(manifest)
    await publication.publish(manifest)
    const entry = {
      snapshotId,
      manifest: `${snapshotId}/${MANIFEST}`,
      manifestSha256: createHash('sha256').update(manifest).digest('hex'),
      cut: cut.cut,
      ...{ sinceSeq, rows, bytes, publishedAt, filters: snapshot.filters, format: target.format },
    }
    const path = `${store.place}/${snapshotId}`
    const whole = { path, manifest: `${path}/${MANIFEST}`, files: files.length, rows, bytes }
    return { published: { ...whole, sha256: null, readerGone: false }, entry }
  } catch (error) {
    await dataset.discard()
    await publication.discard()
    throw error
  }
}

/**
 * Has `latest.json` name what was published. Throws what the store throws: then the snapshot is gone and `withdrawn`
 * was called, or the message names the snapshot.
 */
export async function nameInLatest(
  store: Store,
  kind: Manifest['kind'],
  entry: LatestEntry,
  withdrawn: () => Promise<void>,
): Promise<void> {
  try {
    await store.update(LATEST, (before) => jsonBytes(latestAfter(latestOf(store, before), kind, entry)))
  } catch (error) {
    const { snapshotId } = entry
    if (!(await isWithdrawn(store, snapshotId))) throw notLatest(`${store.place}/${snapshotId}`, error)
    await withdrawn()
    throw error
  }
}

/**
 * Removes a snapshot that `latest.json` could not name: it would lie there unknown, with one more after every attempt.
 * False where that failed, or where `latest.json` may name it all the same, because only the answer was lost.
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

/** Throws `usage-invalid` for a manifest so large that nobody could read it, this program included. */
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

/** What a destination's `latest.json` says; null where there is none. Throws `snapshot-damaged`, `snapshot-newer`. */
export async function readLatest(store: Store): Promise<Latest | null> {
  return latestOf(store, await store.read(LATEST))
}

function latestOf(store: Store, bytes: Buffer | null): Latest | null {
  return bytes === null ? null : parseLatest(bytes, `${store.place}/${LATEST}`)
}

function manifestOf(snapshot: Snapshot, files: ManifestFile[], publishedAt: number): Manifest {
  const { id, cut, base, options, target, filters, packing, limits, packer } = snapshot
  const { redactor } = packer
  const { lastFullWalk: walk } = cut
  return {
    schemaVersion: 1,
    snapshotId: id,
    kind: base === null ? 'full' : 'changes',
    toolVersion: options.toolVersion,
    publishedAt,
    cut: cut.cut,
    sinceSeq: base?.sinceSeq ?? null,
    buildsOn: base?.buildsOn ?? null,
    lastFullWalk: walk && {
      verdict: walk.verdict,
      finishedAt: walk.finishedAt,
      ageMs: ageOf(walk.finishedAt, publishedAt),
    },
    proof: cut.proof,
    format: target.format,
    compression: target.compression,
    engine: formatsWith('engine').includes(target.format) ? packing.encoding.engine : null,
    partitionBy: limits.partitionBy,
    partitionValues: options.partitionValues ?? {},
    filters,
    redacted: { names: redactor.names, values: redactor.counts() },
    schema: packing.encoding.columns.map(({ name, kind: type, nullable }) => ({ name, type, nullable })),
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    // Files are in the order of createdAt.
    minCreatedAt: files.find((file) => file.minCreatedAt !== null)?.minCreatedAt ?? null,
    maxCreatedAt: files.findLast((file) => file.maxCreatedAt !== null)?.maxCreatedAt ?? null,
    files,
  }
}
