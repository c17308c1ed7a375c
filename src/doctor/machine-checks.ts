// What is looked at on this machine, and what is wrong with it: Node, rights of files, room, the WAL. Pure.
import { basename } from 'node:path'
import prettyBytes from 'pretty-bytes'
import { LARGE_WAL_BYTES } from '../mirror/wal.ts'
import { shellWord } from '../shown.ts'
import { type Check, note, ok, wrong } from './check.ts'

/** What the file system says of a file that is there. */
export interface FileFacts {
  path: string
  /** Owner; meaningless where the system has none. */
  uid: number
  /** Rights, such as 0o600. */
  mode: number
  kind: 'file' | 'folder' | 'other'
  /** Whether this process may write it. */
  isWritable: boolean
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0')

/** `version` is at least the least that is needed: older ones are refused before anything is loaded. */
export function nodeCheck(version: string, path: string): Check {
  const major = Number(version.split('.')[0])
  const found = `${version} at ${path}`
  // https://nodejs.org/en/about/previous-releases: odd versions are supported for half a year.
  return major % 2 === 1
    ? note('node', `${found}, a version without long-term support`, 'Use an even version, such as 24.')
    : ok('node', found)
}

interface KeyFacts {
  /** The variable that gives it; null where none does. */
  origin: string | null
  /** The file it is in; null where it is in the variable itself. */
  file: FileFacts | null
  /** Whether `service.auth` sends a key at all. */
  isWanted: boolean
}

/** `uid` is that of this process; null where the system has no owners. */
export function keyFileCheck({ origin, file, isWanted }: KeyFacts, uid: number | null): Check {
  const name = 'key file'
  if (origin === null) {
    return isWanted
      ? note(name, 'no key is set: requests are sent without one', 'Name its file in TASK_MIRROR_API_KEY_FILE.')
      : ok(name, 'no key is set, and service.auth.placement is none')
  }
  if (file === null) return ok(name, `the key is in ${origin}`)
  const found = `${file.path} (mode ${octal(file.mode)})`
  // A pipe or a device, such as `<(pass show key)`, has no rights that would say anything.
  if (file.kind !== 'file') return ok(name, file.path)
  if ((file.mode & 0o004) !== 0) {
    return wrong(name, `every user of this machine can read the key in ${found}`, `chmod o-r ${shellWord(file.path)}`)
  }
  if ((file.mode & 0o002) !== 0) {
    return wrong(
      name,
      `every user of this machine can replace the key in ${found}`,
      `chmod o-w ${shellWord(file.path)}`,
    )
  }
  if (uid !== null && uid !== 0 && file.uid !== 0 && file.uid !== uid) {
    return note(name, `${found} belongs to another user (uid ${file.uid}), who can replace the key`)
  }
  return ok(name, found)
}

/** `folder` is null where it does not exist. */
export function folderCheck(path: string, folder: FileFacts | null): Check {
  const name = 'folder'
  if (folder === null)
    return wrong(name, `${path} does not exist`, `mkdir -p ${shellWord(path)}, or name another with --db`)
  const found = `${path} (mode ${octal(folder.mode)})`
  if (folder.kind !== 'folder')
    return wrong(name, `${path} is no folder`, 'Name another file for the mirror with --db.')
  if (!folder.isWritable) {
    return wrong(
      name,
      `${found} cannot be written by this user, so no run can keep anything there`,
      `Run as its owner (uid ${folder.uid}), or give this user the right to write; a read-only mount needs a copy of the mirror`,
    )
  }
  if ((folder.mode & 0o002) !== 0) {
    return wrong(
      name,
      `every user of this machine can write ${found}, and so delete or replace the mirror`,
      `chmod o-w ${shellWord(path)}, or keep the mirror in a folder of your own`,
    )
  }
  return ok(name, found)
}

/** The mirror, then what lies beside it; only files that are there. null where nothing is wrong with their rights. */
export function mirrorFilesCheck(files: readonly FileFacts[]): Check | null {
  const name = 'mirror'
  const [mirror] = files
  if (mirror === undefined) return null
  const odd = files.find(({ kind }) => kind !== 'file')
  if (odd !== undefined) {
    return wrong(name, `${odd.path} is no regular file`, 'Find out who has put it there and remove it.')
  }
  const others = files.filter(({ uid }) => uid !== mirror.uid)
  if (others.length > 0) {
    return wrong(
      name,
      `${namesAndModes(others)} belongs to uid ${others[0]!.uid}, ${basename(mirror.path)} to uid ${mirror.uid}: a run by another user, such as by sudo, left it`,
      `chown ${mirror.uid} ${others.map(({ path }) => shellWord(path)).join(' ')}, and run always as the same user`,
    )
  }
  const fixed = files.filter(({ isWritable }) => !isWritable)
  if (fixed.length > 0) {
    return wrong(
      name,
      `${namesAndModes(fixed)} cannot be written by this user`,
      `Run as its owner (uid ${mirror.uid}), or give this user the right.`,
    )
  }
  const open = files.filter(({ mode }) => (mode & 0o006) !== 0)
  if (open.length > 0) {
    const what = open.some(({ mode }) => (mode & 0o002) !== 0) ? 'change' : 'read'
    return wrong(
      name,
      `every user of this machine can ${what} ${namesAndModes(open)}, which holds what the service recorded, credentials included`,
      `chmod o-rwx ${open.map(({ path }) => shellWord(path)).join(' ')}`,
    )
  }
  return null
}

const namesAndModes = (files: readonly FileFacts[]): string =>
  files.map(({ path, mode }) => `${basename(path)} (mode ${octal(mode)})`).join(', ')

export interface RoomFacts {
  /** That this user may fill, bytes. */
  freeBytes: number
  /** Files that may still be made; null where the file system does not count them. */
  freeFiles: number | null
  /** 0 where there is no mirror yet. */
  mirrorBytes: number
}

const MIB = 1024 * 1024
/** Twice what the WAL grows to in ordinary work. */
const LEAST_FREE = 2 * LARGE_WAL_BYTES

/** `room` is null where the system does not say. */
export function diskCheck(room: RoomFacts | null): Check {
  const name = 'disk'
  if (room === null) return note(name, 'this system does not say how much is free')
  const { freeBytes, freeFiles, mirrorBytes } = room
  const found = `${prettyBytes(freeBytes)} free, the mirror takes ${prettyBytes(mirrorBytes)}`
  if (freeFiles !== null && freeFiles < 16) {
    return wrong(name, 'no more files can be made there: its inodes are used up', 'Remove files that nobody needs.')
  }
  const least = LEAST_FREE + mirrorBytes / 10
  if (freeBytes < least) {
    return wrong(
      name,
      `${found}: runs will soon have no room`,
      `Make room, ${prettyBytes(Math.ceil(least / MIB) * MIB)} at least; \`task-mirror status\` says what takes it, export.keep limits snapshots`,
    )
  }
  return freeBytes < mirrorBytes
    ? note(name, `${found}: too little for a copy or a restore there`, 'Make room, or write copies to another disk.')
    : ok(name, found)
}

/** A process that has a file open. */
export interface Holder {
  pid: number
  name: string
}

/** `holders`: processes that have the mirror open, as far as this user may see; null where the system does not say. */
export function walCheck(bytes: number, holders: readonly Holder[] | null, path: string): Check {
  const name = 'WAL'
  if (bytes <= LARGE_WAL_BYTES) return ok(name, prettyBytes(bytes))
  const found = `${prettyBytes(bytes)}: a reader keeps an old transaction open, or a run was killed`
  const others = `\`fuser ${shellWord(path)}\` as root names programs of other users`
  if (holders === null || holders.length === 0) {
    return wrong(name, found, `End that reader: ${others}. Without one the next run of sync folds it back.`)
  }
  const named = holders.map(({ pid, name: program }) => `${program} (process ${pid})`).join(', ')
  return wrong(
    name,
    `${found}; open in ${named}`,
    `End the one that only reads, or have it close its transactions; ${others}.`,
  )
}
