// The hidden names of what is being written (drafts), and their removal. Others may be able to write to the same
// folder: what they put there, or in the place of what is ours, is neither followed nor removed.
import { createHash, randomBytes } from 'node:crypto'
import { constants, readFileSync, readlinkSync } from 'node:fs'
import { lstat, open, readdir, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ageOf, DAY_MS, HOUR_MS } from '../../clock.ts'
import { MirrorError } from '../../errors.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** The first group says where the process's number counts; versions up to 1.0.0 left it out. */
const DRAFT_NAME = /^\..+\.task-mirror-((?:[0-9a-f]+-)?)(\d+)-[0-9a-z]+\.tmp(?:-journal)?$/
/** Where the number of this process counts: in this container since the machine's start; empty where nothing tells. */
const NUMBERED_IN = placeOfNumbers()
/** When this process began, epoch ms. */
const BEGAN_AT = performance.timeOrigin

/** The hidden name of `path` until it is published; if this export dies, the next one finds it by its pattern. */
export function draftPath(path: string): string {
  // A file name may have 255 bytes, the hidden one as well.
  const name = [...basename(path)].slice(0, 48).join('')
  return join(dirname(path), `.${name}.task-mirror-${NUMBERED_IN}${process.pid}-${randomBytes(6).toString('hex')}.tmp`)
}

/**
 * Removes drafts of this user whose process is gone, or that are a day old. Processes of another machine or container
 * cannot be seen: a draft from there is removed when nothing was written to it for an hour.
 */
export async function clearLeftOvers(folder: string, now: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, numberedIn, number] = DRAFT_NAME.exec(name) ?? []
    if (number === undefined) continue
    const path = join(folder, name)
    const found = await lstat(path).catch(() => null)
    if (found === null || found.uid !== process.geteuid?.()) continue
    const pid = Number(number)
    const isNear = numberedIn === NUMBERED_IN
    // A draft with our own process number that is older than this process belongs to a dead one.
    const isDead = isNear && (pid === process.pid ? found.mtimeMs < BEGAN_AT : !isAlive(pid))
    if (!isDead && (ageOf(found.mtimeMs, now) ?? 0) <= (isNear ? DAY_MS : HOUR_MS)) continue
    const removed = found.isDirectory() ? removeSnapshot(path) : found.isFile() ? unlink(path) : null
    // A draft that cannot be removed is no reason to fail.
    await removed?.catch(() => {})
  }
}

/** Names in the folder of a snapshot, and in those of its partitions. */
const SNAPSHOT_FILE = /^(part-\d{5,}\.[a-z0-9.]+|_?manifest\.json)$/
const PARTITION_FOLDER = /^created_(month|day)=/

/**
 * Removes the folder of a snapshot with what an export puts into one. Whoever may rename in the folder above can put
 * another of ours in its place at any moment: so each folder is held open while its names are removed, no link is
 * followed, and anything else stays. Throws the file system's errors, and `snapshot-unwritable` where something stayed.
 */
export async function removeSnapshot(path: string, shown = path): Promise<void> {
  const folder = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    // Only Linux has a path to an open folder itself, whatever is at its name by now.
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

function placeOfNumbers(): string {
  try {
    const facts = [readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'), readlinkSync('/proc/self/ns/pid')]
    return `${createHash('sha256').update(facts.join()).digest('hex').slice(0, 8)}-`
  } catch {
    return ''
  }
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
