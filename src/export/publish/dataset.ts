// A dataset: which rows go into which of its files, by partition, by rows, by size; then its manifest.
import { createHash } from 'node:crypto'
import { ageOf } from '../../clock.ts'
import { MirrorError } from '../../errors.ts'
import { aboutOf, openContent, type Snapshot } from '../content.ts'
import type { FileWriter, Packed } from '../encode/format.ts'
import { pour, stopIfAborted } from '../encode/pour.ts'
import { formatsWith } from '../formats.ts'
import type { ExportResult } from '../options.ts'
import { type Partition, partitionOf, staysIn } from '../read/partition.ts'
import { jsonBytes, type LatestEntry, type Manifest, type ManifestFile } from './manifest.ts'
import type { OutputFile } from './publish.ts'
import { MANIFEST, MOST_BYTES, type PendingPublication, type Store } from './store.ts'
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
  const dataset = datasetWriter(publication, snapshot)
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
      partitionBy: limits.partitionBy,
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

interface Part {
  info: ManifestFile
  partition: Partition
  file: OutputFile
  writer: FileWriter
}

/** Takes pieces in the order of `created_at, id`, nulls first; none may hold rows of two files. */
function datasetWriter(publication: PendingPublication, snapshot: Snapshot) {
  const { partitionBy, rowsPerFile } = snapshot.limits
  const { fileBytes = FILE_BYTES } = snapshot.options
  const about = aboutOf(snapshot, null)
  const files: ManifestFile[] = []
  /** Files begun, by folder: only the partition of NULL comes twice, before the first date and after the last. */
  const begun = new Map<string, number>()
  let part: Part | null = null

  async function begin(createdAt: bigint | null): Promise<Part> {
    const partition = partitionOf(createdAt, partitionBy)
    const number = begun.get(partition.folder) ?? 0
    begun.set(partition.folder, number + 1)
    const name = `part-${String(number).padStart(5, '0')}${endingOf(snapshot.target)}`
    const path = partition.folder === '' ? name : `${partition.folder}/${name}`
    const file = await publication.open(path)
    const info = {
      path,
      partition: partition.values,
      rows: 0,
      bytes: 0,
      sha256: '',
      minCreatedAt: null,
      maxCreatedAt: null,
    }
    part = { info, partition, file, writer: openContent(snapshot, file) }
    return part
  }

  async function end(): Promise<void> {
    if (part === null) return
    const { info, file, writer } = part
    await writer.close(about)
    writer.destroy()
    await file.finish()
    files.push({ ...info, bytes: file.bytes, sha256: file.sha256() })
    part = null
  }

  /** Whether a piece goes into the open file; it is of one partition, and no larger than a file may be. */
  function fits({ info, partition, file }: Part, { rows, maxCreatedAt }: Packed): boolean {
    const isFull = file.bytes >= fileBytes || info.rows + rows > (rowsPerFile ?? Number.POSITIVE_INFINITY)
    return !isFull && staysIn(partition, maxCreatedAt)
  }

  return {
    /** The files that have ended: all of them once it is closed. */
    files,
    async add(packed: Packed): Promise<void> {
      if (part !== null && !fits(part, packed)) await end()
      part ??= await begin(packed.minCreatedAt)
      part.info.rows += packed.rows
      part.info.minCreatedAt ??= packed.minCreatedAt
      part.info.maxCreatedAt = packed.maxCreatedAt ?? part.info.maxCreatedAt
      await part.writer.add(packed)
    },
    /** Ends the last file. Without any row there is one file that holds none, so that readers find the columns. */
    async close(): Promise<void> {
      if (part === null && files.length === 0) await begin(null)
      await end()
    },
    /** Frees what is open after a failure. */
    async discard(): Promise<void> {
      part?.writer.destroy()
      await part?.file.discard()
      part = null
    },
  }
}
