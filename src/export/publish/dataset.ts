// The files of a dataset: which rows go into which, by partition, by rows, by size. Knows rows and names.

import type { FileWriter, Packed } from '../encode/format.ts'
import { type FileLimits, type Partition, partitionOf, staysIn } from '../read/partition.ts'
import type { ManifestFile } from './manifest.ts'
import type { OutputFile } from './publish.ts'
import type { Sink } from './sink.ts'
import type { PendingPublication } from './store.ts'

interface DatasetOptions extends FileLimits {
  /** A file is closed once it has this many bytes. */
  fileBytes: number
  /** Ending of the files' names, such as `.parquet`. */
  ending: string
  /** Begins the content of a file. */
  writerFor(sink: Sink): FileWriter
  /** What a file says of itself where its format has a place for it. */
  about: Record<string, string>
}

interface Part {
  info: ManifestFile
  partition: Partition
  file: OutputFile
  writer: FileWriter
}

/** Takes pieces in the order of `created_at, id`, nulls first; none may hold rows of two files. */
export function datasetWriter(publication: PendingPublication, options: DatasetOptions) {
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
      writer: options.writerFor(file),
    }
    return part
  }

  async function end(): Promise<void> {
    if (part === null) return
    const { info, file, writer } = part
    await writer.close(options.about)
    writer.destroy()
    await file.finish()
    files.push({ ...info, bytes: file.bytes, sha256: file.sha256() })
    part = null
  }

  /** Whether a piece goes into the open file; it is of one partition, and no larger than a file may be. */
  function fits({ info, partition, file }: Part, { rows, maxCreatedAt }: Packed): boolean {
    const isFull =
      file.bytes >= options.fileBytes || info.rows + rows > (options.rowsPerFile ?? Number.POSITIVE_INFINITY)
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
