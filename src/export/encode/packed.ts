// What rows become before they have a place in a file: what one thread hands to another. Types only.
import type { PageIndexes } from 'hyparquet-writer/src/types.js'
import type { KeyRange } from '../read/key-ranges.ts'
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

/** Rows as they stand in a file, but for their place there; formats may add what the file has to know of them. */
export interface Encoded {
  /** Alone in their memory, which can be handed to another thread. */
  bytes: Uint8Array
}

/** A row group; offsets count from its own beginning. */
export interface PackedRowGroup extends Encoded {
  /** One per leaf of the schema, with what the footer says of it. */
  indexes: ChunkIndexes[]
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
