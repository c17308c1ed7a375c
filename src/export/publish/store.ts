// Where a dataset is published: a folder, or a prefix of an object store. Knows names and bytes, never rows or formats.
import { MirrorError } from '../../errors.ts'
import type { OutputFile } from './publish.ts'

export interface Store {
  /** What names the destination everywhere, in one spelling: an absolute path or `s3://bucket/prefix`. */
  readonly place: string
  /** Makes the destination where it is missing and clears away what dead exports left there. `now` is epoch ms. */
  makeReady(now: number): Promise<void>
  /** Begins a snapshot; nothing of it can be seen under its name until its manifest is published. */
  begin(snapshotId: string): Promise<PendingPublication>
  /** The bytes of a small file below the destination; null where there is none. Throws beyond `MOST_BYTES`. */
  read(name: string): Promise<Buffer | null>
  /**
   * Replaces a small file by what `next` makes of it (null: none); asks `next` again where somebody else was quicker. A
   * folder, and object storage without conditions, cannot tell that: there the last one wins.
   */
  update(name: string, next: (before: Buffer | null) => Buffer): Promise<void>
  /** Names of the snapshots that are there or being written, in order. */
  snapshotIds(): Promise<string[]>
  /** Names of the fixed partitions (`--partition-value`) right below it, each a destination of its own, in order. */
  partitions(): Promise<string[]>
  /** Names of all files of a snapshot, below its folder; empty where there is no such snapshot. */
  filesOf(snapshotId: string): Promise<string[]>
  /** Path of a file that ought to have `bytes`, or of a local copy; null where there is none. Call `done` after use. */
  localFile(name: string, bytes: number): Promise<{ path: string; done(): Promise<void> } | null>
  /** Removes a snapshot: first makes it invisible, then removes its files. */
  remove(snapshotId: string): Promise<void>
  close(): void
}

/** The part of the configuration (`export.s3`) that object storage is used with. */
export interface S3Settings {
  /** null leaves it to the bucket. */
  encryption: 'sse-s3' | 'sse-kms' | null
  /** For sse-kms; null for the storage's own key. */
  kmsKeyId: string | null
  /** Hosts that may be reached over plain http, beside this machine. */
  insecureHosts: readonly string[]
}

export interface PendingPublication {
  /** Begins the file `name`, such as `created_month=2026-11/part-00000.parquet`. One at a time. */
  open(name: string): Promise<OutputFile>
  /** Makes all durable, and the snapshot visible by the manifest at last. From then on it is published for good. */
  publish(manifest: Buffer): Promise<void>
  /** Removes what was written. Harmless after `publish`. */
  discard(): Promise<void>
}

/** Readers of folders (Spark, pandas, pyarrow, Trino) skip names that begin with `_`; all others they take for data. */
export const MANIFEST = '_manifest.json'
/** The manifest's name now, and the one that 0.1.0 gave it. */
export const MANIFEST_NAMES: readonly string[] = [MANIFEST, 'manifest.json']
export const LATEST = 'latest.json'

/** Most bytes of a small file: a manifest of 150,000 files. Others may have put something there that never ends. */
export const MOST_BYTES = 64 * 1024 * 1024

/** The error for a small file that cannot be one of ours; in the message, `what` goes behind its name. */
export function unreadable(name: string, what: string): MirrorError {
  return new MirrorError('snapshot-damaged', `${name} ${what}`, {
    hint: 'Find out who has put it there and remove it, then publish the snapshot again.',
  })
}

/** Such as `account=acme`, as storeAt names it. */
export const FIXED_PARTITION = /^[a-z][a-z0-9_]*=./

/** The manifest of a snapshot and its name below the destination; null where there is none. */
export async function readManifest(store: Store, snapshotId: string): Promise<{ name: string; bytes: Buffer } | null> {
  for (const file of MANIFEST_NAMES) {
    const name = `${snapshotId}/${file}`
    const bytes = await store.read(name)
    if (bytes !== null) return { name, bytes }
  }
  return null
}
