// A folder as the destination of datasets: written hidden, synced, renamed, so complete or absent. Never rows. Patterns
// such as `lake/*/**/*.parquet` may reach into hidden folders: until all files are whole, they have another ending.
import { chmod, mkdir, readdir, rename, stat, utimes } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { MirrorError } from '../../errors.ts'
import { syncPath } from '../../mirror/files.ts'
import { SNAPSHOT_ID } from '../../mirror/tables/snapshots.ts'
import { readSmallFile } from '../../small-file.ts'
import { clearLeftOvers, draftPath, removeSnapshot } from './drafts.ts'
import { refuseInUse } from './in-use.ts'
import { explainingSnapshot, explainSnapshot, openFile, publishFile, writeWhole } from './publish.ts'
import {
  FIXED_PARTITION,
  LATEST,
  MANIFEST,
  MOST_BYTES,
  type PendingPublication,
  type Store,
  unreadable,
} from './store.ts'

const FOLDER_MODE = 0o700

const unfinished = (file: string): string => `${file}.tmp`

/** The folder `path` as a destination; it is made by `makeReady`. Errors are `MirrorError` as in publish.ts. */
export class FolderStore implements Store {
  readonly place: string
  readonly #inUse: readonly string[]

  /** `inUse`: see `filesInUse`. Throws `usage-invalid` where one of them is the destination's `latest.json`. */
  constructor(path: string, inUse: readonly string[]) {
    this.place = resolve(path)
    this.#inUse = inUse
    // Checked before hours of work, which would fail at their end.
    refuseInUse(join(this.place, LATEST), inUse)
  }

  makeReady(now: number): Promise<void> {
    const { place } = this
    return this.#explaining(async () => {
      const present = await stat(place).catch(() => null)
      if (present !== null && !present.isDirectory()) {
        throw new MirrorError('usage-invalid', `${place} is there and is not a folder`, {
          facts: { path: place },
          hint: 'Name another folder with --out.',
        })
      }
      if (present === null) {
        await makeParents(place)
        await makeFolder(place)
      }
      await clearLeftOvers(place, now)
    })
  }

  async begin(snapshotId: string): Promise<PendingPublication> {
    const final = join(this.place, snapshotId)
    const hidden = draftPath(final)
    const folders = new Set([hidden])
    const files: string[] = []
    let isPublished = false
    await this.#explaining(() => makeFolder(hidden))
    return {
      open: async (name) => {
        const file = join(hidden, name)
        // That of its partition.
        if (!folders.has(dirname(file))) await this.#explaining(() => makeFolder(dirname(file)))
        folders.add(dirname(file))
        files.push(file)
        // Others tell by the folder's own time that it is alive, and writing below it does not change that.
        await utimes(hidden, new Date(), new Date()).catch(() => {})
        return openFile(unfinished(file), join(final, name))
      },
      publish: (manifest) =>
        this.#explaining(async () => {
          await writeWhole(await openFile(join(hidden, MANIFEST), join(final, MANIFEST)), manifest)
          for (const file of files) await rename(unfinished(file), file)
          for (const folder of folders) syncPath(folder)
          await rename(hidden, final)
          isPublished = true
          syncPath(this.place)
        }),
      async discard() {
        if (!isPublished) await removeSnapshot(hidden).catch(() => {})
      },
    }
  }

  async read(name: string): Promise<Buffer | null> {
    const path = join(this.place, name)
    try {
      return readSmallFile(path, { most: MOST_BYTES, refuse: (what) => unreadable(path, what) }).bytes
    } catch (error) {
      if (isMissing(error)) return null
      throw explainSnapshot(path, error)
    }
  }

  async update(name: string, next: (before: Buffer | null) => Buffer): Promise<void> {
    const bytes = next(await this.read(name))
    await publishFile(join(this.place, name), bytes, { inUse: this.#inUse })
  }

  snapshotIds(): Promise<string[]> {
    return this.#explaining(async () => (await readdir(this.place)).filter((name) => SNAPSHOT_ID.test(name)).sort())
  }

  partitions(): Promise<string[]> {
    return this.#explaining(async () => {
      const found = await readdir(this.place, { withFileTypes: true })
      return found
        .filter((entry) => entry.isDirectory() && FIXED_PARTITION.test(entry.name))
        .map(({ name }) => name)
        .sort()
    })
  }

  filesOf(snapshotId: string): Promise<string[]> {
    return this.#explaining(async () => {
      const folder = join(this.place, snapshotId)
      const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(noneIfMissing)
      return found
        .filter((entry) => !entry.isDirectory())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
        .sort()
    })
  }

  async localFile(name: string): ReturnType<Store['localFile']> {
    const path = join(this.place, name)
    const found = await stat(path).catch(() => null)
    return found?.isFile() ? { path, done: async () => {} } : null
  }

  remove(snapshotId: string): Promise<void> {
    return this.#explaining(async () => {
      const path = join(this.place, snapshotId)
      const hidden = draftPath(path)
      await rename(path, hidden)
      await removeSnapshot(hidden)
    })
  }

  close(): void {}

  #explaining<T>(work: () => Promise<T>): Promise<T> {
    return explainingSnapshot(this.place, work)
  }
}

/** Makes folders missing above `path`. Recursive `mkdir` never ends where none can be made, as in /proc (Node 24). */
export async function makeParents(path: string): Promise<void> {
  const parent = dirname(path)
  if (parent === path || (await stat(parent).catch(() => null)) !== null) return
  await makeParents(parent)
  await makeMissing(parent)
}

/** Makes a folder of exactly this mode, whatever the umask takes away. */
async function makeFolder(folder: string): Promise<void> {
  await makeMissing(folder)
  await chmod(folder, FOLDER_MODE)
}

async function makeMissing(folder: string): Promise<void> {
  await mkdir(folder, { mode: FOLDER_MODE }).catch((error: unknown) => {
    // Another export may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  })
}

function isMissing(error: unknown): boolean {
  return /^(ENOENT|ENOTDIR)$/.test(String((error as NodeJS.ErrnoException).code))
}

function noneIfMissing(error: unknown): [] {
  if (isMissing(error)) return []
  throw error
}
