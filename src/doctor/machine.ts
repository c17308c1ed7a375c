// Looks at this machine: rights, owners, room, mounts, and who has the mirror open. Changes nothing, judges nothing.
import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs'
import { isWritable, realMirrorPath, sqliteFiles } from '../mirror/files.ts'
import type { FileFacts, Holder, RoomFacts } from './machine-checks.ts'
import { type Mount, mountOf } from './mounts.ts'

/** null where there is no such file, or none that may be looked at. */
export function fileFacts(path: string): FileFacts | null {
  try {
    const stats = statSync(path)
    const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other'
    return { path, uid: stats.uid, mode: stats.mode & 0o777, kind, isWritable: isWritable(path) }
  } catch {
    return null
  }
}

/** Where `path` lies; null where the system has no /proc. */
export function mountHolding(path: string): Mount | null {
  try {
    return mountOf(readFileSync('/proc/self/mountinfo', 'utf8'), path)
  } catch {
    return null
  }
}

/** Room in `folder`; null where the system does not say. */
export function roomIn(folder: string, mirrorBytes: number): RoomFacts | null {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder)
    // File systems that make inodes as they need them, such as btrfs, tell 0 of both.
    return { freeBytes: bavail * bsize, freeFiles: files === 0 ? null : ffree, mirrorBytes }
  } catch {
    return null
  }
}

/** So many processes, and files of each, are looked at. */
const MOST_PROCESSES = 4096
const MOST_FILES = 1024
const SHOWN = 5

/** Other processes that have the mirror at `path` open, by /proc: those of this user; as root, all. null where there is none. */
export function holdersOf(path: string): Holder[] | null {
  const real = realMirrorPath(path)
  const wanted = new Set([real, ...sqliteFiles(real)])
  const numbers = (folder: string, most: number) =>
    readdirSync(folder)
      .filter((name) => /^\d+$/.test(name))
      .slice(0, most)
  const isHolder = (pid: string): boolean => {
    try {
      return numbers(`/proc/${pid}/fd`, MOST_FILES).some((fd) => wanted.has(linkOf(`/proc/${pid}/fd/${fd}`)))
    } catch {
      return false
    }
  }
  try {
    return numbers('/proc', MOST_PROCESSES)
      .filter((pid) => Number(pid) !== process.pid && isHolder(pid))
      .slice(0, SHOWN)
      .map((pid) => ({ pid: Number(pid), name: nameOf(pid) }))
  } catch {
    return null
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** The name a process gives itself, at most 15 characters. */
function nameOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return 'a program'
  }
}
