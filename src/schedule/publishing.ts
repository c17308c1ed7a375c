// An export as the configuration has it: a dataset in export.dir. `schedule` has it published on a thread of its own.
import type { Config } from '../config/schema.ts'
import type { ExportResult, PlainExportOptions } from '../export/options.ts'
import { startThread } from './thread.ts'

type Surroundings = Pick<PlainExportOptions, 'inUse' | 'env' | 'toolVersion'>

export function configuredExport({ mirror, export: configured }: Config, surroundings: Surroundings) {
  const { dir, format, compression, keep, redactHeaders, invalidJson, s3 } = configured
  return {
    ...surroundings,
    dbPath: mirror.path,
    busyTimeoutMs: mirror.busyTimeoutMs,
    // The slash says that it is a folder, also where it is not there yet.
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
