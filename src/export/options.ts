// The options of an export, and its result, whose field names are a contract: `export --json`.
import type { Writable } from 'node:stream'
import type { Verdict } from '../task.ts'
import type { Compression } from './encode/compression.ts'
import type { EngineName } from './encode/parquet/engine.ts'
import type { Format, Switches } from './formats.ts'
import type { Manifest } from './publish/manifest.ts'
import type { S3Settings } from './publish/store.ts'
import type { Filters } from './read/conditions.ts'
import type { PartitionBy } from './read/partition.ts'

/** Switches are those of formats.ts. Like `columns` and `engine`, each is refused by formats that do not take it. */
export interface ExportOptions extends Switches {
  /** The mirror. */
  dbPath: string
  /** Configuration and key: no output may overwrite them, nor the mirror's own files. */
  inUse?: readonly string[]
  /** A file's path; a folder's, or `s3://bucket/prefix`, for a dataset; or `-` for stdout. */
  out: string
  /** Where `-` goes; `process.stdout` unless given. */
  stdout?: Writable
  /** Where absent, the ending of `out` decides. */
  format?: Format | undefined
  compression?: Compression | undefined
  filters?: Omit<Filters, 'sinceSeq'>
  /** Only what changed: since that `change_seq` or the last publication there. Tombstones and `_mirror` included. */
  changes?: number | 'last' | undefined
  /** As `export.redactHeaders`: values of these headers and of credentials are replaced; empty: none at all. */
  redact: readonly string[]
  /** Names of the columns, all where absent. */
  columns?: readonly string[] | null
  /** Parquet only. */
  engine?: EngineName
  /** Datasets only, as the four below. */
  partitionBy?: PartitionBy
  /** Most rows of one file. */
  rowsPerFile?: number | null
  /** A file of a dataset is closed at about this many bytes; 256 MiB unless given. */
  fileBytes?: number
  /** Snapshots that stay at the destination; all where absent. */
  keep?: number | null
  /** Fixed partitions above the destination, such as `{account: 'acme'}`. */
  partitionValues?: Record<string, string>
  /** Where so much of the mirror has to be read, two threads share the work; 24 MiB unless given. */
  smallCutBytes?: number
  toolVersion: string
  signal?: AbortSignal
  /** Epoch ms. */
  now?: () => number
  /** How long recording the snapshot waits for a writer. */
  busyTimeoutMs?: number
  /** For object storage: endpoint and path style. Credentials are found by the storage's own library. */
  env?: NodeJS.ProcessEnv
  s3?: S3Settings
  /** Rows written so far, and how many there will be (null where that is not known beforehand). */
  onProgress?: (rows: number, totalRows: number | null) => void
}

export interface ExportResult
  extends Pick<Manifest, 'schemaVersion' | 'snapshotId' | 'kind' | 'format' | 'compression' | 'cut' | 'sinceSeq'>,
    Pick<Manifest, 'rows' | 'redacted'> {
  /** Absolute path or URL: of the file, or of the dataset's own folder; `-` for stdout. */
  path: string
  /** Path or URL of a dataset's manifest; null for a file. */
  manifest: string | null
  files: number
  /** Bytes of the files, or those given to stdout. */
  bytes: number
  /** SHA-256 of the file; null for stdout and for a dataset, whose manifest has those of its files. */
  sha256: string | null
  /** How the last full walk that ended did, and when (epoch ms); nulls where there was none. */
  verdict: Verdict | null
  verdictAt: number | null
  /** Snapshots that `keep` removed. */
  removed: string[]
  /** Why old snapshots were not removed, one sentence; null where there was nothing in the way. */
  notRemoved: string | null
  /** Only with the first publication of a dataset: a sentence that nothing limits how many stay. Else null. */
  notLimited: string | null
  /** Whether the mirror has a row about it in `snapshots`. */
  recorded: boolean
  /** Why it has none, one sentence; null where it has, and for stdout. */
  notRecorded: string | null
  /** True where the reader of stdout went away before the end. */
  readerGone: boolean
  durationMs: number
}

/** Those options that are plain data, for another thread. */
export type PlainExportOptions = Omit<ExportOptions, 'signal' | 'now' | 'stdout' | 'onProgress'>
