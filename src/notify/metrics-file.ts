// The figures as a file for node_exporter's textfile collector: replaced as a whole, never seen half-written.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { openReader } from '../mirror/open.ts'
import { type MirrorStatus, readStatus } from '../mirror/status.ts'
import { metricsText, type RunFigures, readRuns } from './metrics.ts'

/** Writes the figures of `command` beside those that other commands left in the file. Throws what the file system does. */
export async function writeMetricsFile(
  path: string,
  dbPath: string,
  command: string,
  figures: RunFigures,
  toolVersion: string,
  now: number,
): Promise<void> {
  const runs = readRuns(textOf(path))
  runs.set(command, withLastSuccess(figures, runs.get(command)))
  const text = await metricsText({ toolVersion, status: statusOf(dbPath), runs, now })
  // The collector reads *.prom only.
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`)
  try {
    writeFileSync(draft, text, { mode: 0o644 })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** A failed run does not take away when the command last succeeded. */
export function withLastSuccess(figures: RunFigures, before: RunFigures | undefined): RunFigures {
  const last = before?.success_timestamp_seconds
  return last === undefined ? figures : { success_timestamp_seconds: last, ...figures }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** null where there is no mirror yet, or none that can be read: the run's own figures are worth writing all the same. */
function statusOf(dbPath: string): MirrorStatus | null {
  try {
    const db = openReader(dbPath)
    try {
      return readStatus(db)
    } finally {
      db.close()
    }
  } catch {
    return null
  }
}
