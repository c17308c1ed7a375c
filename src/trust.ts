// Whether others may have put a file there: a configuration that nobody named, where the key goes where it says, and a
// mirror, which is filled with what the service recorded.
import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { MirrorError } from './errors.ts'
import { shellWord } from './shown.ts'

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

/**
 * `stats` is that of the open file. Throws `config-invalid` where it, or a link that led to it, is not to be trusted.
 */
export function refuseDistrusted(path: string, stats: Stats, caller: Caller | null = thisCaller()): void {
  if (caller === null) return
  const found = distrust(path, stats, caller) ?? distrustLinks(path, caller)
  if (found === null) return
  throw new MirrorError('config-invalid', `The configuration ${path} ${found.why}: it was not used`, {
    facts: { path },
    hint: `Look into it first; then ${found.mend}, or name the file with --config.`,
  })
}

/**
 * Throws `mirror-foreign` where a file that is to be written, or a link that leads to it, belongs to neither the caller
 * nor root and lies in a folder that everybody may write: whoever planted it would read what is written. In other
 * folders users may share it.
 */
export function refusePlanted(paths: readonly string[], caller: Caller | null = thisCaller()): void {
  if (caller === null) return
  for (const { at, stats } of paths.flatMap(wayTo)) {
    const found = distrust(at, madeBy(stats), caller)
    if (found === null || (statSync(dirname(at)).mode & 0o002) === 0) continue
    throw new MirrorError(
      'mirror-foreign',
      `${at} ${found.why}, in a folder that everybody may write; nothing was written to it`,
      {
        facts: { path: at },
        hint: 'Find out who has put it there, and keep the mirror in a folder that only you may write.',
      },
    )
  }
}

/** No system follows more links. */
const MOST_LINKS = 40

/** The links that lead from `path` to a file, one behind the other, and that file. */
function wayTo(path: string): { at: string; stats: Stats }[] {
  const way = []
  for (let at = path; way.length < MOST_LINKS; at = resolve(dirname(at), readlinkSync(at))) {
    const stats = lstatSync(at, { throwIfNoEntry: false })
    if (stats !== undefined) way.push({ at, stats })
    if (stats?.isSymbolicLink() !== true) break
  }
  return way
}

/** Without the mode, which means nothing for a link. */
const madeBy = ({ uid, gid }: Stats): Owned => ({ uid, gid, mode: 0 })

function distrustLinks(path: string, caller: Caller): ReturnType<typeof distrust> {
  const links = wayTo(path).filter(({ stats }) => stats.isSymbolicLink())
  return links.map(({ at, stats }) => distrust(at, madeBy(stats), caller)).find((found) => found !== null) ?? null
}
