// A folder as the destination of datasets: written hidden, synced, renamed, so complete or absent. Never rows.
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { MirrorError } from '../../errors.ts'
import { syncFolder } from '../../mirror/files.ts'
import { refuseInUse } from './in-use.ts'
import { clearLeftOvers, draftPath, explainSnapshot, openDraft, openFile } from './publish.ts'
import { LATEST, MANIFEST, type PendingPublication, SNAPSHOT_ID, type Store } from './store.ts'

interface FolderOptions {
  /** Mode of files; folders get the same and the right to enter wherever one may read. */
  fileMode: number
  pid: number
  /** See `filesInUse`. */
  inUse: readonly string[]
}

/** The folder `path` as a destination; it is made by `makeReady`. Errors are `MirrorError` as in publish.ts. */
export function folderStore(path: string, { fileMode, pid, inUse }: FolderOptions): Store {
  const place = resolve(path)
  const folderMode = fileMode | ((fileMode & 0o444) >> 2)
  const random = () => randomBytes(6).toString('hex')

  async function explaining<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw explainSnapshot(place, error)
    }
  }

  /** With exactly this mode, whatever the umask takes away. */
  async function makeFolder(folder: string): Promise<void> {
    await mkdir(folder, { mode: folderMode }).catch((error: unknown) => {
      // Another export may have made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    })
    await chmod(folder, folderMode)
  }

  async function begin(snapshotId: string): Promise<PendingPublication> {
    const final = join(place, snapshotId)
    const hidden = draftPath(final, { pid, random: random() })
    const folders = new Set([hidden])
    let isPublished = false
    await explaining(() => makeFolder(hidden))
    return {
      async open(name) {
        const file = join(hidden, name)
        if (!folders.has(dirname(file))) {
          const missing: string[] = []
          for (let folder = dirname(file); !folders.has(folder); folder = dirname(folder)) missing.unshift(folder)
          for (const folder of missing) {
            await explaining(() => makeFolder(folder))
            folders.add(folder)
          }
        }
        return openFile(file, fileMode, join(final, name))
      },
      publish: (manifest) =>
        explaining(async () => {
          const file = await openFile(join(hidden, MANIFEST), fileMode, join(final, MANIFEST))
          try {
            await file.write(manifest)
            await file.finish()
          } finally {
            await file.discard()
          }
          for (const folder of folders) syncFolder(folder)
          await rename(hidden, final)
          isPublished = true
          syncFolder(place)
        }),
      async discard() {
        if (!isPublished) await rm(hidden, { recursive: true, force: true }).catch(() => {})
      },
    }
  }

  async function read(name: string): Promise<Buffer | null> {
    try {
      return await readFile(join(place, name))
    } catch (error) {
      if (isMissing(error)) return null
      throw explainSnapshot(join(place, name), error)
    }
  }

  return {
    place,
    makeReady: (now) =>
      explaining(async () => {
        // Before hours of work, which would end there.
        refuseInUse(join(place, LATEST), inUse)
        const present = await stat(place).catch(() => null)
        if (present !== null && !present.isDirectory()) {
          throw new MirrorError('usage-invalid', `${place} is there and is not a folder`, {
            facts: { path: place },
            hint: 'Name another folder with --out.',
          })
        }
        if (present === null) {
          await mkdir(dirname(place), { recursive: true, mode: folderMode })
          await makeFolder(place)
        }
        await clearLeftOvers(place, now)
      }),
    begin,
    read,
    async update(name, next) {
      const bytes = next(await read(name))
      const draft = await openDraft(join(place, name), { mode: fileMode, pid, random: random(), now: 0, inUse })
      try {
        await draft.write(bytes)
        await draft.publish()
      } finally {
        await draft.discard()
      }
    },
    snapshotIds: () => explaining(async () => (await readdir(place)).filter((name) => SNAPSHOT_ID.test(name)).sort()),
    filesOf: (snapshotId) =>
      explaining(async () => {
        const folder = join(place, snapshotId)
        const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(noneIfMissing)
        return found
          .filter((entry) => !entry.isDirectory())
          .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
          .sort()
      }),
    async localFile(name) {
      const path = join(place, name)
      const found = await stat(path).catch(() => null)
      return found?.isFile() ? { path, done: async () => {} } : null
    },
    remove: (snapshotId) =>
      explaining(async () => {
        const hidden = draftPath(join(place, snapshotId), { pid, random: random() })
        await rename(join(place, snapshotId), hidden)
        await rm(hidden, { recursive: true, force: true })
      }),
    close: () => {},
  }
}

function isMissing(error: unknown): boolean {
  return /^(ENOENT|ENOTDIR)$/.test(String((error as NodeJS.ErrnoException).code))
}

function noneIfMissing(error: unknown): [] {
  if (isMissing(error)) return []
  throw error
}
