// Whether an output would overwrite what the program works with: the one place that decides it.
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { MirrorError } from '../../errors.ts'
import { filesOfMirror } from '../../mirror/files.ts'

/** Every file that no output may replace: those of the mirror at `dbPath`, the configuration and the key. */
export function filesInUse(dbPath: string, others: readonly string[] = []): string[] {
  return [dbPath, ...filesOfMirror(dbPath), ...others]
}

/** Throws `usage-invalid` where `out` is one of `files`, by path, through links, or by a hard link. */
export function refuseInUse(out: string, files: readonly string[]): void {
  const place = placeOf(out)
  const found = identityOf(out)
  for (const file of files) {
    if (placeOf(file) !== place && (found === null || identityOf(file) !== found)) continue
    throw new MirrorError('usage-invalid', `${out} is the mirror itself, or its WAL, lock, configuration or key`, {
      facts: { path: out },
      hint: 'Nothing was written. Name another file.',
    })
  }
}

/** What the file is, whatever its name; null where there is none, or none that may be looked at. */
function identityOf(file: string): string | null {
  try {
    const { dev, ino } = statSync(file, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return null
  }
}

/** The folder by its real path, and the name in one case, because some file systems do not tell case apart. */
function placeOf(file: string): string {
  const path = resolve(file)
  let folder = dirname(path)
  try {
    folder = realpathSync(folder)
  } catch {
    // The folder is not there yet: nothing in it can be overwritten.
  }
  return join(folder, basename(path)).normalize('NFC').toLowerCase()
}
