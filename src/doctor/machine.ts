// Looks at this machine: rights, owners, free space, mounts, and who has the mirror open. Changes and judges nothing.
import { readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs'
import { isWritable, realMirrorPath, sqliteFiles } from '../mirror/files.ts'
import type { FileFacts, Holder, RoomFacts } from './machine-checks.ts'

/** What `look` returns, or `otherwise` where the system lacks such a thing or does not show it. */
function seen<Found, Otherwise>(look: () => Found, otherwise: Otherwise): Found | Otherwise {
  try {
    return look()
  } catch {
    return otherwise
  }
}

/** null where the file does not exist or may not be looked at. */
export function fileFacts(path: string): FileFacts | null {
  const stats = seen(() => statSync(path), null)
  if (stats === null) return null
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other'
  return { path, uid: stats.uid, mode: stats.mode & 0o777, kind, isWritable: isWritable(path) }
}

/** Free space in `folder`; null where the system does not say. */
export function roomIn(folder: string, mirrorBytes: number): RoomFacts | null {
  const stats = seen(() => statfsSync(folder), null)
  if (stats === null) return null
  const { bavail, bsize, files, ffree } = stats
  // File systems that make inodes on demand, such as btrfs, report 0 for both.
  return { freeBytes: bavail * bsize, freeFiles: files === 0 ? null : ffree, mirrorBytes }
}

/** At most this many processes, and files of each, are looked at. */
const MOST_PROCESSES = 4096
const MOST_FILES = 1024
const SHOWN = 5

/** Other processes with the mirror at `path` open, by /proc: this user's; for root, all. null without /proc. */
export function holdersOf(path: string): Holder[] | null {
  const real = realMirrorPath(path)
  const wanted = new Set([real, ...sqliteFiles(real)])
  const numbers = (folder: string, most: number) =>
    readdirSync(folder)
      .filter((name) => /^\d+$/.test(name))
      .slice(0, most)
  const linkOf = (path: string) => seen(() => readlinkSync(path), '')
  const isHolder = (pid: string) =>
    seen(() => numbers(`/proc/${pid}/fd`, MOST_FILES).some((fd) => wanted.has(linkOf(`/proc/${pid}/fd/${fd}`))), false)
  /** The process's own name, which has at most 15 characters. */
  const nameOf = (pid: string) => seen(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), 'a program')
  const pids = seen(() => numbers('/proc', MOST_PROCESSES), null)
  if (pids === null) return null
  return pids
    .filter((pid) => Number(pid) !== process.pid && isHolder(pid))
    .slice(0, SHOWN)
    .map((pid) => ({ pid: Number(pid), name: nameOf(pid) }))
}
