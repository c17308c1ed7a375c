// The figures as a file for node_exporter's textfile collector: replaced as a whole; others may write its folder.
import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { filesInUse } from '../export/publish/in-use.ts'
import { publishFile } from '../export/publish/publish.ts'
import { readBeginning } from '../mirror/files.ts'
import { withReader } from '../mirror/open.ts'
import { type MirrorStatus, readStatus } from '../mirror/shown/status.ts'
import { type RunMetrics, withLastSuccess } from './fields.ts'
import { metricsText, readRuns } from './metrics.ts'

/** So much of the present file is read: its own text is a hundredth of it. */
const MOST_BYTES = 1024 * 1024

export interface FileContext {
  config: Pick<Config, 'notify' | 'mirror'>
  toolVersion: string
  /** Epoch ms. */
  now: () => number
  /** Configuration and key: what the file must not take the place of. */
  inUse: readonly string[]
}

/** Writes the figures of a command beside those of others in the file `path`. Throws as `publishFile`. */
export async function writeMetricsFile(
  path: string,
  { config, toolVersion, now, inUse }: FileContext,
  command: string,
  figures: RunMetrics,
): Promise<void> {
  const dbPath = config.mirror.path
  const runs = readRuns(readBeginning(path, MOST_BYTES) ?? '')
  runs.set(command, withLastSuccess(figures, runs.get(command)))
  const text = await metricsText({ toolVersion, status: statusOf(dbPath), runs, now: now() })
  // The collector reads *.prom only, and the draft's name ends in another way.
  await publishFile(resolve(path), Buffer.from(text), { mode: 0o644, now: now(), inUse: filesInUse(dbPath, inUse) })
}

/** null where there is no mirror yet, or none that can be read: the run's own figures are worth writing all the same. */
function statusOf(dbPath: string): MirrorStatus | null {
  try {
    return withReader(dbPath, readStatus)
  } catch {
    return null
  }
}
