// Where a snapshot goes, in which format and compression: what the flags say, else what the name ends in. Pure.

import { MirrorError } from '../../errors.ts'
import { listed } from '../../shown.ts'
import { type Compression, SUFFIX_OF } from '../encode/compression.ts'
import { FORMAT_NAMES, type Format, formatEntry, STREAM_FORMATS } from '../formats.ts'

export interface Target {
  /** stdout; one file; a folder of the file system or a prefix of an object store, either of which holds a dataset. */
  kind: 'stdout' | 'file' | 'folder' | 's3'
  /** `-` for stdout, else the path or URL as given. */
  out: string
  format: Format
  compression: Compression
}

/** Where a dataset goes. */
export type DatasetTarget = Target & { kind: 'folder' | 's3' }

export function isDataset(target: Target): target is DatasetTarget {
  return target.kind === 'folder' || target.kind === 's3'
}

interface Ending {
  text: string
  format: Format
  /** null where the name does not say. */
  compression: Compression | null
}

/** What names can end in, the usual spellings first. */
const ENDINGS: readonly Ending[] = FORMAT_NAMES.flatMap((format) => {
  const { endings, compressions, isStream } = formatEntry(format)
  const told: readonly (Compression | null)[] = isStream ? compressions : [null]
  return endings.flatMap((ending) =>
    told.map((compression) => ({ text: ending + SUFFIX_OF[compression ?? 'none'], format, compression })),
  )
})

/** Such as .parquet and .ndjson.gz; other spellings left out. */
export const USUAL_ENDINGS: readonly string[] = ENDINGS.filter(({ text, format }) =>
  text.startsWith(formatEntry(format).endings[0]!),
).map(({ text }) => text)

/** Such as ".jsonl as .ndjson". */
export const OTHER_ENDINGS: readonly string[] = FORMAT_NAMES.flatMap((format) => {
  const [usual, ...others] = formatEntry(format).endings
  return others.map((other) => `${other} as ${usual}`)
})

function endingIn(out: string) {
  return ENDINGS.find(({ text }) => out.toLowerCase().endsWith(text))
}

/** Whether a destination is written as a URL, not as a path; `C://` is a drive. */
export function isUrl(out: string): boolean {
  return /^(s3:|[a-z][a-z0-9+.-]+:\/\/)/i.test(out)
}

/** Whether a name says that it is a file of `export`. */
export function isNamedAsExport(out: string): boolean {
  return endingIn(out) !== undefined
}

/** `isFolder`: there is one at `out`. Throws `usage-invalid` where nothing tells the format or parts do not fit. */
export function targetOf(out: string, format?: Format, compression?: Compression, isFolder = false): Target {
  if (out === '') throw refused('The snapshot has no name', 'Name a file or a folder with --out, or - for stdout.')
  const isS3 = /^s3:/i.test(out)
  if (isUrl(out) && !isS3) {
    throw refused(`"${out}" is neither a path nor in object storage`, 'Of URLs, only s3://bucket/prefix is known.')
  }
  const kind = isS3 ? 's3' : out === '-' ? 'stdout' : isFolder || out.endsWith('/') ? 'folder' : 'file'
  const isOneFile = kind === 'stdout' || kind === 'file'
  const ending = isOneFile ? endingIn(out) : undefined
  const chosen =
    format ?? ending?.format ?? (kind === 'stdout' ? STREAM_FORMATS[0] : isOneFile ? undefined : FORMAT_NAMES[0])
  if (chosen === undefined) {
    throw refused(
      `Nothing tells the format of ${out}`,
      `Let the name end in ${USUAL_ENDINGS.join(', ')} or, for a folder, in /; or give --format.`,
    )
  }
  const { title, compressions, isStream } = formatEntry(chosen)
  const packed = compression ?? ending?.compression ?? (isOneFile ? compressions[0]! : 'zstd')
  if (!compressions.includes(packed)) {
    throw refused(`${title} cannot be compressed with ${packed}`, `Use ${listed(compressions, 'or')}.`)
  }
  const told = ending?.compression ?? packed
  // Programs choose the format by the ending, so it has to be true.
  if (ending !== undefined && (ending.format !== chosen || told !== packed)) {
    const asked = ending.format === chosen ? `--compression ${packed}` : `--format ${chosen}`
    throw refused(
      `A name that ends in ${ending.text} does not go with ${asked}: ${out}`,
      `Let it end in ${endingOf({ format: chosen, compression: packed })}, or leave the flag out.`,
    )
  }
  if (!isStream && kind === 'stdout') {
    throw refused(
      `${title} cannot be written to stdout`,
      `Name a file with --out, or use --format ${listed(STREAM_FORMATS, 'or')}.`,
    )
  }
  return { kind, out, format: chosen, compression: packed }
}

/** What the names of a dataset's files end in. */
export function endingOf({ format, compression }: Pick<Target, 'format' | 'compression'>): string {
  const { endings, isStream } = formatEntry(format)
  return endings[0]! + (isStream ? SUFFIX_OF[compression] : '')
}

function refused(message: string, hint: string): MirrorError {
  return new MirrorError('usage-invalid', message, { hint })
}
