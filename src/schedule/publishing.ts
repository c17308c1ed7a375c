// One export of `schedule`: publishes a dataset into export.dir on a thread of its own.
import type { Environment } from '../config/keys.ts'
import type { Config } from '../config/schema.ts'
import type { ExportResult } from '../export/export.ts'
import { startThread } from './thread.ts'

interface Publishing {
  config: Config
  env: Environment
  inUse: readonly string[]
  toolVersion: string
  signal: AbortSignal
}

/** Throws what `exportSnapshot` throws; `interrupted` where `signal` aborts. */
export async function publish({ config, env, inUse, toolVersion, signal }: Publishing): Promise<ExportResult> {
  const { dir, format, compression, keep, redactHeaders, invalidJson, s3 } = config.export
  const thread = startThread(config.mirror.path)
  const options = {
    dbPath: config.mirror.path,
    inUse,
    // The slash says that it is a folder, also where it is not there yet.
    out: dir.endsWith('/') ? dir : `${dir}/`,
    format,
    compression,
    keep,
    redact: redactHeaders,
    filters: { invalidJson },
    toolVersion,
    busyTimeoutMs: config.mirror.busyTimeoutMs,
    env,
    s3,
  }
  try {
    return await thread.ask('publish', options, { signal })
  } finally {
    await thread.end()
  }
}
