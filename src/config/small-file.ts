// Reads small files that somebody names: a pipe, as in `<(pass show key)`, is allowed; one that never ends is not.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { MirrorError } from '../errors.ts'
import { shellWord } from '../shown.ts'

const PAUSE_MS = 20
const LONGEST_WAIT_MS = 30_000

/**
 * The text of the file `path` and what the file system says of it. Reads `most` bytes at most and waits 30 s for a pipe.
 * Throws what the file system throws, `config-invalid` where there is more to read or nothing comes.
 */
export function readSmallFile(path: string, most: number): { text: string; stats: Stats } {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(handle)
    const bytes = Buffer.alloc(most + 1)
    let length = 0
    let waitedMs = 0
    while (length <= most) {
      const read = readSome(handle, bytes, length)
      if (read === 0) return { text: bytes.toString('utf8', 0, length), stats }
      length += read ?? 0
      if (read !== null) continue
      if (waitedMs >= LONGEST_WAIT_MS) throw invalid(`Nothing comes out of ${path}`)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
      waitedMs += PAUSE_MS
    }
    throw invalid(`${path} holds more than ${most} bytes: it was not read to its end`)
  } finally {
    closeSync(handle)
  }
}

/** null where a pipe has nothing yet. */
function readSome(handle: number, bytes: Buffer, at: number): number | null {
  try {
    return readSync(handle, bytes, at, bytes.length - at, null)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null
    throw error
  }
}

/** What is to be told where every user of the machine can read a secret; null where they cannot. */
export function openToOthers(what: string, path: string, stats: Stats): string | null {
  const isOpen = stats.isFile() && (stats.mode & 0o004) !== 0
  return isOpen ? `Every user of this machine can read ${what}: chmod o-r ${shellWord(path)}` : null
}

function invalid(message: string): MirrorError {
  return new MirrorError('config-invalid', message, { hint: 'Name the right file.' })
}
