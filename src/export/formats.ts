// The registry of formats: names, what goes with each, its code, which is loaded when asked for (docs/architecture.md).
import { listed } from '../shown.ts'
import { COMPRESSIONS, type Compression } from './encode/compression.ts'
import type { FormatCode } from './encode/format.ts'

interface FormatEntry {
  /** As messages call it. */
  title: string
  /** What names end in that choose it; files of a dataset end in the first one. */
  endings: readonly string[]
  /** The first one where neither flags nor the name say so, and the file is no dataset's. */
  compressions: readonly Compression[]
  /** Whether a file is one stream of text: it can go to stdout, is compressed as a whole, and its name says so. */
  isStream: boolean
  /** Options of an export beside its own switches that go with it. `withMeta` goes with what has the mirror's columns. */
  takes: readonly ('columns' | 'engine' | 'withMeta')[]
  /** Its own options, each on or off, by the name in `ExportOptions`: what they do. They are recorded among the filters. */
  switches: Readonly<Record<string, string>>
  /** Rows are encoded in pieces of about so much text: worth being handed around, and what bounds memory. */
  pieceBytes: number
  load(): Promise<FormatCode>
}

const MIB = 1024 * 1024

const OF_A_STREAM = ['none', 'gzip', 'zstd'] as const

/** The first one is what a dataset has where nothing tells, the first stream what stdout has. */
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
