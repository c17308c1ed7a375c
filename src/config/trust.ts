// Whether a configuration that nobody named may be used: anybody may have put it there, and the key goes where it says.
import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { MirrorError } from '../errors.ts'
import { shellWord } from '../shown.ts'

interface Caller {
  uid: number
  gid: number
}

/** null where the system has no such owners. */
export function thisCaller(): Caller | null {
  const { geteuid, getegid } = process
  return geteuid === undefined || getegid === undefined ? null : { uid: geteuid(), gid: getegid() }
}

type Owned = Pick<Stats, 'uid' | 'gid' | 'mode'>

/** Why a file is not to be trusted and the command that mends it; null where it is. Pure. */
export function distrust(
  path: string,
  { uid, gid, mode }: Owned,
  caller: Caller,
): { why: string; mend: string } | null {
  const named = shellWord(path)
  if (uid !== 0 && uid !== caller.uid) {
    return { why: 'belongs to neither you nor root', mend: `sudo chown ${caller.uid} ${named}` }
  }
  if ((mode & 0o002) !== 0) return { why: 'can be written by everybody', mend: `chmod go-w ${named}` }
  if ((mode & 0o020) !== 0 && gid !== caller.gid) {
    return { why: 'can be written by a group that is not yours', mend: `chmod g-w ${named}` }
  }
  return null
}

/** `stats` is that of the open file. Throws `config-invalid` where it, or a link that led to it, is not to be trusted. */
export function refuseDistrusted(path: string, stats: Stats, caller: Caller | null = thisCaller()): void {
  if (caller === null) return
  const found = distrust(path, stats, caller) ?? distrustLinks(path, caller)
  if (found === null) return
  throw new MirrorError('config-invalid', `The configuration ${path} ${found.why}: it was not used`, {
    facts: { path },
    hint: `Look into it first; then ${found.mend}, or name the file with --config.`,
  })
}

/** No system follows more links. */
const MOST_LINKS = 40

/** Of the links that lead from `path` to a file, one behind the other. */
function distrustLinks(path: string, caller: Caller): ReturnType<typeof distrust> {
  let at = path
  for (let followed = 0; followed < MOST_LINKS; followed += 1) {
    const link = lstatSync(at, { throwIfNoEntry: false })
    if (link?.isSymbolicLink() !== true) return null
    // The mode of a link means nothing; who made it does.
    const found = distrust(at, { uid: link.uid, gid: link.gid, mode: 0 }, caller)
    if (found !== null) return found
    at = resolve(dirname(at), readlinkSync(at))
  }
  return null
}
