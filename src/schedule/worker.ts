// Entry of the thread of thread.ts. Opens the mirror anew for each answer, so that a replaced file is noticed.
import { exportSnapshot } from '../export/export.ts'
import type { ExportResult, PlainExportOptions } from '../export/options.ts'
import { withReader } from '../mirror/open.ts'
import { serveWork } from '../mirror/reading-thread.ts'
import { readFigures, type TaskFigures } from '../mirror/shown/figures.ts'
import { type Recent, readRecent } from '../mirror/shown/recent.ts'
import { type MirrorStatus, readStatus } from '../mirror/shown/status.ts'
import type { Io } from '../threads/messages.ts'

interface FiguresQuestion {
  dbPath: string
  /** Epoch ms. */
  now: number
}

/** What can be read at once. */
export interface StatusRead {
  status: MirrorStatus
  recent: Recent
}

export const work = {
  status: (dbPath: string): StatusRead =>
    withReader(dbPath, (db) => ({
      status: readStatus(db),
      recent: readRecent(db),
    })),

  figures({ dbPath, now }: FiguresQuestion): { figures: TaskFigures; durationMs: number } {
    const startedAt = performance.now()
    const figures = withReader(dbPath, (db) => readFigures(db, now))
    return { figures, durationMs: Math.round(performance.now() - startedAt) }
  },

  publish: (options: PlainExportOptions, { signal }: Pick<Io, 'signal'>): Promise<ExportResult> =>
    exportSnapshot({ ...options, signal }),
}

serveWork(work)
