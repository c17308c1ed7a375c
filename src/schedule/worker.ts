// Entry of the thread of thread.ts. A connection lives no longer than one answer, so that a mirror that was replaced is
// noticed.
import { exportSnapshot } from '../export/export.ts'
import type { ExportResult, PlainExportOptions } from '../export/options.ts'
import { type LastPublication, readFigures, readLastPublication } from '../mirror/figures.ts'
import { type Db, openReader } from '../mirror/open.ts'
import type { Io } from '../mirror/reading-thread.ts'
import { serve } from '../mirror/reading-worker.ts'
import { type MirrorStatus, readStatus } from '../mirror/status.ts'
import { sectionsHtml } from '../report/sections.ts'

export interface SectionsQuestion {
  dbPath: string
  /** Epoch ms. */
  now: number
}

/** The parts of the report, as HTML. */
export interface Sections {
  html: string
  baseUrl: string | null
  durationMs: number
}

export const work = {
  status: (dbPath: string): { status: MirrorStatus; publication: LastPublication | null } =>
    read(dbPath, (db) => ({ status: readStatus(db), publication: readLastPublication(db) })),

  async sections({ dbPath, now }: SectionsQuestion): Promise<Sections> {
    const startedAt = performance.now()
    const { status, figures } = read(dbPath, (db) => ({ status: readStatus(db), figures: readFigures(db, now) }))
    const html = await sectionsHtml(status, figures, now)
    return { html, baseUrl: status.baseUrl, durationMs: Math.round(performance.now() - startedAt) }
  },

  publish: (options: PlainExportOptions, { signal }: Pick<Io, 'signal'>): Promise<ExportResult> =>
    exportSnapshot({ ...options, signal }),
}

serve(work)

function read<T>(dbPath: string, question: (db: Db) => T): T {
  const db = openReader(dbPath)
  try {
    return question(db)
  } finally {
    db.close()
  }
}
