// An export as configured: a dataset in export.dir. `schedule` publishes it on a thread of its own.
import type { Config } from '../config/schema.ts'
import type { ExportResult, PlainExportOptions } from '../export/options.ts'
import { startThread } from './thread.ts'

/** What an export needs beside its configuration. */
export type Surroundings = Required<Pick<PlainExportOptions, 'inUse' | 'env' | 'toolVersion'>>

export function configuredExport({ mirror, export: configured }: Config, surroundings: Surroundings) {
  const { dir, format, compression, keep, redactHeaders, invalidJson, s3 } = configured
  return {
    ...surroundings,
    dbPath: mirror.path,
    busyTimeoutMs: mirror.busyTimeoutMs,
    // The slash marks it as a folder, even where it does not exist yet.
    out: dir.endsWith('/') ? dir : `${dir}/`,
    ...{ format, compression, keep, redact: redactHeaders, filters: { invalidJson }, s3 },
  }
}

/** Throws what `exportSnapshot` throws; `interrupted` where `signal` aborts. */
export async function publish(options: PlainExportOptions, signal: AbortSignal): Promise<ExportResult> {
  const thread = startThread(options.dbPath)
  try {
    return await thread.ask('publish', options, { signal })
  } finally {
    await thread.end()
  }
}
