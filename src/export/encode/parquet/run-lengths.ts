// Parquet's hybrid of run lengths and bit packing, for what is nearly always in it: one long run, or the places of a
// dictionary. Pure. https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE

/** `count` times `value`, which takes `width` bits. */
export function runOf(value: number, count: number, width: number): Uint8Array {
  const bytes = new Uint8Array(10)
  return bytes.subarray(0, putValue(bytes, putVarint(bytes, 0, count * 2), value, width))
}

/** `values[0]` to `values[count - 1]`, each of at most `width` bits (24 at most), behind a byte that tells `width`. */
export function packPlaces(values: Int32Array, count: number, width: number): Uint8Array {
  // A run of eight or more takes at most 8 bytes, a group of eight `width` and its share of a header.
  const bytes = new Uint8Array((Math.ceil(count / 8) + 1) * (width + 9))
  bytes[0] = width
  let at = 1
  for (let i = 0; i < count; ) {
    let behind = runEnd(values, i, count)
    if (behind - i >= 8) {
      at = putValue(bytes, putVarint(bytes, at, (behind - i) * 2), values[i]!, width)
      i = behind
      continue
    }
    const start = i
    do {
      i += 8
      behind = runEnd(values, i, Math.min(i + 8, count))
    } while (i < count && behind - i < 8)
    at = putVarint(bytes, at, (((i - start) >>> 3) << 1) | 1)
    at = putBits(bytes, at, values.subarray(start, Math.min(i, count)), width)
  }
  return bytes.subarray(0, at)
}

/** The end of the run of equal values that begins at `from`; `most` at the latest. */
function runEnd(values: Int32Array, from: number, most: number): number {
  const value = values[from]
  let at = from + 1
  while (at < most && values[at] === value) at++
  return at
}

function putValue(bytes: Uint8Array, from: number, value: number, width: number): number {
  let at = from
  for (let shift = 0; shift < width; shift += 8) bytes[at++] = value >>> shift
  return at
}

/** Packs groups of eight values; the last group is filled up with zeros. */
function putBits(bytes: Uint8Array, from: number, values: Int32Array, width: number): number {
  let at = from
  let held = 0
  let bits = 0
  for (let i = 0; i < Math.ceil(values.length / 8) * 8; i++) {
    if (i < values.length) held |= values[i]! << bits
    for (bits += width; bits >= 8; bits -= 8) {
      bytes[at++] = held
      held >>>= 8
    }
  }
  return at
}

function putVarint(bytes: Uint8Array, from: number, value: number): number {
  let at = from
  let rest = value
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest & 0x7f) | 0x80
  bytes[at++] = rest
  return at
}
