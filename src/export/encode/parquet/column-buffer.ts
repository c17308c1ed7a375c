// One column of one row group, collected off the JavaScript heap in the layout of Parquet's pages: rows can be
// forgotten as soon as they are taken, and writing a page copies nothing. Knows values and bytes, never files.
// Assumes a little-endian machine, as typed arrays do; all that Node is built for are, except s390x.
import type { RawRow } from '../../read/columns.ts'

export type Value = string | bigint

/** A run of rows that becomes one data page. */
export interface DataPage {
  firstRow: number
  rows: number
  /** Values that are not null. */
  values: number
  /** Where its values begin and end in `bytes`; before them are `HEADROOM_BYTES` of room. */
  start: number
  end: number
  /** Bounds of the values; undefined where there are none, or none are kept. */
  min: Value | undefined
  max: Value | undefined
}

interface ColumnBufferOptions {
  isText: boolean
  /** Whether bounds of the values are kept. */
  hasBounds: boolean
  /** Whether a dictionary may pay: not where all values differ. */
  mayRepeat: boolean
  /** A page is closed before the value that would bring it to so many bytes. */
  pageBytes: number
}

/** Room before a page's values for its levels, so that nothing is copied; too little if nulls and values alternate. */
export const HEADROOM_BYTES = 16

/** After so many distinct values, or bytes of them, it is decided whether a dictionary is worth going on with. */
const DICTIONARY_TRIAL = { values: 1_000, bytes: 1024 * 1024 }
/** Larger buffers grow in smaller steps, because each thread has unused room of its own. */
const LARGE_BYTES = 1024 * 1024
/** Where a dictionary did not pay, none is tried for so many row groups of the column. */
const GROUPS_WITHOUT_TRIAL = 15
/** How many recent values are kept to compare with. */
const HINTS = 1024
/** Largest buffer kept for the next row group; a larger one was for a few very large values. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024

export class ColumnBuffer {
  readonly #options: ColumnBufferOptions
  rows = 0
  nulls = 0
  /** One entry per row: 1 for a value, 0 for null. */
  levels = new Uint8Array(4_096)
  /** Values in Parquet's PLAIN encoding; empty while there is a dictionary. */
  bytes = Buffer.allocUnsafeSlow(64 * 1024)
  length = 0
  #integers = new BigInt64Array(this.bytes.buffer)
  pages: DataPage[] = []
  /** Distinct values in the order they came in; null where a dictionary does not pay. */
  dictionary: Value[] | null = []
  /** Per value that is not null, its place in the dictionary. */
  indexes = new Int32Array(4_096)
  #places = new Map<Value, number>()
  /** Row groups still to come for which no dictionary is tried. */
  #untried = 0
  /** Recent values and their places in the dictionary, by `hintOf`. */
  readonly #lately: (Value | null)[] = new Array<Value | null>(HINTS).fill(null)
  readonly #latelyPlaces = new Int32Array(HINTS)
  #dictionaryBytes = 0
  /** Bytes in the PLAIN encoding of all values that were taken as places in the dictionary. */
  #plainBytes = 0

  constructor(options: ColumnBufferOptions) {
    this.#options = options
    this.reset()
  }

  reset(): void {
    this.rows = 0
    this.nulls = 0
    this.length = 0
    this.pages = []
    this.#beginPage(0)
    this.dictionary = this.#options.mayRepeat && this.#untried === 0 ? [] : null
    this.#untried = Math.max(this.#untried - 1, 0)
    this.#places = new Map()
    this.#lately.fill(null)
    this.#dictionaryBytes = 0
    this.#plainBytes = 0
    if (this.bytes.length > MOST_KEPT_BYTES) this.#resize(64 * 1024)
  }

  /** About how many bytes all values have in the PLAIN encoding. */
  get plainBytes(): number {
    return this.dictionary === null ? this.length : this.#plainBytes
  }

  /** Takes the values at `position` of the rows. */
  append(rows: readonly RawRow[], position: number): void {
    if (this.rows + rows.length > this.levels.length) {
      const size = 2 * (this.rows + rows.length)
      this.levels = grown(this.levels, new Uint8Array(size))
      this.indexes = grown(this.indexes, new Int32Array(size))
    }
    for (let i = 0; i < rows.length; i++) {
      const value = rows[i]![position]!
      if (value === null) {
        this.nulls++
        this.levels[this.rows++] = 0
        this.pages[this.pages.length - 1]!.rows++
        continue
      }
      if (this.dictionary === null) this.#appendPlain(value)
      else this.#appendIndexed(value, this.dictionary)
      this.levels[this.rows++] = 1
    }
  }

  /** Call before writing: gives a dictionary up that does not at least halve the bytes. */
  settle(): void {
    if (this.dictionary === null) return
    const width = Math.ceil(Math.log2(Math.max(this.dictionary.length, 1)))
    const packed = this.#dictionaryBytes + Math.ceil(((this.rows - this.nulls) * width) / 8)
    if (2 * packed > this.#plainBytes) this.#giveUpDictionary(this.dictionary)
  }

  #appendIndexed(value: Value, dictionary: Value[]): void {
    // Comparing with a recent value is cheaper than a look-up in the map, which hashes every text anew.
    const hint = hintOf(value)
    let place = this.#latelyPlaces[hint]!
    if (value !== this.#lately[hint]) {
      const found = this.#places.get(value) ?? this.#enter(value, dictionary)
      if (found === null) {
        this.#giveUpDictionary(dictionary)
        this.#appendPlain(value)
        return
      }
      place = found
      this.#lately[hint] = value
      this.#latelyPlaces[hint] = place
    }
    this.#plainBytes += plainSize(value)
    this.indexes[this.rows - this.nulls] = place
    const page = this.pages[0]!
    page.rows++
    page.values++
  }

  /** The place of a new value; null where the dictionary is not worth going on with. */
  #enter(value: Value, dictionary: Value[]): number | null {
    if (this.#isTried(dictionary) && 2 * this.#dictionaryBytes > this.#plainBytes) return null
    const place = dictionary.length
    dictionary.push(value)
    this.#places.set(value, place)
    this.#dictionaryBytes += plainSize(value)
    this.#bound(this.pages[0]!, value)
    return place
  }

  #isTried({ length }: readonly Value[]): boolean {
    return length >= DICTIONARY_TRIAL.values || this.#dictionaryBytes >= DICTIONARY_TRIAL.bytes
  }

  /** Rewrites what was collected by place as PLAIN, page by page, as if there had never been a dictionary. */
  #giveUpDictionary(dictionary: readonly Value[]): void {
    const { rows } = this
    if (this.#isTried(dictionary)) this.#untried = GROUPS_WITHOUT_TRIAL
    this.dictionary = null
    this.#places = new Map()
    this.pages = []
    this.length = 0
    this.#beginPage(0)
    let taken = 0
    for (this.rows = 0; this.rows < rows; this.rows++) {
      if (this.levels[this.rows] === 0) this.pages[this.pages.length - 1]!.rows++
      else this.#appendPlain(dictionary[this.indexes[taken++]!]!)
    }
  }

  #appendPlain(value: Value): void {
    const { isText, pageBytes } = this.#options
    let page = this.pages[this.pages.length - 1]!
    const estimate = typeof value === 'string' ? value.length : 8
    if (page.values > 0 && this.length - page.start + estimate >= pageBytes) {
      page = this.#beginPage(this.rows)
    }
    page.rows++
    page.values++
    if (!isText) {
      this.#bound(page, value)
      this.#ensure(8)
      // A column of integers holds nothing else, so each one is where a typed array has it.
      this.#integers[this.length / 8] = value as bigint
      this.length += 8
      page.end = this.length
      return
    }
    const text = value as string
    // UTF-8 takes at most three bytes per unit of a JS string; of a very long one it is counted.
    this.#ensure(4 + (text.length < 65_536 ? text.length * 3 : Buffer.byteLength(text)))
    const { bytes, length } = this
    const written = bytes.write(text, length + 4)
    bytes[length] = written
    bytes[length + 1] = written >> 8
    bytes[length + 2] = written >> 16
    bytes[length + 3] = written >> 24
    this.length = length + 4 + written
    page.end = this.length
    this.#bound(page, text)
  }

  #beginPage(firstRow: number): DataPage {
    this.#ensure(HEADROOM_BYTES)
    this.length += HEADROOM_BYTES
    const page = { firstRow, rows: 0, values: 0, start: this.length, end: this.length, min: undefined, max: undefined }
    this.pages.push(page)
    return page
  }

  #bound(page: DataPage, value: Value): void {
    if (!this.#options.hasBounds) return
    if (page.min === undefined || compareValues(value, page.min) < 0) page.min = value
    if (page.max === undefined || compareValues(value, page.max) > 0) page.max = value
  }

  #ensure(size: number): void {
    if (this.length + size <= this.bytes.length) return
    // A multiple of 8, as an array of integers has to be.
    const larger = this.bytes.length * (this.bytes.length < LARGE_BYTES ? 2 : 1.25)
    this.#resize(Math.ceil(Math.max(larger, this.length + size) / 8) * 8)
  }

  #resize(size: number): void {
    const bytes = Buffer.allocUnsafeSlow(size)
    this.bytes.copy(bytes, 0, 0, this.length)
    this.bytes = bytes
    this.#integers = new BigInt64Array(bytes.buffer)
  }
}

/** About how many bytes the value has in the PLAIN encoding. */
export function plainSize(value: Value | null): number {
  return typeof value === 'string' ? value.length + 4 : 8
}

/** A number below `HINTS` that different values seldom share: texts of one kind mostly differ near their end. */
function hintOf(value: Value): number {
  if (typeof value === 'bigint') return Number(BigInt.asUintN(10, value))
  const { length } = value
  let hint = length
  for (let i = length - 1; i >= 0 && i > length - 8; i -= 2) hint = (hint * 31 + value.charCodeAt(i)) & 0xfffff
  return hint % HINTS
}

/** With one of these, the order of UTF-16 units is not that of UTF-8's bytes. */
const BEYOND = /[\ud800-\uffff]/

/** Negative, 0 or positive, in the order Parquet has for the type: of text, that of its UTF-8 bytes. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string' && (BEYOND.test(a) || BEYOND.test(b))) {
    return Buffer.compare(Buffer.from(a), Buffer.from(b))
  }
  return a < b ? -1 : a > b ? 1 : 0
}

function grown<T extends Uint8Array | Int32Array>(from: T, to: T): T {
  to.set(from)
  return to
}
