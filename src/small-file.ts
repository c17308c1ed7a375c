// Reads small files that a user names or that others may have put there; endless and silent ones are refused.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { MirrorError, systemWords } from './errors.ts'
import { shellWord } from './shown.ts'

const PIECE_BYTES = 64 * 1024
const PAUSE_MS = 20
const LONGEST_WAIT_MS = 30_000

interface SmallFile {
  /** The most bytes to read. */
  most: number
  /** Allows a pipe, as in `<(pass show key)`, not only a file. Its writer has 30 s; without one it is empty. */
  pipe?: boolean
  /** Makes the error that the file cannot be used; `what` follows its name, `cause` is the file system's error. */
  refuse(what: string, cause?: unknown): Error
}

/** The bytes of the file `path` and its stats. Throws the error of `refuse`, or that of the file system. */
export function readSmallFile(
  path: string,
  { most, pipe = false, refuse }: SmallFile,
): { bytes: Buffer<ArrayBuffer>; stats: Stats } {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(handle)
    if (!pipe && !stats.isFile()) throw refuse('is no file')
    const pieces: Buffer[] = []
    let length = 0
    let waitedMs = 0
    while (length <= most) {
      const piece = readSome(handle)
      if (piece?.length === 0) return { bytes: Buffer.concat(pieces), stats }
      if (piece !== null) {
        pieces.push(piece)
        length += piece.length
        continue
      }
      if (waitedMs >= LONGEST_WAIT_MS) throw refuse('gives nothing')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
      waitedMs += PAUSE_MS
    }
    throw refuse(`holds more than ${most} bytes: it was not read to its end`)
  } finally {
    closeSync(handle)
  }
}

/** As `readSmallFile`, for a file named by a user: errors of the file system become those of `refuse`, too. */
export function readNamedFile(path: string, given: SmallFile): ReturnType<typeof readSmallFile> {
  try {
    return readSmallFile(path, given)
  } catch (error) {
    if (error instanceof MirrorError) throw error
    throw given.refuse(`cannot be read: ${systemWords(error)}`, error)
  }
}

/** null where a pipe has no data yet. */
function readSome(handle: number): Buffer | null {
  const piece = Buffer.alloc(PIECE_BYTES)
  try {
    return piece.subarray(0, readSync(handle, piece))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null
    throw error
  }
}

/** A warning where every user of the machine can read a secret; else null. */
export function openToOthers(what: string, path: string, stats: Stats): string | null {
  const isOpen = stats.isFile() && (stats.mode & 0o004) !== 0
  return isOpen ? `Every user of this machine can read ${what}: chmod o-r ${shellWord(path)}` : null
}
