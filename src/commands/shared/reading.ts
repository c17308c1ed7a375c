// Commands read large parts of the mirror on a thread, so that not even a huge value holds up signals.
import { statSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { ExportResult, PlainExportOptions } from '../../export/options.ts'
import type { SnapshotVerified, VerifySnapshotsOptions } from '../../export/verify/verify.ts'
import { explain, explaining } from '../../mirror/explain.ts'
import type { Argument, Result } from '../../mirror/reading-thread.ts'
import { walBytes } from '../../mirror/wal.ts'
import { startEarly } from '../../threads/early.ts'
import type { Io } from '../../threads/messages.ts'
import type { CommandContext } from './command.ts'
import { READING_THREAD } from './early.ts'

interface Question {
  dbPath: string
  json: boolean
}

export const reading = {
  /** Writes the task; false where the mirror has no task with this id. */
  async task(
    { dbPath, json, id, withMeta }: Question & { id: string; withMeta: boolean },
    { out }: Io,
  ): Promise<boolean> {
    const { withReader } = await import('../../mirror/open.ts')
    const { readTask } = await import('../../mirror/tables/tasks.ts')
    const { taskText } = await import('../../mirror/shape.ts')
    const { indentJson, jsonPieceTexts } = await import('../text/json-pieces.ts')
    const { printPieces } = await import('./printed.ts')
    const task = withReader(dbPath, (db) => readTask(db, id))
    if (task === null) return false
    const { row, ...meta } = task
    const text = taskText(row)
    const whole = withMeta ? `${text.slice(0, -1)},"_mirror":${JSON.stringify(meta)}}` : text
    await printPieces(out, json ? jsonPieceTexts(whole) : indentJson(whole))
    return true
  },

  async rejected(
    {
      dbPath,
      json,
      columns,
      limit,
      withRaw,
    }: Question & { columns: number | undefined; limit: number; withRaw: boolean },
    { out }: Io,
  ) {
    const { openReader } = await import('../../mirror/open.ts')
    const { readSetAside } = await import('../../mirror/tables/set-aside.ts')
    const { setAsideText } = await import('../text/rejected.ts')
    const { jsonPieces } = await import('../text/json-pieces.ts')
    const { printPieces } = await import('./printed.ts')
    const db = openReader(dbPath)
    try {
      const list = readSetAside(db, { limit, withRaw })
      await printPieces(out, json ? jsonPieces({ schemaVersion: 1, ...list }) : setAsideText(list, columns))
    } catch (error) {
      throw explain(dbPath, error)
    } finally {
      db.close()
    }
  },

  async snapshot(options: PlainExportOptions, io: Io): Promise<ExportResult> {
    const { isForTwo, SECOND_THREAD } = await import('../../export/encode/second-entry.ts')
    if (options.changes === undefined && isForTwo(bytesOf(options.dbPath))) startEarly(SECOND_THREAD)
    const { exportSnapshot } = await import('../../export/export.ts')
    return exportSnapshot({ ...options, stdout: io.out, signal: io.signal, onProgress: io.onProgress })
  },

  async verifySnapshot(
    { dir, ...options }: Omit<VerifySnapshotsOptions, keyof Io> & { dir: string },
    { signal, onProgress }: Io,
  ): Promise<SnapshotVerified> {
    const { verifySnapshot } = await import('../../export/verify/verify.ts')
    return verifySnapshot(dir, { ...options, signal, onProgress })
  },
}

type ReadingMethods = typeof reading

function bytesOf(dbPath: string): number {
  return explaining(dbPath, () => statSync(dbPath, { throwIfNoEntry: false })?.size ?? 0) + walBytes(dbPath)
}

/** A smaller mirror is read quickly: starting a thread would take longer. */
const SMALL_BYTES = 4 * 1024 * 1024

/** Calls the method, here or on a thread. Throws what the method throws. */
export async function read<Name extends keyof ReadingMethods>(
  { signal, stdout, progress }: CommandContext,
  method: Name,
  argument: Argument<ReadingMethods[Name]>,
  { phase = '', out = stdout }: { phase?: string; out?: Writable } = {},
): Promise<Result<ReadingMethods[Name]>> {
  const io: Io = {
    signal,
    out,
    onProgress: (done: number, total: number | null) => progress.set({ phase, done, total }),
  }
  const { dbPath } = argument
  if (method !== 'verifySnapshot' && bytesOf(dbPath) < SMALL_BYTES) {
    const work = reading[method] as (
      argument: Argument<ReadingMethods[Name]>,
      io: Io,
    ) => Promise<Result<ReadingMethods[Name]>>
    return work(argument, io)
  }
  const { readingThread } = await import('../../mirror/reading-thread.ts')
  const thread = readingThread<ReadingMethods>(READING_THREAD, dbPath)
  try {
    return await thread.ask(method, argument, io)
  } finally {
    await thread.end()
  }
}
