// Publishes a copy of the mirror itself: one SQLite file that needs no other beside it, whole or not at all.
import { rm, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { MirrorError } from '../errors.ts'
import { vacuumInto } from '../mirror/maintenance/vacuum.ts'
import { filesInUse, refuseInUse } from './publish/in-use.ts'
import { explainingSnapshot, openDraft } from './publish/publish.ts'

interface CopyOptions {
  dbPath: string
  out: string
  /** See `ExportOptions`. */
  inUse?: readonly string[]
  signal?: AbortSignal
  /** Epoch ms. */
  now?: () => number
}

export interface CopyResult {
  schemaVersion: 1
  path: string
  bytes: number
  /** Rows of `tasks`, tombstones included. */
  tasks: number
  /** Highest `change_seq` in it. */
  cut: number
  durationMs: number
}

/** Throws `usage-invalid`, `snapshot-unwritable`, `disk-full`, `interrupted`, or what opening the mirror throws. */
export async function copyMirror({ dbPath, out, inUse, signal, now = Date.now }: CopyOptions): Promise<CopyResult> {
  const startedAt = now()
  const path = resolve(out)
  const files = filesInUse(dbPath, inUse)
  return explainingSnapshot(path, async () => {
    refuseInUse(path, files)
    await refuseOpenDatabase(path)
    // Made here, because SQLite would give it another mode; SQLite may write into an empty file.
    const file = await openDraft(path, { now: startedAt, inUse: files })
    try {
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
  const names = [path, `${path}-wal`, `${path}-journal`]
  const [present, wal, journal] = await Promise.all(names.map((name) => stat(name).catch(() => null)))
  if (present && !present.isFile())
    throw new MirrorError('usage-invalid', `${path} is there and is not a file`, {
      facts: { path },
      hint: 'Name another file with --out.',
    })
  const left = journal ? names[2] : wal ? names[1] : null
  if (left === null) return
  throw new MirrorError('usage-invalid', `${left} is there: a program has ${path} open, or was killed`, {
    facts: { path },
    hint: `Remove it if no program uses ${path}, or name another file with --out.`,
  })
}
