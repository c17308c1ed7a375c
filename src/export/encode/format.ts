// What a format's code does for the export: makes pieces of rows, files of pieces, and rows of files. Types only.
import type { Sink } from '../publish/sink.ts'
import type { Column, RawRow } from '../read/columns.ts'
import type { KeyRange } from '../read/key-ranges.ts'
import type { Compression } from './compression.ts'
import type { EngineName } from './parquet/engine.ts'

/** All that files depend on beside rows, as plain data: it crosses to other threads, and a manifest gives it back. */
export interface Encoding {
  compression: Compression
  columns: readonly Column[]
  /** Parquet only. */
  engine: EngineName
  /** Recorded filters, the switches of formats.ts among them. */
  switches: Readonly<Record<string, unknown>>
}

/** Rows encoded as in a file, wherever they will stand in it; formats may add what the file has to know of them. */
export interface Encoded {
  /** All that their buffer holds, so that it can be transferred to another thread. */
  bytes: Uint8Array
}

/** Consecutive rows, encoded. */
export interface Packed<Content extends Encoded = Encoded> {
  rows: number
  /** `createdAt` of the first row that has one and of the last; null where none has. */
  minCreatedAt: bigint | null
  maxCreatedAt: bigint | null
  content: Content
}

/** What became of a key range: its rows, and where it was too large for one piece, what is left of it. */
export interface PackedKeyRange {
  /** Null where it holds no row that is wanted. */
  packed: Packed | null
  rest: KeyRange | null
}

/** Makes pieces of rows. */
export interface Packer<Content extends Encoded = Encoded> {
  take(rows: readonly RawRow[]): void
  /** Whether it has about as many bytes before compression as a piece may have at most. */
  readonly isFull: boolean
  /** Returns the piece and begins the next one. Call it again only when it has settled. */
  end(): Promise<Content>
}

/** One file. */
export interface FileWriter {
  /** Adds a piece behind those before. Call it again only when it has settled. */
  add(piece: Packed): Promise<void>
  /** Writes what is held back and, where the format has a place for it, `about` as names and texts. */
  close(about: Record<string, string>): Promise<void>
  /** Frees what it holds, also after a failure. */
  destroy(): void
}

/** Makes files of rows. */
export interface Encoder {
  /** `mostBytes`: a piece is full at about so many bytes before compression. */
  packer(encoding: Encoding, mostBytes: number): Packer
  /** Begins a file by the program `createdBy`. Throws `usage-invalid` for columns or a compression it cannot write. */
  open(sink: Sink, encoding: Encoding, createdBy: string): FileWriter
}

/** A row that was read back. */
export interface FoundRow {
  /** What its id may be: several where the format does not tell them apart; none where it has none. */
  ids: readonly string[]
  /** What differs from how `row` is written; null where nothing does. */
  differsFrom(row: RawRow): string | null
}

export interface FormatCode {
  encoder(encoding: Encoding): Promise<Encoder>
  /** How many rows a file holds; throws an `Error` where it is none of this format. */
  countRows(path: string, encoding: Encoding): Promise<number>
  read(path: string, encoding: Encoding): AsyncGenerator<FoundRow[]>
}
