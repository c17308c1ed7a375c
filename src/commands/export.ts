// `export`: one snapshot of the mirror, to a file or to stdout.
import { parseMoment } from '../config/duration.ts'
import type { Config } from '../config/schema.ts'
import { EXIT, MirrorError } from '../errors.ts'
import type { ExportResult } from '../export/export.ts'
import type { Compression, Format } from '../export/target.ts'
import type { CommandContext, CommandSpec } from './command.ts'
import { checkRange, oneOf } from './values.ts'

const FORMATS: readonly Format[] = ['parquet', 'ndjson']
const COMPRESSIONS: readonly Compression[] = ['zstd', 'snappy', 'gzip', 'none']

interface ExportFlags {
  out?: string
  format?: Format
  compression?: Compression
  since?: number
  until?: number
  status?: string[]
  includeDeleted?: true
  withMeta?: true
  redactHeader?: string[]
  noRedact?: true
  requireComplete?: true
}

export const exporting: CommandSpec<ExportFlags> = {
  name: 'export',
  summary: 'publish a snapshot of the mirror as Parquet or NDJSON',
  examples: [
    'task-mirror export --out tasks.parquet',
    'task-mirror export --out tasks.ndjson.zst --since 7d --status DONE',
    'task-mirror export --out - | head -1',
  ],
  flags: [
    {
      flags: '--out <path>',
      description:
        '.parquet, .ndjson, .ndjson.gz, .ndjson.zst, or - for NDJSON on stdout (default: a new file in export.dir)',
    },
    {
      flags: '--format <format>',
      description: 'parquet or ndjson (default: by the name)',
      choices: FORMATS,
      parse: (text, name) => oneOf(text, FORMATS, name),
    },
    {
      flags: '--compression <name>',
      description: 'zstd, snappy, gzip or none (default: by the name)',
      choices: COMPRESSIONS,
      parse: (text, name) => oneOf(text, COMPRESSIONS, name),
    },
    {
      flags: '--since <moment>',
      description: 'only tasks created from then on: 2026-11-01, epoch ms or 7d',
      parse: parseMoment,
    },
    { flags: '--until <moment>', description: 'only tasks created before', parse: parseMoment },
    { flags: '--status <status...>', description: 'only tasks with these values of systemStatus' },
    { flags: '--include-deleted', description: 'tombstones too' },
    { flags: '--with-meta', description: 'NDJSON: add "_mirror" to every task' },
    { flags: '--redact-header <name...>', description: 'replace the values of these headers too' },
    { flags: '--no-redact', description: 'keep the values of all headers, recorded credentials included' },
    { flags: '--require-complete', description: 'exit 3 unless the last full walk was complete' },
  ],
  async run(context, flags) {
    const { exportSnapshot } = await import('../export/export.ts')
    const { toolVersion } = await import('../version.ts')
    const { config } = await context.config()
    if (flags.noRedact === true && flags.redactHeader !== undefined) {
      throw new MirrorError('usage-invalid', '--no-redact cannot be combined with --redact-header')
    }
    const { since = null, until = null } = flags
    checkRange(since, until)
    const toDirectory = flags.out === undefined
    const out = flags.out ?? (await defaultOut(config, flags, context.now()))
    const { noticeOf } = await import('./notice.ts')
    const isProven = ({ verdict }: ExportResult) => flags.requireComplete !== true || verdict === 'complete'
    const exitCodeOf = (done: ExportResult) => (isProven(done) ? EXIT.done : EXIT.partial)
    const work = () =>
      exportSnapshot({
        dbPath: config.mirror.path,
        out,
        stdout: context.stdout,
        format: flags.format ?? (toDirectory ? config.export.format : undefined),
        compression: flags.compression ?? (toDirectory ? config.export.compression : undefined),
        filters: { since, until, statuses: flags.status ?? null, includeDeleted: flags.includeDeleted === true },
        redact: flags.noRedact === true ? null : [...config.export.redactHeaders, ...(flags.redactHeader ?? [])],
        withMeta: flags.withMeta === true,
        toolVersion: toolVersion(),
        busyTimeoutMs: config.mirror.busyTimeoutMs,
        signal: context.signal,
        now: context.now,
        onProgress: (done, total) => context.progress.set({ phase: 'export', done, total }),
      })
    const result = await noticeOf(context, config).ofExport(work, exitCodeOf)
    context.progress.finish()
    await tell(context, result)
    if (!isProven(result)) context.log.warn({ verdict: result.verdict }, 'The last full walk was not complete')
    return exitCodeOf(result)
  },
}

/** A new file in `export.dir`, which is made where it is missing. */
async function defaultOut(config: Config, flags: ExportFlags, now: number): Promise<string> {
  const { mkdirSync } = await import('node:fs')
  const { join } = await import('node:path')
  try {
    mkdirSync(config.export.dir, { recursive: true })
  } catch (error) {
    throw new MirrorError('snapshot-unwritable', `The folder ${config.export.dir} cannot be made`, {
      facts: { path: config.export.dir },
      hint: 'Name a file with --out, or another folder with export.dir.',
      cause: error,
    })
  }
  const format = flags.format ?? config.export.format
  const packed = { zstd: '.zst', gzip: '.gz', snappy: '', none: '' }[flags.compression ?? config.export.compression]
  const time = new Date(now).toISOString().replace(/[-:.]/g, '')
  return join(config.export.dir, `tasks-${time}.${format}${format === 'ndjson' ? packed : ''}`)
}

/** The result goes to stdout, unless the tasks themselves went there: then to the log. */
async function tell({ json, log, print }: CommandContext, result: ExportResult): Promise<void> {
  const { snapshotId, rows, bytes, cut } = result
  if (result.notRecorded !== null) log.warn({ snapshotId }, result.notRecorded)
  if (result.path === '-') {
    log.info({ snapshotId, rows, bytes, cut, verdict: result.verdict }, 'The snapshot is written')
    return
  }
  if (json) return print(result)
  const { exportText } = await import('./export-text.ts')
  return print(exportText(result))
}
