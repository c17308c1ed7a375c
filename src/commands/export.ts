// `export`: publishes one snapshot of the mirror as a dataset, to a file or to stdout.
import { EXIT, MirrorError } from '../errors.ts'
import { COMPRESSIONS, type Compression } from '../export/encode/compression.ts'
import { ENGINES, type EngineName } from '../export/encode/parquet/engine.ts'
import {
  FORMAT_NAMES,
  type Format,
  formatsWith,
  STREAM_FORMATS,
  SWITCHES,
  type Switches,
  titlesOf,
} from '../export/formats.ts'
import type { ExportResult, PlainExportOptions } from '../export/options.ts'
import { OTHER_ENDINGS, USUAL_ENDINGS } from '../export/publish/target.ts'
import { INVALID_JSON } from '../export/read/invalid-json.ts'
import type { PartitionBy } from '../export/read/partition.ts'
import { flagOf, listed } from '../shown.ts'
import type { CommandContext, CommandSpec } from './shared/command.ts'
import { printableStream } from './shared/printed.ts'
import { atLeastOne, checkRange, RANGE_FLAGS } from './shared/values.ts'

const PARTITIONS: readonly PartitionBy[] = ['none', 'month', 'day']

interface ExportFlags extends Switches {
  out?: string
  format?: Format
  compression?: Compression
  since?: number
  until?: number
  status?: string[]
  includeDeleted?: true
  changes?: true | number | 'last'
  partitionBy?: PartitionBy
  rowsPerFile?: number
  partitionValue?: string[]
  keep?: number
  columns?: string[]
  engine?: EngineName
  redactHeader?: string[]
  noRedact?: true
  requireComplete?: true
}

export const exporting: CommandSpec<ExportFlags> = {
  name: 'export',
  summary: `publish a snapshot of the mirror as ${titlesOf(FORMAT_NAMES, 'or')}`,
  examples: [
    'task-mirror export --out tasks.parquet',
    'task-mirror export --out tasks.ndjson.zst --since 7d --status DONE',
    'task-mirror export --out lake/ --partition-by month --keep 7',
    'task-mirror export --out s3://bucket/tasks --changes last',
    'task-mirror export --out - | head -1',
  ],
  flags: [
    {
      flags: '--out <path>',
      description: `a file (${USUAL_ENDINGS.join(', ')}; ${OTHER_ENDINGS.join(', ')}), a folder/ or s3://bucket/prefix for a dataset, or - for ${titlesOf(STREAM_FORMATS.slice(0, 1), 'or')} on stdout (default: a dataset in export.dir)`,
    },
    {
      flags: '--format <format>',
      description: `${listed(FORMAT_NAMES, 'or')} (default: by the ending of --out, for a dataset parquet; without --out export.format)`,
      choices: FORMAT_NAMES,
    },
    {
      flags: '--compression <name>',
      description: `${listed(COMPRESSIONS, 'or')} (default: by the ending of --out, for Parquet and datasets zstd; without --out export.compression)`,
      choices: COMPRESSIONS,
    },
    ...RANGE_FLAGS,
    {
      flags: '--status <status...>',
      description: 'only tasks with these values of systemStatus, such as DONE',
    },
    { flags: '--include-deleted', description: 'deleted tasks (tombstones) too' },
    {
      flags: '--changes [since]',
      description:
        'a feed: only what has changed since the last publication there, or since this "cut" of one; deleted tasks too; a file is replaced',
      parse: parseChanges,
    },
    {
      flags: '--partition-by <unit>',
      description: 'dataset: a folder per month or day of createdAt, or none (default: none)',
      choices: PARTITIONS,
    },
    { flags: '--rows-per-file <number>', description: 'dataset: maximum rows of a file', parse: atLeastOne },
    {
      flags: '--partition-value <name=value...>',
      description: 'dataset: publish below such folders; account=acme keeps several accounts apart',
    },
    {
      flags: '--keep <number>',
      description:
        'dataset: how many snapshots to keep, with all that they build on (default: all; without --out, export.keep)',
      parse: atLeastOne,
    },
    {
      flags: '--columns <name...>',
      description: `${titlesOf(formatsWith('columns'), 'and')}: only these columns, in the order of the table`,
    },
    {
      flags: '--engine <name>',
      description:
        'Parquet: hyparquet, or parquetjs-lite, which compresses by gzip if nothing else is asked for (default: hyparquet)',
      choices: ENGINES,
    },
    ...SWITCHES.map(([name, description]) => ({ flags: flagOf(name), description })),
    { flags: '--redact-header <name...>', description: 'replace the values of these headers too' },
    { flags: '--no-redact', description: 'keep the values of all headers, recorded credentials included' },
    {
      flags: '--invalid-json <how>',
      description: 'lone surrogates in JSON, which other engines refuse: keep them, or replace them by U+FFFD',
      choices: INVALID_JSON,
      key: 'export.invalidJson',
    },
    {
      flags: '--require-complete',
      description: 'exit 3 unless the last full walk was complete; what is owed does not count',
    },
  ],
  async run(context, flags) {
    const { read } = await import('./shared/reading.ts')
    const { toolVersion } = await import('../version.ts')
    const { config } = await context.config()
    if (flags.noRedact === true && flags.redactHeader !== undefined) {
      throw new MirrorError('usage-invalid', '--no-redact cannot be combined with --redact-header')
    }
    const { since = null, until = null } = flags
    checkRange(since, until)
    const { tellingOthers } = await import('./shared/notice.ts')
    const { describeExport } = await import('../notify/fields.ts')
    const isProven = ({ verdict }: ExportResult) => flags.requireComplete !== true || verdict === 'complete'
    const exitCodeOf = (done: ExportResult) => (isProven(done) ? EXIT.done : EXIT.partial)
    const { configuredExport } = await import('../schedule/publishing.ts')
    const { env } = context
    const usual = configuredExport(config, { env, inUse: await context.filesInUse(), toolVersion: toolVersion() })
    const options = {
      ...usual,
      ...destinationOf(usual, flags),
      filters: {
        ...{ since, until, statuses: flags.status ?? null, includeDeleted: flags.includeDeleted === true },
        ...usual.filters,
      },
      changes: flags.changes === true ? 'last' : flags.changes,
      redact: flags.noRedact === true ? [] : [...usual.redact, ...(namesIn(flags.redactHeader) ?? [])],
      columns: namesIn(flags.columns)?.filter((name) => name !== '') ?? null,
      ...Object.fromEntries(SWITCHES.map(([name]) => [name, flags[name] === true])),
    } as const
    const out = context.stdout.isTTY === true ? printableStream(context.stdout) : context.stdout
    const work = () => read(context, 'snapshot', options, { out, phase: 'export' })
    const result = await tellingOthers(context, 'export', work, (done) => describeExport(done, exitCodeOf(done)))
    await tell(context, result)
    if (!isProven(result)) context.log.warn({ verdict: result.verdict }, 'The last full walk was not complete')
    return exitCodeOf(result)
  },
}

/** Place and form of the output as the flags name them; without --out, the usual dataset. */
function destinationOf(usual: PlainExportOptions, flags: ExportFlags) {
  const { engine, partitionBy, rowsPerFile, partitionValue } = flags
  const asked = { engine, partitionBy, rowsPerFile, partitionValues: partitionValue && partitionValues(partitionValue) }
  if (flags.out !== undefined) {
    return { ...asked, out: flags.out, format: flags.format, compression: flags.compression, keep: flags.keep ?? null }
  }
  return {
    ...asked,
    out: usual.out,
    format: flags.format ?? (engine ? formatsWith('engine')[0] : usual.format),
    compression: flags.compression ?? (engine ? undefined : usual.compression),
    keep: flags.keep ?? usual.keep ?? null,
  }
}

/** Splits lists of header or column names at commas: no such name holds one. */
function namesIn(texts: readonly string[] | undefined): string[] | undefined {
  return texts?.flatMap((text) => text.split(','))
}

function parseChanges(text: string, name: string): number | 'last' {
  if (text === 'last') return text
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new MirrorError('usage-invalid', `${name}: "${text}" is neither "last" nor a number`, {
    hint: 'Give the "cut" of the publication to carry on from, or last.',
  })
}

function partitionValues(pairs: readonly string[]): Record<string, string> {
  const values = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at < 1) {
      throw new MirrorError('usage-invalid', `--partition-value: "${pair}" is not a name and a value`, {
        hint: 'Write it as account=acme.',
      })
    }
    const name = pair.slice(0, at)
    if (values.has(name)) throw new MirrorError('usage-invalid', `--partition-value: ${name} is given twice`)
    values.set(name, pair.slice(at + 1))
  }
  return Object.fromEntries(values)
}

/** Prints the result on stdout; where the tasks themselves went there, it is in the log only (`Run ended`). */
async function tell({ json, log, printSummary, columns }: CommandContext, result: ExportResult): Promise<void> {
  const { snapshotId } = result
  for (const note of [result.notRecorded, result.notRemoved, result.notLimited])
    if (note !== null) log.warn({ snapshotId }, note)
  if (result.path === '-') return
  if (json) return printSummary(result)
  const { exportText } = await import('./text/export.ts')
  return printSummary(exportText(result, columns))
}
