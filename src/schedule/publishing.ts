// One export of `schedule`: publishes a snapshot into export.dir on a thread of its own.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/schema.ts'
import { MirrorError } from '../errors.ts'
import type { ExportResult } from '../export/export.ts'
import { startThread } from './thread.ts'

/** Throws what `exportSnapshot` throws; `interrupted` where `signal` aborts. */
export async function publish(
  config: Config,
  toolVersion: string,
  now: number,
  signal: AbortSignal,
): Promise<ExportResult> {
  const { dir, format, compression, redactHeaders } = config.export
  try {
    mkdirSync(dir, { recursive: true })
  } catch (error) {
    throw new MirrorError('snapshot-unwritable', `The folder ${dir} cannot be made`, {
      facts: { path: dir },
      hint: 'Name another folder with export.dir.',
      cause: error,
    })
  }
  const thread = startThread()
  const stop = () => thread.stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await thread.ask('publish', {
      dbPath: config.mirror.path,
      out: join(dir, snapshotName(format, compression, now)),
      format,
      compression,
      redact: redactHeaders,
      toolVersion,
      busyTimeoutMs: config.mirror.busyTimeoutMs,
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await thread.end()
  }
}

function snapshotName(format: string, compression: string, now: number): string {
  const packed = format === 'ndjson' ? ({ zstd: '.zst', gzip: '.gz' }[compression] ?? '') : ''
  return `tasks-${new Date(now).toISOString().replace(/[-:.]/g, '')}.${format}${packed}`
}
