// A prefix of an object store as the destination of datasets. There is no renaming: the manifest, written last and only
// where there is none, is what makes a snapshot one. Knows names and bytes, never rows or formats.
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ageOf, DAY_MS } from '../../../clock.ts'
import { isMirrorError, MirrorError } from '../../../errors.ts'
import { begunAt, SNAPSHOT_ID } from '../../../mirror/tables/snapshots.ts'
import { clearLeftOvers, draftPath } from '../drafts.ts'
import { FIXED_PARTITION, MANIFEST, MANIFEST_NAMES, type PendingPublication, type Store } from '../store.ts'
import { s3ErrorName, s3Status } from './explain.ts'
import { S3Objects, type S3Options } from './objects.ts'

/** Most old snapshots that are looked up, whether they were ever finished. */
const MOST_ASKED = 100
/** How often a small file is read and written anew because others were quicker. */
const MOST_UPDATES = 10

/** `s3://bucket/prefix` as a destination; throws `usage-invalid`, methods `snapshot-unwritable` or `interrupted`. */
export class S3Store implements Store {
  readonly place: string
  readonly #objects: S3Objects

  constructor(url: string, options: S3Options) {
    this.#objects = new S3Objects(url, options)
    this.place = this.#objects.place
  }

  /** Removes what was begun over a day ago and has no manifest. */
  async makeReady(now: number): Promise<void> {
    const isOld = (id: string) => (ageOf(begunAt(id), now) ?? 0) > DAY_MS
    const old = (await this.snapshotIds()).filter(isOld).slice(-MOST_ASKED)
    const finished = await Promise.all(old.map((id) => this.#hasManifest(id)))
    for (const [i, id] of old.entries()) if (!finished[i]) await this.remove(id)
    await this.#objects.abortUploads((name) => {
      const id = name.split('/')[0] ?? ''
      return SNAPSHOT_ID.test(id) && isOld(id)
    })
  }

  async begin(snapshotId: string): Promise<PendingPublication> {
    const begun: string[] = []
    let mayBePublished = false
    return {
      open: async (name) => {
        begun.push(name)
        return this.#objects.upload(`${snapshotId}/${name}`)
      },
      publish: async (manifest) => {
        await this.#throwGone(snapshotId, begun)
        // It may arrive although its answer is lost, or the program is told to stop: then its files have to be there.
        mayBePublished = true
        try {
          await this.#publishManifest(`${snapshotId}/${MANIFEST}`, manifest)
        } catch (error) {
          mayBePublished = !isRefusal(error)
          throw error
        }
      },
      discard: async () => {
        if (!mayBePublished) await this.#objects.tidy(begun.map((name) => `${snapshotId}/${name}`))
      },
    }
  }

  async read(name: string): Promise<Buffer | null> {
    return (await this.#objects.find(name))?.bytes ?? null
  }

  async update(name: string, next: (before: Buffer | null) => Buffer): Promise<void> {
    for (let left = MOST_UPDATES; ; left -= 1) {
      const before = await this.#objects.find(name)
      const bytes = next(before?.bytes ?? null)
      const unread = before === null ? { IfNoneMatch: '*' as const } : {}
      const condition = before?.tag === undefined ? unread : { IfMatch: before.tag }
      try {
        return await this.#objects.put(name, bytes, condition)
      } catch (error) {
        // A store without conditions: the last one wins.
        if (s3Status(error) === 501) return this.#objects.put(name, bytes)
        // Somebody else was quicker: put it there, changed it or took it away.
        if (left <= 1 || ![404, 409, 412].includes(s3Status(error)) || s3ErrorName(error) === 'NoSuchBucket')
          throw error
      }
    }
  }

  snapshotIds(): Promise<string[]> {
    return this.#folders(SNAPSHOT_ID)
  }

  partitions(): Promise<string[]> {
    return this.#folders(FIXED_PARTITION)
  }

  async #folders(pattern: RegExp): Promise<string[]> {
    const names = (await this.#objects.list('', true)).map((folder) => folder.replace(/\/$/, ''))
    return names.filter((name) => pattern.test(name)).sort()
  }

  async filesOf(snapshotId: string): Promise<string[]> {
    const folder = `${snapshotId}/`
    return (await this.#objects.list(folder)).map((name) => name.slice(folder.length)).sort()
  }

  async localFile(name: string, bytes: number): ReturnType<Store['localFile']> {
    if (!(await this.#objects.isThere(name))) return null
    const path = draftPath(join(tmpdir(), 'object'))
    const done = () => rm(path, { force: true })
    try {
      // What a killed check has left: tasks, and up to 256 MB of them. A folder that may not be listed does as well.
      await clearLeftOvers(tmpdir(), Date.now()).catch(() => {})
      await this.#objects.copyTo(path, { name, bytes, clear: done })
      return { path, done }
    } catch (error) {
      await done()
      throw error
    }
  }

  /** The manifest goes first: from then on it is no snapshot. */
  async remove(snapshotId: string): Promise<void> {
    for (const name of MANIFEST_NAMES) await this.#objects.remove(`${snapshotId}/${name}`)
    for (const name of await this.#objects.list(`${snapshotId}/`)) await this.#objects.remove(name)
  }

  close(): void {
    this.#objects.close()
  }

  async #hasManifest(snapshotId: string): Promise<boolean> {
    for (const name of MANIFEST_NAMES) if (await this.#objects.isThere(`${snapshotId}/${name}`)) return true
    return false
  }

  /** An export by a clock that is ahead takes this one for a dead one, and clears its files away (`makeReady`). */
  async #throwGone(snapshotId: string, names: readonly string[]): Promise<void> {
    const listed = new Set(await this.filesOf(snapshotId))
    for (const name of names) {
      // Some stores list what is new a little later.
      if (listed.has(name) || (await this.#objects.isThere(`${snapshotId}/${name}`))) continue
      const shown = `${this.place}/${snapshotId}/${name}`
      throw new MirrorError('snapshot-unwritable', `${shown} is gone before it was published`, {
        facts: { place: this.place, name },
        hint: 'Something has removed it: an export by a clock that is a day ahead, or a rule of the bucket. Set the clocks right, then run the same command again.',
      })
    }
  }

  async #publishManifest(name: string, manifest: Buffer): Promise<void> {
    try {
      await this.#objects.put(name, manifest, { IfNoneMatch: '*' })
    } catch (error) {
      if (s3Status(error) === 501) {
        // A store without conditions: asking first is the next best.
        if (!(await this.#objects.isThere(name))) return this.#objects.put(name, manifest)
      } else if (s3Status(error) !== 412 && s3Status(error) !== 409) {
        throw error
      }
      // Where an earlier attempt of this very manifest arrived and only its answer was lost, all is well.
      if ((await this.read(name))?.equals(manifest)) return
      const shown = `${this.place}/${name}`
      throw new MirrorError('snapshot-unwritable', `${shown} is there already, written by another export`, {
        facts: { place: this.place, name },
        hint: 'Run the same command again; every snapshot gets a name of its own.',
        cause: error,
      })
    }
  }
}

/** Whether nothing was stored for certain: the storage refused it, or it was taken away again (encryption). */
function isRefusal(error: unknown): boolean {
  const status = s3Status(error)
  if (status > 0) return status < 500
  return isMirrorError(error, 'snapshot-unwritable') && error.cause === undefined
}
