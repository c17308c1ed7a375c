// Cuts the rows of one snapshot into the files of a dataset: by partition, by rows, by size. Knows rows and names; what
// is in a file is the writer's business, where it lies the publication's.

import type { Packed } from '../encode/packed.ts'
import type { SnapshotWriter } from '../encode/writer.ts'
import { positionOf, type RawRow } from '../read/columns.ts'
import { type Partition, type PartitionBy, partitionOf, staysIn } from '../read/partition.ts'
import type { ManifestFile } from './manifest.ts'
import type { OutputFile } from './publish.ts'
import type { Sink } from './sink.ts'
import type { Publication } from './store.ts'

export interface DatasetOptions {
  partitionBy: PartitionBy
  /** Most rows of a file; null for no such limit. */
  rowsPerFile: number | null
  /** A file is closed once it has this many bytes. */
  fileBytes: number
  /** Ending of the files' names, such as `.parquet`. */
  ending: string
  /** Begins the content of a file. */
  writerFor(sink: Sink): { writer: SnapshotWriter; destroy: () => void }
  /** What a file says of itself where its format has a place for it. */
  about: Record<string, string>
}

export interface DatasetWriter {
  /** Takes rows in the order of `created_at, id`, nulls first. */
  write(rows: RawRow[]): Promise<void>
  /** Takes such rows encoded already. Only where nothing but size cuts files: no partitions, no `rowsPerFile`. */
  add(packed: Packed): Promise<void>
  /** Ends the last file. Without any row there is one file that holds none, so that readers find the columns. */
  close(): Promise<ManifestFile[]>
  /** Frees what is open, after a failure. */
  discard(): Promise<void>
}

interface Part {
  info: ManifestFile
  partition: Partition
  file: OutputFile
  writer: SnapshotWriter
  destroy: () => void
}

const CREATED_AT = positionOf('created_at')

export function datasetWriter(publication: Publication, options: DatasetOptions): DatasetWriter {
  const files: ManifestFile[] = []
  /** Files begun, by folder: only the partition of NULL comes twice, before the first date and after the last. */
  const begun = new Map<string, number>()
  let part: Part | null = null

  async function begin(createdAt: bigint | null): Promise<Part> {
    const partition = partitionOf(createdAt, options.partitionBy)
    const number = begun.get(partition.folder) ?? 0
    begun.set(partition.folder, number + 1)
    const name = `part-${String(number).padStart(5, '0')}${options.ending}`
    const path = partition.folder === '' ? name : `${partition.folder}/${name}`
    const file = await publication.open(path)
    part = {
      info: {
        path,
        partition: partition.values,
        rows: 0,
        bytes: 0,
        sha256: '',
        minCreatedAt: null,
        maxCreatedAt: null,
      },
      partition,
      file,
      ...options.writerFor(file),
    }
    return part
  }

  async function end(): Promise<void> {
    if (part === null) return
    const { info, file, writer, destroy } = part
    await writer.close(options.about)
    destroy()
    await file.finish()
    files.push({ ...info, bytes: file.bytes, sha256: file.sha256() })
    part = null
  }

  /** How many of `rows` from `from` on go into the open file; 0 closes it. */
  function fitting({ info, partition, file }: Part, rows: readonly RawRow[], from: number): number {
    if (file.bytes >= options.fileBytes) return 0
    const most =
      options.rowsPerFile === null ? rows.length : Math.min(rows.length, from + options.rowsPerFile - info.rows)
    // Rows are in order: where the last one stays in the partition, all do.
    if (most > from && staysIn(partition, createdAtOf(rows[most - 1]!))) return most - from
    let end = from
    while (end < most && staysIn(partition, createdAtOf(rows[end]!))) end++
    return end - from
  }

  return {
    async write(rows) {
      for (let from = 0; from < rows.length; ) {
        part ??= await begin(createdAtOf(rows[from]!))
        const count = fitting(part, rows, from)
        if (count === 0) {
          await end()
          continue
        }
        const piece = count === rows.length ? rows : rows.slice(from, from + count)
        measure(part.info, piece)
        await part.writer.write(piece)
        from += count
      }
    },
    async add(packed) {
      if (part !== null && part.file.bytes >= options.fileBytes) await end()
      part ??= await begin(packed.minCreatedAt)
      part.info.rows += packed.rows
      part.info.minCreatedAt ??= packed.minCreatedAt
      part.info.maxCreatedAt = packed.maxCreatedAt ?? part.info.maxCreatedAt
      await part.writer.add(packed)
    },
    async close() {
      if (part === null && files.length === 0) await begin(null)
      await end()
      return files
    },
    async discard() {
      part?.destroy()
      await part?.file.discard()
      part = null
    },
  }
}

function createdAtOf(row: RawRow): bigint | null {
  return row[CREATED_AT] as bigint | null
}

function measure(info: ManifestFile, rows: readonly RawRow[]): void {
  info.rows += rows.length
  // In order with nulls first: the ends tell both bounds.
  info.minCreatedAt ??= rows.map(createdAtOf).find((moment) => moment !== null) ?? null
  info.maxCreatedAt = createdAtOf(rows.at(-1)!) ?? info.maxCreatedAt
}
