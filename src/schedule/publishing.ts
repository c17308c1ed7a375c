// One export of `schedule`: publishes a dataset into export.dir on a thread of its own.
import type { Config } from '../config/schema.ts'
import type { ExportResult } from '../export/export.ts'
import { startThread } from './thread.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Throws what `exportSnapshot` throws; `interrupted` where `signal` aborts. */
export async function publish(
  config: Config,
  env: Environment,
  inUse: readonly string[],
  toolVersion: string,
  signal: AbortSignal,
): Promise<ExportResult> {
  const { dir, format, compression, keep, redactHeaders, s3 } = config.export
  const thread = startThread(config.mirror.path)
  const stop = () => thread.stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await thread.ask('publish', {
      dbPath: config.mirror.path,
      inUse,
      // The slash says that it is a folder, also where it is not there yet.
      out: dir.endsWith('/') ? dir : `${dir}/`,
      format,
      compression,
      keep,
      redact: redactHeaders,
      toolVersion,
      busyTimeoutMs: config.mirror.busyTimeoutMs,
      env,
      s3,
    })
  } finally {
    signal.removeEventListener('abort', stop)
    await thread.end()
  }
}
