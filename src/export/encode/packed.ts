// What rows become before they have a place in a file: what one thread hands to another. Types only.
import type { PageIndexes } from 'hyparquet-writer/src/types.js'
import type { Stretch } from '../read/stretches.ts'
import type { Value } from './parquet/column-buffer.ts'

/** The column index of a chunk, but for the form that its bounds have in the file. */
export interface PageBounds {
  bounds: { min: Value | undefined; max: Value | undefined }[]
  null_pages: boolean[]
  boundary_order: 'ASCENDING' | 'DESCENDING' | 'UNORDERED'
  null_counts: bigint[]
}

/** What the footer says of a chunk. */
export interface ChunkIndexes extends PageIndexes {
  pageBounds?: PageBounds
}

/** A row group as it stands in a file, but for its place there: offsets count from its own beginning. */
export interface PackedRowGroup {
  bytes: Uint8Array
  /** One per leaf of the schema, with what the footer says of it. */
  indexes: ChunkIndexes[]
}

/** Consecutive rows, encoded. */
export interface Packed {
  rows: number
  /** `createdAt` of the first row that has one and of the last; null where none has. */
  minCreatedAt: bigint | null
  maxCreatedAt: bigint | null
  /** Lines of NDJSON, or a row group. */
  content: Uint8Array | PackedRowGroup
}

/** What became of a stretch: its rows, and where it was too large for one piece, what is left of it. */
export interface PackedStretch {
  /** Null where it holds no row that is wanted. */
  packed: Packed | null
  rest: Stretch | null
}
