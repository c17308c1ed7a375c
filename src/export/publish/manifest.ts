// `_manifest.json` beside a dataset's files, `latest.json` beside snapshots: a contract; add, never rename. Pure.
import { z } from 'zod'
import { MirrorError } from '../../errors.ts'
import type { Verdict } from '../../task.ts'
import { COMPRESSIONS, type Compression } from '../encode/compression.ts'
import type { Encoding } from '../encode/format.ts'
import { ENGINES } from '../encode/parquet/engine.ts'
import { FORMAT_NAMES, type Format } from '../formats.ts'
import { COLUMNS, type ColumnKind } from '../read/columns.ts'
import type { InvalidJson } from '../read/invalid-json.ts'
import type { Proof } from '../read/rows.ts'

/** What was published: every row that fits the filters, or only those with a greater `change_seq` than `sinceSeq`. */
type Kind = 'full' | 'changes'

/** The filters of a publication as recorded, switches that are on among them; equal filters are equal text. */
export interface RecordedFilters extends Record<string, unknown> {
  /** Bounds of createdAt, epoch ms. */
  since: number | null
  until: number | null
  statuses: string[] | null
  includeDeleted: boolean
  /** Names of headers whose values are replaced. */
  redact: string[]
  withMeta: boolean
  /** Names in the order of the table; null for all. */
  columns: string[] | null
  variant: boolean
  /** Absent in what 0.1.0 recorded, which kept all. */
  invalidJson?: InvalidJson
}

export interface ManifestFile {
  /** Below the folder of the snapshot, with `/`. */
  path: string
  /** Its Hive partition; null stands for rows without a date. */
  partition: Record<string, string | null>
  rows: number
  bytes: number
  /** Hex. */
  sha256: string
  /** Of createdAt, epoch ms; null where no row has one. */
  minCreatedAt: bigint | null
  maxCreatedAt: bigint | null
}

export interface Manifest {
  schemaVersion: 1
  snapshotId: string
  kind: Kind
  toolVersion: string
  /** Epoch ms. */
  publishedAt: number
  /** Highest `change_seq` of the mirror when it was read. */
  cut: number
  /** For changes: only rows with a greater `change_seq`; null for a full snapshot. */
  sinceSeq: number | null
  /** For changes: the snapshot at this destination that it carries on from; null where there is none. */
  buildsOn: string | null
  /** The last full walk that ended, and how old it was at publication (null: not known); null where there was none. */
  lastFullWalk: { verdict: Verdict; finishedAt: number; ageMs: number | null } | null
  /** What proves the last complete full walk of the whole list (null: nothing): docs/proof.md, "Evidence". */
  proof: Proof | null
  format: Format
  compression: Compression
  /** The engine of a format that has several (Parquet); null for others. */
  engine: string | null
  partitionBy: string
  /** Fixed values of partitions above the destination, such as the account. */
  partitionValues: Record<string, string>
  filters: Record<string, unknown>
  /** The names looked for, and how many values were replaced by name. */
  redacted: { names: string[]; values: Record<string, number> }
  schema: { name: string; type: ColumnKind; nullable: boolean }[]
  rows: number
  bytes: number
  minCreatedAt: bigint | null
  maxCreatedAt: bigint | null
  files: ManifestFile[]
}

/** One publication as `latest.json` names it. */
export interface LatestEntry
  extends Pick<Manifest, 'snapshotId' | 'cut' | 'sinceSeq' | 'rows' | 'bytes' | 'publishedAt'> {
  /** Path of its manifest below the destination. */
  manifest: string
  /** Of the manifest's bytes, hex. */
  manifestSha256: string
  /** Absent where an earlier version published it, as `format` and `partitionBy` are. */
  filters?: RecordedFilters
  format?: Format
  partitionBy?: string
}

export interface Latest {
  schemaVersion: 1
  /** The last full snapshot; null where only changes were published. */
  full: LatestEntry | null
  /** The last changes, unless `full` goes as far; the ones before follow by `buildsOn` of its manifest. */
  changes: LatestEntry | null
}

/** A path that leads out of the folder would make a reader open, or a clean-up remove, what is not ours. */
const isInside = (path: string): boolean => path !== '' && !path.startsWith('/') && !path.split(/[\\/]/).includes('..')
const inside = z.string().refine(isInside)
const number = z.int().nonnegative()

// Checks what our own readers rely on: whoever can write to the destination can put anything there.
const MANIFEST_SHAPE = z.looseObject({
  schemaVersion: z.literal(1),
  snapshotId: z.string(),
  kind: z.enum(['full', 'changes']),
  cut: number,
  rows: number,
  bytes: number,
  publishedAt: number,
  format: z.string(),
  compression: z.string(),
  filters: z.record(z.string(), z.unknown()),
  schema: z.array(z.looseObject({ name: z.string(), type: z.string() })),
  files: z
    .array(z.looseObject({ path: inside, rows: number, bytes: number, sha256: z.string() }))
    .refine((files) => new Set(files.map(({ path }) => path)).size === files.length),
})

const names = z.array(z.string()).nullable()
const bound = z.number().nullable()
const ENTRY_SHAPE = z.looseObject({
  snapshotId: z.string(),
  manifest: inside,
  manifestSha256: z.string(),
  cut: number,
  filters: z.looseObject({ since: bound, until: bound, statuses: names, columns: names }).optional(),
  format: z.string().optional(),
  partitionBy: z.string().optional(),
})
const LATEST_SHAPE = z.looseObject({
  schemaVersion: z.literal(1),
  full: ENTRY_SHAPE.nullable(),
  changes: ENTRY_SHAPE.nullable(),
})

const { rawJSON } = JSON as unknown as { rawJSON(source: string): unknown }

/** The value as JSON in UTF-8, with a line feed at the end. Integers keep all their digits. */
export function jsonBytes(value: Manifest | Latest): Buffer {
  const digits = (_: string, item: unknown) => (typeof item === 'bigint' ? rawJSON(String(item)) : item)
  return Buffer.from(`${JSON.stringify(value, digits, 2)}\n`)
}

/** `name` is for the message. Throws `snapshot-newer`, and `snapshot-damaged` for what is no manifest. */
export function parseManifest(bytes: Buffer, name: string): Manifest {
  const value = parseJson(bytes, name, ANOTHER)
  refuseNewer(value, name)
  if (!MANIFEST_SHAPE.safeParse(value).success) throw damaged(`${name} is not a manifest`, ANOTHER)
  return value as unknown as Manifest
}

/** `name` is for the message. Throws `snapshot-newer`, and `snapshot-damaged` for what is no `latest.json`. */
export function parseLatest(bytes: Buffer, name: string): Latest {
  const value = parseJson(bytes, name, ANEW)
  refuseNewer(value, name)
  if (!LATEST_SHAPE.safeParse(value).success) throw damaged(`${name} does not name a snapshot`, ANEW)
  return value as unknown as Latest
}

/** How the files of a publication were written. */
export function encodingOf({ compression, engine, filters, schema }: Manifest): Encoding {
  const columns = COLUMNS.flatMap((column) => {
    const written = schema.find(({ name }) => name === column.name)
    return written === undefined ? [] : [{ ...column, kind: written.type }]
  })
  return { compression, columns, engine: ENGINES.find((name) => name === engine) ?? ENGINES[0], switches: filters }
}

function parseJson(bytes: Buffer, name: string, hint: string): Record<string, unknown> {
  try {
    const exact = (_: string, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
        ? BigInt(context!.source!)
        : value
    const value = JSON.parse(bytes.toString(), exact as never)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {}
  throw damaged(`${name} is not a JSON object`, hint)
}

/** Version of manifests and `latest.json`; what is added to them does not raise it (docs/stability.md). */
const SCHEMA_VERSION = 1

function refuseNewer({ schemaVersion, toolVersion }: Record<string, unknown>, name: string): void {
  if (typeof schemaVersion !== 'number' || schemaVersion <= SCHEMA_VERSION) return
  throw newer(name, `schema ${schemaVersion}, this one knows ${SCHEMA_VERSION}`, toolVersion)
}

/** Throws `snapshot-newer` where the files are of a kind that this version does not know. `name` is for the message. */
export function refuseNewerFiles({ format, compression, toolVersion }: Manifest, name: string): void {
  if (!FORMAT_NAMES.includes(format)) throw newer(name, `format "${format}", unknown to this one`, toolVersion)
  if (!COMPRESSIONS.includes(compression))
    throw newer(name, `compression "${compression}", unknown to this one`, toolVersion)
}

function newer(name: string, what: string, toolVersion: unknown): MirrorError {
  const version = typeof toolVersion === 'string' ? toolVersion : null
  return new MirrorError('snapshot-newer', `${name} was written by a newer task-mirror (${what})`, {
    facts: { version },
    hint: version === null ? 'Use the newer program.' : `Use task-mirror ${version} or later.`,
  })
}

/** What to do about a manifest, and about a `latest.json`, beside which nothing is published while it is damaged. */
const ANOTHER = 'Publish the snapshot again; the mirror has everything that was in it.'
const ANEW = 'Remove it and publish a full snapshot there, without --changes: that makes it anew.'

function damaged(message: string, hint: string): MirrorError {
  return new MirrorError('snapshot-damaged', message, { hint })
}
