// The hidden names of what is being written, and taking away what has one. Others may be able to write the same folder: what
// they put there, or in the place of what is ours, is neither followed nor removed.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, readdir, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ageOf } from '../../clock.ts'
import { MirrorError } from '../../errors.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

const DRAFT_NAME = /^\..+\.task-mirror-(\d+)-[0-9a-z]+\.tmp(?:-journal)?$/
/** When this process began, epoch ms. */
const BEGAN_AT = performance.timeOrigin
const DAY_MS = 86_400_000

/** The hidden name that `path` has until it is published; the next export finds it by its pattern should this one die. */
export function draftPath(path: string): string {
  // A file name may have 255 bytes, the hidden one as well.
  const name = [...basename(path)].slice(0, 48).join('')
  return join(dirname(path), `.${name}.task-mirror-${process.pid}-${randomBytes(6).toString('hex')}.tmp`)
}

/** Removes own drafts whose process is gone or that are a day old. Processes of another container cannot be seen. */
export async function clearLeftOvers(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = Number(DRAFT_NAME.exec(name)?.[1] ?? Number.NaN)
    if (Number.isNaN(pid)) continue
    const path = join(folder, name)
    const found = await lstat(path).catch(() => null)
    if (found === null || found.uid !== process.geteuid?.()) continue
    // In containers every run is PID 1: a draft under our own number that is older than we are is a dead one's.
    const isDead = pid === process.pid ? found.mtimeMs < BEGAN_AT : !isAlive(pid)
    if (!isDead && (ageOf(found.mtimeMs, now) ?? 0) <= DAY_MS) continue
    const removed = found.isDirectory() ? removeSnapshot(path) : found.isFile() ? unlink(path) : null
    // It may refuse to go: that is no reason to fail.
    await removed?.catch(() => {})
  }
}

/** Names in the folder of a snapshot, and in those of its partitions. */
const SNAPSHOT_FILE = /^(part-\d{5,}\.[a-z0-9.]+|_?manifest\.json)$/
const PARTITION_FOLDER = /^created_(month|day)=/

/**
 * Removes the folder of a snapshot with what an export puts into one. Whoever may rename in the folder above can put another
 * of ours in its place at any moment: so each folder is held open while its names are removed, no link is followed, and
 * anything else in it stays. Throws what the file system throws, and `snapshot-unwritable` where something stayed.
 */
export async function removeSnapshot(path: string, shown = path): Promise<void> {
  const folder = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    // Only Linux has a path to what is open, whatever is at its name by now.
    const held = process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : path
    const entries = await readdir(held, { withFileTypes: true })
    const isOurs = ({ name }: { name: string }) => SNAPSHOT_FILE.test(name) || PARTITION_FOLDER.test(name)
    for (const { name } of entries.filter(isOurs)) {
      const inside = join(held, name)
      await (SNAPSHOT_FILE.test(name) ? unlink(inside) : removeSnapshot(inside, join(shown, name)))
    }
    const stranger = entries.find((entry) => !isOurs(entry))
    if (stranger !== undefined) {
      throw new MirrorError('snapshot-unwritable', `${shown} holds ${stranger.name}, which no export has put there`, {
        facts: { path: shown },
        hint: 'Look into it, and remove the folder by hand.',
      })
    }
  } finally {
    await folder.close()
  }
  await rmdir(path)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
