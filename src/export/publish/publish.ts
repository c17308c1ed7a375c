// Makes a file appear whole or not at all: written under a hidden name, synced, renamed. Never rows or formats.
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileLimitOr, MirrorError, systemWords } from '../../errors.ts'
import { danglingTarget, syncPath } from '../../mirror/files.ts'
import { clearLeftOvers, draftPath } from './drafts.ts'
import { refuseInUse } from './in-use.ts'
import type { Sink } from './sink.ts'

/** A file that is written once. */
export interface OutputFile extends Sink {
  /** Makes what was written durable under the final name: a draft replaces what is there. Call once. */
  finish(): Promise<void>
  /** Gives the file up: what was written may stay, but nothing of a draft does. Harmless after `finish`. */
  discard(): Promise<void>
  /** SHA-256 of the bytes written, hex. Call once, after the last write. */
  sha256(): string
}

interface DraftOptions {
  /** Epoch ms; where absent, no drafts of dead exports are cleared away. */
  now?: number
  /** Files that it must not replace, see `filesInUse`. */
  inUse: readonly string[]
  mode?: number
}

/** A file under its hidden name, `draft`, until it is finished. */
interface Draft extends OutputFile {
  readonly draft: string
}

/** Mode of what is published: tasks are nobody else's business. */
const FILE_MODE = 0o600

/**
 * Begins a draft for `path` and clears away those of dead exports in the same folder.
 * Throws `usage-invalid` where something stands at `path` that is no file (a rename would replace a device or pipe) or
 * is in use, `snapshot-unwritable` or `disk-full`.
 */
export async function openDraft(path: string, { now, inUse, mode = FILE_MODE }: DraftOptions): Promise<Draft> {
  const draft = draftPath(path)
  await explainingSnapshot(path, async () => {
    refuseInUse(path, inUse)
    const present = await stat(path).catch(() => null)
    if (present !== null && !present.isFile()) {
      throw new MirrorError('usage-invalid', `${path} is there and is not a file`, {
        facts: { path },
        hint: 'Name another file with --out.',
      })
    }
    if (now !== undefined) await clearLeftOvers(dirname(path), now)
  })
  const file = await openFile(draft, path, mode)
  return {
    draft,
    get bytes() {
      return file.bytes
    },
    write: file.write,
    async finish() {
      await file.finish()
      await explainingSnapshot(path, async () => {
        await rename(draft, path)
        syncPath(dirname(path))
      })
    },
    async discard() {
      await file.discard()
      await rm(draft, { force: true }).catch(() => {})
    },
    sha256: file.sha256,
  }
}

/** Publishes a small file at once, through a draft. Throws as `openDraft`. */
export async function publishFile(path: string, bytes: Uint8Array, options: DraftOptions): Promise<void> {
  await writeWhole(await openDraft(path, options), bytes)
}

/** Writes all that the file is to hold, and finishes it. */
export async function writeWhole(file: OutputFile, bytes: Uint8Array): Promise<void> {
  try {
    await file.write(bytes)
    await file.finish()
  } finally {
    await file.discard()
  }
}

/** After so many bytes a sync begins while more are written, so that little is left to sync at the end. */
const SYNCED_BEHIND_BYTES = 4 * 1024 * 1024

/** Creates the file `path` for writing; errors name `shown`. Throws `snapshot-unwritable` or `disk-full`. */
export async function openFile(path: string, shown: string, mode = FILE_MODE): Promise<OutputFile> {
  const file = await explainingSnapshot(shown, () => open(path, 'wx', mode))
  const hash = createHash('sha256')
  let bytes = 0
  let isOpen = true
  let unsynced = 0
  let syncing: Promise<void> | null = null
  let failure: unknown = null

  /** Syncs in the background. A disk reports a failure only once, so it is kept for `finish`. */
  async function syncBehind(): Promise<void> {
    await file.datasync().catch((error: unknown) => {
      failure ??= error
    })
    syncing = null
  }

  /** Closes the file; calling it again does nothing. */
  async function close(): Promise<void> {
    if (!isOpen) return
    isOpen = false
    await file.close()
  }

  return {
    get bytes() {
      return bytes
    },
    async write(piece) {
      const written = explainingSnapshot(shown, () => writeAll(file, piece))
      // Hashed while the kernel takes the bytes on another thread.
      hash.update(piece)
      await written
      bytes += piece.length
      unsynced += piece.length
      if (unsynced >= SYNCED_BEHIND_BYTES && syncing === null) {
        unsynced = 0
        syncing = syncBehind()
      }
    },
    finish: () =>
      explainingSnapshot(shown, async () => {
        await syncing
        if (failure !== null) throw failure
        // Exactly this mode, whatever the umask takes away.
        await file.chmod(mode)
        await file.sync()
        await close()
      }),
    discard: () => close().catch(() => {}),
    sha256: () => hash.digest('hex'),
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await file.write(piece, at, piece.length - at)).bytesWritten
}

/** Does `work`; an error of the file system is explained by what it means for the snapshot at `path`. */
export async function explainingSnapshot<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explainSnapshot(path, error)
  }
}

/** What an error of the file system means for the snapshot at `path`. Others come back as they are. */
export function explainSnapshot(path: string, error: unknown): unknown {
  if (fileLimitOr(error) !== error) return fileLimitOr(error)
  if (error instanceof MirrorError || !(error instanceof Error) || !('syscall' in error)) return error
  const code = String((error as NodeJS.ErrnoException).code)
  const detail = { facts: { path, system: code }, cause: error }
  if (code === 'EFBIG') {
    return new MirrorError('snapshot-unwritable', `${path} would be larger than a file may be; nothing was published`, {
      ...detail,
      hint: 'Raise the limit of file sizes (ulimit -f), or publish to a disk that takes larger files, or several with --out FOLDER/.',
    })
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new MirrorError('disk-full', `The disk of ${path} is full; nothing was published`, {
      ...detail,
      hint: 'Free some space and run the same command again.',
    })
  }
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const folder = dirname(path)
    const found = kindOf(folder)
    const link = [path, folder].find((at) => danglingTarget(at) !== null)
    const why = {
      missing: `the folder ${folder} is missing`,
      folder: `the folder ${folder} takes no such file`,
      other: `${folder} is no folder`,
    }[found]
    if (link !== undefined) {
      const where = `${link} is a symbolic link to ${danglingTarget(link)}, which does not exist`
      return new MirrorError('snapshot-unwritable', `${path} cannot be written: ${where}`, {
        ...detail,
        hint: 'Mount its disk or mend the link, or name another place with --out.',
      })
    }
    return new MirrorError('snapshot-unwritable', `${path} cannot be written: ${why}`, {
      ...detail,
      hint: `${found === 'missing' ? 'Create the folder, or name' : 'Name'} another file with --out.`,
    })
  }
  return new MirrorError('snapshot-unwritable', `${path} cannot be written: ${systemWords(error)}`, {
    ...detail,
    hint: 'Check the owner and mode of the folder and that the mount is writable, or name another file with --out.',
  })
}

/** Whether a folder is there. Throws `snapshot-unwritable` where a right is missing, or a link leads to itself. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch (error) {
    throw explainSnapshot(path, error)
  }
}

function kindOf(path: string): 'missing' | 'folder' | 'other' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'other'
  } catch {
    return 'missing'
  }
}
