// Which mount holds a file, and whether the mirror has a second name.
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { MirrorError } from '../errors.ts'
import { shellWord } from '../shown.ts'
import { realMirrorPath } from './files.ts'

export interface Mount {
  /** Such as `ext4` or `nfs4`. */
  type: string
  mountPoint: string
}

/** The mount that holds the absolute `path`, by /proc/self/mountinfo (proc(5)): the last longest mount point. */
export function mountOf(mountinfo: string, path: string): Mount | null {
  let found: Mount | null = null
  for (const line of mountinfo.split('\n')) {
    // 36 35 98:0 /root /point options optional-fields - type source super-options
    const [before = '', after = ''] = line.split(' - ')
    const mountPoint = unescaped(before.split(' ')[4] ?? '')
    const type = after.split(' ')[0] ?? ''
    if (mountPoint === '' || type === '' || !holds(mountPoint, path)) continue
    if (found === null || mountPoint.length >= found.mountPoint.length) found = { type, mountPoint }
  }
  return found
}

function holds(mountPoint: string, path: string): boolean {
  return mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`)
}

/** Space, tab, line feed and backslash are written as `\040` and the like. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}

/** The mount that `path` lies on; null where the system has no /proc. */
export function mountHolding(path: string): Mount | null {
  try {
    return mountOf(readFileSync('/proc/self/mountinfo', 'utf8'), path)
  } catch {
    return null
  }
}

/**
 * Throws `mirror-unwritable` where the file has a second name: a hard link, or another place that it alone is mounted
 * from. The WAL and the lock lie beside the name that is given, so whoever uses the other one sees neither: what both
 * write, or what a container takes with it, damages the file (https://www.sqlite.org/howtocorrupt.html section 2).
 */
export function refuseSecondName(path: string): void {
  const real = realMirrorPath(path)
  const isMounted = mountHolding(real)?.mountPoint === real
  if (!isMounted && (statSync(real, { throwIfNoEntry: false })?.nlink ?? 1) <= 1) return
  const [what, hint] = isMounted
    ? ['it is mounted by itself', 'Mount the folder that it lies in, which holds its -wal and its lock as well.']
    : [
        'it has a second name, a hard link',
        `Remove one of them: \`find ${shellWord(dirname(real))} -samefile ${shellWord(real)}\` names those in its folder.`,
      ]
  throw new MirrorError('mirror-unwritable', `${path} is not written to: ${what}`, {
    facts: { path },
    hint: `SQLite's -wal and the lock lie beside one name alone. ${hint}`,
  })
}
