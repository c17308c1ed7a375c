// The registry of formats: names, what goes with each, and its code, loaded when asked for (docs/architecture.md).
import { listed } from '../shown.ts'
import { COMPRESSIONS, type Compression } from './encode/compression.ts'
import type { FormatCode } from './encode/format.ts'

interface FormatEntry {
  /** Its name in messages. */
  title: string
  /** Endings of names that choose it; files of a dataset have the first one. */
  endings: readonly string[]
  /** The first one is the default of a single file, where neither flags nor its name say. */
  compressions: readonly Compression[]
  /** Whether a file is one stream of text: it can go to stdout, is compressed as a whole, and its name says so. */
  isStream: boolean
  /** Options, besides its own switches, that it takes. `withMeta` goes with formats that have the mirror's columns. */
  takes: readonly ('columns' | 'engine' | 'withMeta')[]
  /** What each of its own on-off options does, by its name in `ExportOptions`; recorded among the filters. */
  switches: Readonly<Record<string, string>>
  /** Rows are encoded in pieces of about so much text: worth handing to a thread, yet a bound on memory. */
  pieceBytes: number
  load(): Promise<FormatCode>
}

const MIB = 1024 * 1024

const OF_A_STREAM = ['none', 'gzip', 'zstd'] as const

/** The first format is the default for datasets, the first stream for stdout. */
export const FORMATS = {
  parquet: {
    title: 'Parquet',
    endings: ['.parquet'],
    compressions: COMPRESSIONS,
    isStream: false,
    takes: ['columns', 'engine', 'withMeta'],
    switches: { variant: 'result_body as VARIANT; numbers beyond a double are rounded' },
    // A row group: small enough for readers on small machines, large enough to compress well.
    pieceBytes: 8 * MIB,
    load: async () => (await import('./encode/parquet/format.ts')).parquet,
  },
  ndjson: {
    title: 'NDJSON',
    endings: ['.ndjson', '.jsonl'],
    compressions: OF_A_STREAM,
    isStream: true,
    takes: [],
    switches: { withMeta: 'add "_mirror" to every task; other formats have it as columns' },
    pieceBytes: 2 * MIB,
    load: async () => (await import('./encode/ndjson.ts')).ndjson,
  },
  csv: {
    title: 'CSV',
    endings: ['.csv'],
    compressions: OF_A_STREAM,
    isStream: true,
    takes: ['columns', 'withMeta'],
    switches: { csvSafe: 'an apostrophe before text that a spreadsheet could take for a formula' },
    pieceBytes: 2 * MIB,
    load: async () => (await import('./encode/csv.ts')).csv,
  },
} as const satisfies Record<string, FormatEntry>

/** As `--format` names it. */
export type Format = keyof typeof FORMATS
type SwitchesOf<Name extends Format> = keyof (typeof FORMATS)[Name]['switches']
type SwitchName = { [Name in Format]: SwitchesOf<Name> }[Format]
export type Switches = { [Name in SwitchName]?: boolean }
/** An option that not every format takes. */
export type FormatOption = SwitchName | FormatEntry['takes'][number]

export const FORMAT_NAMES = Object.keys(FORMATS) as [Format, ...Format[]]
export const STREAM_FORMATS = FORMAT_NAMES.filter((name) => FORMATS[name].isStream) as [Format, ...Format[]]

export function formatEntry(format: Format): FormatEntry {
  return FORMATS[format]
}

export function codeOf(format: Format): Promise<FormatCode> {
  return FORMATS[format].load()
}

/** Every switch with what it does, such as `['variant', 'Parquet: result_body as VARIANT']`. */
export const SWITCHES = FORMAT_NAMES.flatMap((format) => {
  const { title, switches } = formatEntry(format)
  return Object.entries(switches).map(([name, does]) => [name as SwitchName, `${title}: ${does}`] as const)
})

/** The formats that go with an option. */
export function formatsWith(option: FormatOption): Format[] {
  return FORMAT_NAMES.filter((format) => {
    const { takes, switches } = formatEntry(format)
    return option in switches || (takes as readonly string[]).includes(option)
  })
}

/** Such as "Parquet or NDJSON". */
export function titlesOf(formats: readonly Format[], conjunction: 'and' | 'or'): string {
  return listed(
    formats.map((format) => formatEntry(format).title),
    conjunction,
  )
}
