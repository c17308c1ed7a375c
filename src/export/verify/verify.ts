// Checks what was published: manifest, size, checksum and rows of files and, where asked, every row. Mends nothing.
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { isMirrorError, MirrorError } from '../../errors.ts'
import { SNAPSHOT_ID } from '../../mirror/tables/snapshots.ts'
import { codeOf } from '../formats.ts'
import type { ExportOptions } from '../options.ts'
import { readLatest } from '../publish/latest.ts'
import { encodingOf, type Manifest, type ManifestFile, parseManifest, refuseNewerFiles } from '../publish/manifest.ts'
import { isFolder } from '../publish/publish.ts'
import { LATEST, MANIFEST, MANIFEST_NAMES, readManifest, type Store } from '../publish/store.ts'
import { storeAt } from '../publish/store-at.ts'
import { type Comparison, comparisonOf } from './rows.ts'

export interface VerifySnapshotsOptions extends Pick<ExportOptions, 'dbPath' | 'env' | 's3' | 'signal'> {
  /** Whether every row is compared with the mirror. */
  deep: boolean
  /** Files checked so far, and how many there are. */
  onProgress?: (done: number, total: number) => void
}

/** Stable names of what can be wrong. */
type SnapshotCheck =
  | 'latest'
  | 'manifest'
  | 'missing'
  | 'unlisted'
  | 'size'
  | 'checksum'
  | 'rows'
  | 'content'
  | 'absent'

interface SnapshotProblem {
  snapshotId: string | null
  /** Path below the snapshot's folder, or the place where `snapshotId` is null; null where it is about the whole. */
  file: string | null
  check: SnapshotCheck
  message: string
}

export interface SnapshotVerified {
  ok: boolean
  /** What was checked: a folder or a URL. */
  place: string
  snapshots: (Pick<Manifest, 'snapshotId' | 'kind' | 'cut' | 'rows' | 'bytes'> & {
    files: number
    /** null where rows were not compared. */
    deep: Comparison | null
  })[]
  problems: SnapshotProblem[]
}

interface Published {
  store: Store
  manifest: Manifest
}

/**
 * Checks `dir`: a destination, one with fixed partitions that have destinations below it, or one snapshot; `s3://` too.
 * Throws `snapshot-unwritable`, `snapshot-newer`, `usage-invalid`.
 */
export async function verifySnapshot(dir: string, options: VerifySnapshotsOptions): Promise<SnapshotVerified> {
  const trimmed = dir.replace(/(.)\/+$/, '$1')
  const one = SNAPSHOT_ID.test(basename(trimmed)) ? basename(trimmed) : null
  const root = one === null ? trimmed : dirname(trimmed)
  const kind = /^s3:/i.test(dir) ? 's3' : 'folder'
  if (kind === 'folder' && !isFolder(trimmed)) throw existsSync(trimmed) ? oneFile(dir) : nothingAt(dir)
  const { env = {}, s3, signal } = options
  const stores: Store[] = []
  const open = async (out: string): Promise<Store> => {
    const store = await storeAt({ kind, out }, { env, s3, signal })
    stores.push(store)
    return store
  }
  try {
    const top = await open(root)
    const result: SnapshotVerified = { ok: true, place: trimmed, snapshots: [], problems: [] }
    const found: Published[] = []
    for (const store of one === null ? await destinationsAt(top, open) : [top]) {
      const ids = one === null ? await store.snapshotIds() : [one]
      const manifests = await checkManifests(store, ids, result.problems)
      const latest = posix.join(store.place.slice(top.place.length + 1), LATEST)
      if (one === null) await checkLatest(store, latest, manifests, result.problems)
      found.push(...manifests.map((manifest) => ({ store, manifest })))
    }
    if (found.length === 0 && result.problems.length === 0) throw nothingAt(dir)
    if (options.deep) refuseSeveral(found)
    const total = found.reduce((sum, { manifest }) => sum + manifest.files.length, 0)
    let done = 0
    for (const { store, manifest } of found) {
      const onFile = () => options.onProgress?.(++done, total)
      const problems: SnapshotProblem[] = []
      const deep = await checkSnapshot(store, manifest, options, { problems, onFile })
      const { snapshotId, kind, cut, files, rows, bytes } = manifest
      // `--keep` of an export has removed it meanwhile.
      if (one === null && problems.length > 0 && (await readManifest(store, snapshotId)) === null) continue
      result.problems.push(...problems)
      result.snapshots.push({ snapshotId, kind, cut, files: files.length, rows, bytes, deep })
    }
    return { ...result, ok: result.problems.length === 0 }
  } finally {
    for (const store of stores) store.close()
  }
}

/** `store` and the destinations in fixed partitions below it, in order. */
async function destinationsAt(store: Store, open: (place: string) => Promise<Store>): Promise<Store[]> {
  const found = [store]
  for (const name of await store.partitions())
    found.push(...(await destinationsAt(await open(`${store.place}/${name}`), open)))
  return found
}

/** Throws `usage-invalid` for several destinations: each is of a mirror of its own, as its account is. */
function refuseSeveral(found: readonly Published[]): void {
  const places = [...new Set(found.map(({ store }) => store.place))]
  if (places.length < 2) return
  throw new MirrorError('usage-invalid', '--deep compares one destination with one mirror, and here are several', {
    facts: { places: places.length },
    hint: `Name one of them, and its mirror with --db: ${places.slice(0, MOST_NAMED).join(', ')}${places.length > MOST_NAMED ? ', ...' : ''}.`,
  })
}

/** Destinations named in a message. */
const MOST_NAMED = 5

async function checkManifests(store: Store, ids: readonly string[], problems: SnapshotProblem[]): Promise<Manifest[]> {
  const manifests: Manifest[] = []
  for (const id of ids) {
    const manifest = await checkManifest(store, id, problems)
    if (manifest !== null) manifests.push(manifest)
  }
  return manifests
}

async function checkManifest(store: Store, snapshotId: string, problems: SnapshotProblem[]): Promise<Manifest | null> {
  let file = MANIFEST
  const fault = (message: string) => problems.push({ snapshotId, file, check: 'manifest', message })
  try {
    const found = await readManifest(store, snapshotId)
    if (found === null) {
      if (!(await store.snapshotIds()).includes(snapshotId)) return null
      fault('There is no manifest: it is being written or removed, or its export died')
      return null
    }
    file = basename(found.name)
    const shown = `${store.place}/${found.name}`
    const manifest = parseManifest(found.bytes, shown)
    refuseNewerFiles(manifest, shown)
    if (manifest.snapshotId !== snapshotId) fault(`It is the manifest of ${manifest.snapshotId}`)
    const sum = (of: (file: ManifestFile) => number) => manifest.files.reduce((total, file) => total + of(file), 0)
    if (sum(({ rows }) => rows) !== manifest.rows) fault('The rows of its files do not add up to its own number')
    if (sum(({ bytes: size }) => size) !== manifest.bytes) fault('The bytes of its files do not add up')
    return manifest
  } catch (error) {
    if (!isMirrorError(error, 'snapshot-damaged')) throw error
    fault(error.message)
    return null
  }
}

/** `file` is how it is named in `problems`. */
async function checkLatest(
  store: Store,
  file: string,
  manifests: readonly Manifest[],
  problems: SnapshotProblem[],
): Promise<void> {
  const fault = (message: string) => problems.push({ snapshotId: null, file, check: 'latest', message })
  try {
    const latest = await readLatest(store)
    if (latest === null) {
      if (manifests.length > 0) fault('It is missing')
      return
    }
    for (const entry of [latest.full, latest.changes]) {
      if (entry === null) continue
      const bytes = await store.read(entry.manifest)
      if (bytes === null) fault(`It names ${entry.manifest}, which is missing`)
      else if (createHash('sha256').update(bytes).digest('hex') !== entry.manifestSha256) {
        fault(`The checksum of ${entry.manifest} is another one`)
      }
    }
    const gap = gapBefore(latest.changes?.snapshotId, manifests)
    if (gap !== null) fault(gap)
  } catch (error) {
    if (!isMirrorError(error, 'snapshot-damaged')) throw error
    fault(error.message)
  }
}

/** The gap in the feeds that lead from the last full snapshot to `last`, the newest one; null where there is none. */
function gapBefore(last: string | undefined, manifests: readonly Manifest[]): string | null {
  const byId = new Map(manifests.map((manifest) => [manifest.snapshotId, manifest]))
  for (let at = byId.get(last ?? ''); at !== undefined; ) {
    const { snapshotId, buildsOn } = at
    if (typeof buildsOn !== 'string') return null
    // Each is followed once, because a manifest may name any other.
    byId.delete(snapshotId)
    at = byId.get(buildsOn)
    if (at === undefined)
      return `${snapshotId} goes on from ${buildsOn}, which is missing or damaged: readers need a full snapshot, by \`export\` without --changes`
  }
  return null
}

async function checkSnapshot(
  store: Store,
  manifest: Manifest,
  options: VerifySnapshotsOptions,
  { problems, onFile }: { problems: SnapshotProblem[]; onFile(): void },
): Promise<Comparison | null> {
  const { snapshotId } = manifest
  const fault = (file: string | null, check: SnapshotCheck, message: string) =>
    problems.push({ snapshotId, file, check, message })
  const listed = new Set(manifest.files.map(({ path }) => path))
  const present = await store.filesOf(snapshotId)
  const own = MANIFEST_NAMES.find((name) => present.includes(name))
  for (const name of present) {
    if (name !== own && !listed.has(name)) fault(name, 'unlisted', 'The manifest does not know this file')
  }
  const comparing = options.deep ? comparisonOf(options.dbPath, manifest) : null
  try {
    for (const file of manifest.files) {
      if (options.signal?.aborted) throw new MirrorError('interrupted', 'The check was interrupted')
      const local = await store.localFile(`${snapshotId}/${file.path}`, file.bytes)
      if (local === null) {
        fault(file.path, 'missing', 'The file is missing')
      } else {
        try {
          for (const one of await checkFile(local.path, file, manifest, comparing))
            fault(file.path, one.check, one.message)
        } finally {
          await local.done()
        }
      }
      onFile()
    }
    // Rows of a file that is damaged or missing would be told of again, one by one.
    const isWhole = !problems.some((problem) => problem.snapshotId === snapshotId)
    for (const one of isWhole ? (comparing?.absent() ?? []) : []) fault(null, one.check, one.message)
    return comparing?.result ?? null
  } finally {
    comparing?.close()
  }
}

/** The first thing that is wrong with a file by itself; where nothing is, what `comparing` finds in its rows. */
async function checkFile(
  path: string,
  file: ManifestFile,
  manifest: Manifest,
  comparing: ReturnType<typeof comparisonOf> | null,
): Promise<{ check: SnapshotCheck; message: string }[]> {
  try {
    const { size } = statSync(path)
    if (size !== file.bytes) return [{ check: 'size', message: `It has ${size} bytes instead of ${file.bytes}` }]
    const hash = createHash('sha256')
    for await (const piece of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(piece as Buffer)
    if (hash.digest('hex') !== file.sha256) return [{ check: 'checksum', message: 'Its checksum is another one' }]
    const code = await codeOf(manifest.format)
    const rows = await code.countRows(path, encodingOf(manifest))
    if (rows !== file.rows) return [{ check: 'rows', message: `It holds ${rows} rows instead of ${file.rows}` }]
    return (await comparing?.file(path)) ?? []
  } catch (error) {
    // Of the mirror, not of the file.
    if (isMirrorError(error)) throw error
    return [{ check: 'rows', message: `It cannot be read: ${error instanceof Error ? error.message : error}` }]
  }
}

/** The error for a single file: nothing beside it says what it should hold. */
function oneFile(dir: string): MirrorError {
  return new MirrorError('usage-invalid', `${dir} is one file; only snapshots in folders have a manifest to check`, {
    facts: { dir },
    hint: 'If it is part of a snapshot, name the folder. Else compare its SHA-256 with `sha256` of what `export --json` printed.',
  })
}

function nothingAt(dir: string): MirrorError {
  return new MirrorError('usage-invalid', `There is no snapshot at ${dir}`, {
    facts: { dir },
    hint: 'Name the folder that `export --out FOLDER/` published into, or one snapshot in it.',
  })
}
