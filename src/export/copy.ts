// Publishes a copy of the mirror itself: one SQLite file that needs no other beside it, whole or not at all.
import { existsSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { MirrorError } from '../errors.ts'
import { type Vacuumed, vacuumInto } from '../mirror/maintenance/vacuum.ts'
import type { ExportOptions } from './options.ts'
import { filesInUse } from './publish/in-use.ts'
import { explainingSnapshot, openDraft } from './publish/publish.ts'

type CopyOptions = Pick<ExportOptions, 'dbPath' | 'out' | 'inUse' | 'signal' | 'now'>

export interface CopyResult extends Vacuumed {
  schemaVersion: 1
  path: string
  bytes: number
  durationMs: number
}

/** Throws `usage-invalid`, `snapshot-unwritable`, `disk-full`, `interrupted`, or what opening the mirror throws. */
export async function copyMirror({ dbPath, out, inUse, signal, now = Date.now }: CopyOptions): Promise<CopyResult> {
  const startedAt = now()
  const path = resolve(out)
  const files = filesInUse(dbPath, inUse)
  return explainingSnapshot(path, async () => {
    // Made here, because SQLite would give it another mode; SQLite may write into an empty file.
    const file = await openDraft(path, { now: startedAt, inUse: files })
    try {
      await refuseOpenDatabase(path)
      const { tasks, cut } = await vacuumInto(dbPath, file.draft, signal)
      const { size: bytes } = await stat(file.draft)
      await file.finish()
      return { schemaVersion: 1, path, bytes, tasks, cut, durationMs: now() - startedAt }
    } finally {
      await file.discard()
      await rm(`${file.draft}-journal`, { force: true }).catch(() => {})
    }
  })
}

/** Refuses a database in use, or left in mid-change: the copy would meet a WAL or journal that is not its own. */
async function refuseOpenDatabase(path: string): Promise<void> {
  const left = [`${path}-journal`, `${path}-wal`].find((name) => existsSync(name))
  if (left === undefined) return
  throw new MirrorError('usage-invalid', `${left} is there: a program has ${path} open, or was killed`, {
    facts: { path },
    hint: `Remove it if no program uses ${path}, or name another file with --out.`,
  })
}
