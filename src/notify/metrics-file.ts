// Figures as a file for node_exporter's textfile collector, replaced as a whole. Others may write to its folder.
import { resolve } from 'node:path'
import type { Config } from '../config/schema.ts'
import { filesInUse } from '../export/publish/in-use.ts'
import { publishFile } from '../export/publish/publish.ts'
import { readBeginning } from '../mirror/files.ts'
import { withReader } from '../mirror/open.ts'
import { type MirrorStatus, readStatus } from '../mirror/shown/status.ts'
import { type RunMetrics, withLastSuccess } from './fields.ts'
import { metricsText, readRuns } from './metrics.ts'

/** Reads at most this much of the present file; a file of this program has a hundredth of it. */
const MOST_BYTES = 1024 * 1024

export interface FileContext {
  config: Pick<Config, 'notify' | 'mirror'>
  toolVersion: string
  /** Epoch ms. */
  now: () => number
  /** Paths of the configuration and the key file, which this file must not replace. */
  inUse: readonly string[]
}

/** Writes the figures of a command to `path` and keeps those of other commands. Throws as `publishFile`. */
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
  // The collector reads *.prom only; the draft's name has another ending.
  await publishFile(resolve(path), Buffer.from(text), { mode: 0o644, now: now(), inUse: filesInUse(dbPath, inUse) })
}

/** null where the mirror is missing or cannot be read: the figures of the run itself are still worth writing. */
function statusOf(dbPath: string): MirrorStatus | null {
  try {
    return withReader(dbPath, readStatus)
  } catch {
    return null
  }
}
