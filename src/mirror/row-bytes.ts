// A row encoded as bytes, once: they are hashed, sent across threads, and given to SQLite. Pure, no SQL.
import { hash } from 'node:crypto'
import { FIRST_COLUMNS, TASK_COLUMNS } from '../task/columns.ts'
import { valuesOf } from '../task/row.ts'
import type { Integer, TaskRow } from '../task.ts'

// The head has nine bytes per column: its kind, then its value or, for a string, how many bytes it has. The strings
// follow in order. Two different rows never have the same bytes.
const SLOT = 9
/** Bytes of the head, that is of a row without its strings. */
export const ROW_HEAD = TASK_COLUMNS.length * SLOT
const NULL = 0
const TEXT = 1
const NUMBER = 2
const BIGINT = 3
/** Most bytes of UTF-8 that a UTF-16 unit takes. */
const WIDEST = 3
const FEW = 48

/** A row whose strings lie in somebody else's buffer. Columns are numbered by their place in `TASK_COLUMNS`. */
export class PlainRow {
  readonly kinds = new Uint8Array(TASK_COLUMNS.length)
  readonly numbers = new Float64Array(TASK_COLUMNS.length)
  readonly starts = new Uint32Array(TASK_COLUMNS.length)
  readonly ends = new Uint32Array(TASK_COLUMNS.length)
  /** Strings that the buffer does not hold as they are; null for all others. */
  readonly texts: (string | null)[] = TASK_COLUMNS.map(() => null)

  clear(): void {
    this.kinds.fill(NULL)
  }

  setNumber(column: number, value: number): void {
    this.kinds[column] = NUMBER
    this.numbers[column] = value
  }

  setText(column: number, value: string): void {
    this.kinds[column] = TEXT
    this.texts[column] = value
  }

  setPlace(column: number, start: number, end: number): void {
    this.kinds[column] = TEXT
    this.texts[column] = null
    this.starts[column] = start
    this.ends[column] = end
  }

  /** The string of a column; empty where it has none. */
  textOf(bytes: Buffer, column: number): string {
    if (this.kinds[column] !== TEXT) return ''
    return this.texts[column] ?? bytes.toString('utf8', this.starts[column], this.ends[column])
  }
}

/** Rows encoded one behind the other, in a buffer that grows. */
export class RowBytes {
  /** Bytes written so far. */
  end = 0
  private bytes: Buffer<ArrayBuffer>
  private head: DataView

  /** `capacity`: bytes that are probably enough. */
  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafeSlow(capacity)
    this.head = new DataView(this.bytes.buffer)
  }

  /** Strings have to be well-formed, or two of them would be encoded alike. */
  append(row: TaskRow): void {
    const start = this.end
    let at = start + ROW_HEAD
    this.makeRoom(at, 0)
    let slot = start
    for (const value of valuesOf(row)) {
      if (typeof value === 'string') {
        const length = value === '' ? 0 : this.write(value, at)
        this.bytes[slot] = TEXT
        this.head.setFloat64(slot + 1, length)
        at += length
      } else if (typeof value === 'bigint' && !Number.isSafeInteger(Number(value))) {
        this.bytes[slot] = BIGINT
        this.head.setBigInt64(slot + 1, value)
      } else {
        this.bytes[slot] = value === null ? NULL : NUMBER
        // An integer that SQLite gave as a bigint is encoded like the same integer as a number.
        this.head.setFloat64(slot + 1, Number(value ?? 0))
      }
      slot += SLOT
    }
    this.end = at
  }

  /** `append` of a row whose strings lie in `source`. */
  appendPlain(source: Buffer, { kinds, numbers, texts, starts, ends }: PlainRow): void {
    const start = this.end
    let at = start + ROW_HEAD
    this.makeRoom(at, 0)
    let slot = start
    for (let column = 0; column < kinds.length; column += 1) {
      const kind = kinds[column]!
      let told = 0
      if (kind === TEXT) {
        const text = texts[column]!
        if (text === null) told = this.copy(source, starts[column]!, ends[column]!, at)
        else told = text === '' ? 0 : this.write(text, at)
        at += told
      } else if (kind === NUMBER) told = numbers[column]!
      this.bytes[slot] = kind
      this.head.setFloat64(slot + 1, told)
      slot += SLOT
    }
    this.end = at
  }

  /** The bytes between two places, valid until the next `append`. */
  between(start: number, end: number): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(start, end)
  }

  /** Forgets all rows. Where a long row made the buffer larger than `most` bytes, it is made smaller again. */
  clear(most: number): void {
    this.end = 0
    if (this.bytes.length > most) {
      this.bytes = Buffer.allocUnsafeSlow(most)
      this.head = new DataView(this.bytes.buffer)
    }
  }

  private copy(source: Buffer, start: number, end: number, at: number): number {
    const length = end - start
    this.makeRoom(at, length)
    const { bytes } = this
    // A call of `copy` costs more than the few bytes of most strings.
    if (length < FEW) for (let index = 0; index < length; index += 1) bytes[at + index] = source[start + index]!
    else source.copy(bytes, at, start, end)
    return length
  }

  private write(value: string, at: number): number {
    // The exact length is counted only where there may be too little room for the worst case.
    if (this.bytes.length - at < value.length * WIDEST) this.makeRoom(at, Buffer.byteLength(value))
    return this.bytes.write(value, at)
  }

  private makeRoom(used: number, wanted: number): void {
    if (used + wanted <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.ceil((used + wanted) * 1.25))
    this.bytes.copy(larger, 0, 0, Math.min(used, this.bytes.length))
    this.bytes = larger
    this.head = new DataView(larger.buffer)
  }
}

/** 16 bytes of SHA-256 over an encoded row, in hexadecimal. */
export function hashOfRowBytes(row: Uint8Array): string {
  return hash('sha256', hashedBytes(row, TASK_COLUMNS.length), 'hex').slice(0, 32)
}

/**
 * What is hashed of an encoded row with so many columns: all of it, but columns added after the first version only
 * where they hold something, with their numbers. So rows that were stored before a column came keep their hashes.
 */
export function hashedBytes(row: Uint8Array, columns: number): Uint8Array {
  if (columns === FIRST_COLUMNS) return row
  const pieces = [row.subarray(0, FIRST_COLUMNS * SLOT)]
  for (let column = FIRST_COLUMNS; column < columns; column += 1) {
    const slot = row.subarray(column * SLOT, (column + 1) * SLOT)
    if (slot[0] !== NULL) pieces.push(Uint8Array.of(column), slot)
  }
  return Buffer.concat([...pieces, row.subarray(columns * SLOT)])
}

/** White space and control characters are not above this. */
const SPACE = 0x20
const SCRATCH = 1 << 16
const scratch = new RowBytes(SCRATCH)

/** Encodes one row by itself. */
export function rowBytes(row: TaskRow): Buffer {
  const bytes = new RowBytes(ROW_HEAD)
  bytes.append(row)
  return Buffer.from(bytes.between(0, bytes.end))
}

/** 16 bytes of SHA-256 over all columns and `extra`. */
export function contentHash(row: TaskRow): Buffer {
  scratch.clear(SCRATCH)
  scratch.append(row)
  return Buffer.from(hashOfRowBytes(scratch.between(0, scratch.end)), 'hex')
}

/** The columns of an encoded row, for a statement that casts bytes to TEXT. Valid as long as `row`. */
export function boundValues(row: Buffer): (Buffer | string | Integer | null)[] {
  const values: (Buffer | string | Integer | null)[] = []
  const head = new DataView(row.buffer, row.byteOffset)
  let at = ROW_HEAD
  for (let slot = 0; slot < ROW_HEAD; slot += SLOT) {
    const kind = row[slot]
    if (kind === TEXT) {
      const end = at + head.getFloat64(slot + 1)
      values.push(end === at ? '' : row.subarray(at, end))
      at = end
    } else values.push(kind === NULL ? null : kind === NUMBER ? head.getFloat64(slot + 1) : head.getBigInt64(slot + 1))
  }
  return values
}

/** Decodes a row. */
export function rowOf(bytes: Buffer): TaskRow {
  const values = boundValues(bytes).map((value) => (Buffer.isBuffer(value) ? value.toString() : value))
  return Object.fromEntries(TASK_COLUMNS.map((name, column) => [name, values[column]])) as unknown as TaskRow
}

/** The strings of encoded rows, one row at a time, found in one pass. Columns are their places in `TASK_COLUMNS`. */
export class RowStrings {
  /** One bit for each column that the row fills. */
  filled = 0
  private row: Buffer = Buffer.alloc(0)
  /** Where the string of each column begins, and where the last one ends. */
  private readonly starts = new Float64Array(TASK_COLUMNS.length + 1)

  /** Turns to another row, of which it speaks as long as that is valid. */
  of(row: Buffer): this {
    this.row = row
    this.filled = 0
    let at = ROW_HEAD
    for (let column = 0; column < TASK_COLUMNS.length; column += 1) {
      const slot = column * SLOT
      this.starts[column] = at
      if (row[slot] !== NULL) this.filled |= 1 << column
      if (row[slot] === TEXT) at += row.readDoubleBE(slot + 1)
    }
    this.starts[TASK_COLUMNS.length] = at
    return this
  }

  /** Bytes of the string in a column; 0 where it holds none. */
  size(column: number): number {
    return this.starts[column + 1]! - this.starts[column]!
  }

  /** Empty where the column holds no string. */
  text(column: number): string {
    return this.row.toString('utf8', this.starts[column], this.starts[column + 1])
  }

  /** First byte of the string in a column, and its last one that is no white space; 0, 0 where none. */
  ends(column: number): [first: number, last: number] {
    const start = this.starts[column]!
    let last = this.starts[column + 1]! - 1
    if (last < start) return [0, 0]
    while (last > start && this.row[last]! <= SPACE) last -= 1
    return [this.row[start]!, this.row[last]!]
  }
}
