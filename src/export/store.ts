// Where a dataset is published: a folder, or a prefix of an object store. Knows names and bytes, never rows or formats.
import type { OutputFile } from './publish.ts'

export interface Store {
  /** What names the destination everywhere, in one spelling: an absolute path or `s3://bucket/prefix`. */
  readonly place: string
  /** Makes the destination where it is missing and clears away what dead exports left there. `now` is epoch ms. */
  makeReady(now: number): Promise<void>
  /** Begins a snapshot; nothing of it can be seen under its name until its manifest is published. */
  begin(snapshotId: string): Promise<Publication>
  /** The bytes of a small file below the destination; null where there is none. */
  read(name: string): Promise<Buffer | null>
  /** Puts a small file below the destination in the place of what was there, whole or not at all. */
  replace(name: string, bytes: Buffer): Promise<void>
  /** Names of the snapshots that are there or being written, in order. */
  snapshotIds(): Promise<string[]>
  /** Names of all files of a snapshot, below its folder; empty where there is no such snapshot. */
  filesOf(snapshotId: string): Promise<string[]>
  /** A large file as one of this machine's file system; null where there is none. Call `done` after use. */
  localFile(name: string): Promise<{ path: string; done(): Promise<void> } | null>
  /** Takes a snapshot away: first from sight, then its files. */
  remove(snapshotId: string): Promise<void>
  close(): void
}

export interface Publication {
  /** Begins the file `name`, such as `created_month=2026-11/part-00000.parquet`. One at a time. */
  open(name: string): Promise<OutputFile>
  /** Makes everything durable and the snapshot visible, the manifest last. Afterwards it is published, whatever happens. */
  publish(manifest: Buffer): Promise<void>
  /** Removes what was written. Harmless after `publish`. */
  discard(): Promise<void>
}

export const MANIFEST = 'manifest.json'
export const LATEST = 'latest.json'

/** As `snapshotIdOf` gives them: nothing else in a destination is ever touched. */
export const SNAPSHOT_ID = /^\d{8}T\d{9}Z-\d+-[0-9a-f]{6}$/

/** When a snapshot was begun, epoch ms: its name says so. */
export function begunAt(snapshotId: string): number {
  const [, y, mo, d, h, mi, s, ms] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z/.exec(snapshotId) ?? []
  return Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}.${ms}Z`)
}
