// Finds values in bytes of valid JSON, without recursion: where, how deep, whether with odd numbers. Decodes no string.

import { isOddNumber } from '../../json.ts'
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  MINUS,
  NINE,
  OPEN_LIST,
  OPEN_OBJECT,
  POINT,
  QUOTE,
  ZERO,
} from './json-bytes.ts'

/** A value in the bytes: `start` inclusive, `end` exclusive. */
export interface Span {
  start: number
  end: number
  /** Levels of lists and objects in it; 0 for a scalar, 1 for `{}`. */
  depth: number
  /** Strings, names, numbers, words, lists and objects in it, itself included. */
  values: number
  /** Whether it holds a number that a double or its shortest spelling cannot carry. */
  odd: boolean
  /** Whether it holds a key that is written with an escape: plain `JSON.parse` may misread it, see `parseValid`. */
  escapedKey: boolean
}

/** The value that begins at or, behind white space, after `from`. */
export function spanAt(bytes: Buffer, from: number): Span {
  const start = skipSpace(bytes, from)
  const length = bytes.length
  let at = start
  let depth = 0
  let deepest = 0
  let values = 0
  let odd = false
  let escapedKey = false
  while (at < length) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      values++
      at = endOfString(bytes, at)
      if (escapes && !escapedKey) escapedKey = bytes[skipSpace(bytes, at)] === COLON
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      at++
      values++
      if (++depth > deepest) deepest = depth
      continue
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      at++
      depth--
    } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      values++
      const end = endOfNumber(bytes, at)
      if (!odd && !isPlain(bytes, at, end)) odd = isOddNumber(bytes.toString('latin1', at, end))
      at = end
    } else if (byte >= 0x61 && byte <= 0x7a) {
      values++
      at += byte === 0x66 ? 5 : 4 // false, or true and null
    } else {
      at++ // white space, comma, colon
      continue
    }
    if (depth === 0) break
  }
  return { start, end: at, depth: deepest, values, odd, escapedKey }
}

/** The values of the list that begins at `from`, in their order, one after another. */
export function* elementsAt(bytes: Buffer, from: number): Generator<Span> {
  let at = skipSpace(bytes, skipSpace(bytes, from) + 1)
  while (at < bytes.length && bytes[at] !== CLOSE_LIST) {
    const element = spanAt(bytes, at)
    yield element
    at = skipSpace(bytes, element.end)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
  }
}

/** Where the value of `name` begins in the object at `from`; of duplicate names the last, as in `JSON.parse`; else -1. */
export function memberAt(bytes: Buffer, from: number, name: string): number {
  let found = -1
  let at = skipSpace(bytes, skipSpace(bytes, from) + 1)
  while (at < bytes.length && bytes[at] !== CLOSE_OBJECT) {
    const end = endOfString(bytes, at)
    // Letters beyond ASCII come out wrong in latin1, but never as an ASCII name.
    const same = JSON.parse(bytes.toString('latin1', at, end)) === name
    at = skipSpace(bytes, skipSpace(bytes, end) + 1)
    if (same) found = at
    at = skipSpace(bytes, spanAt(bytes, at).end)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
  }
  return found
}

/** Behind the white space at `from`. */
export function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at]! <= 0x20) at++
  return at
}

// Whether the string that `endOfString` passed last has an escape; beside the result it would cost an object per string.
let escapes = false

function endOfString(bytes: Buffer, start: number): number {
  let at = start + 1
  escapes = false
  while (at < bytes.length) {
    const byte = bytes[at]!
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) {
      escapes = true
      at++
    }
    at++
  }
  return at
}

function endOfNumber(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length) {
    const byte = bytes[at]!
    // digits, '.', '+', '-', 'e', 'E'
    if ((byte < ZERO || byte > NINE) && byte !== POINT && byte !== 0x2b && byte !== MINUS && (byte | 0x20) !== 0x65)
      break
    at++
  }
  return at
}

/**
 * True only for numbers that surely are not odd, told without making a string: up to 15 digits survive a double, and
 * without an exponent, a leading `-0`, zeros at the end of the decimals or zeros right behind `0.` they are its shortest
 * spelling too.
 */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  if (end - first > 16) return false
  let point = -1
  for (let at = first; at < end; at++) {
    const byte = bytes[at]!
    if (byte >= ZERO && byte <= NINE) continue
    if (byte !== POINT) return false
    point = at
  }
  if (point === -1) return end - first <= 15 && (first === start || bytes[first] !== ZERO)
  return bytes[end - 1] !== ZERO && (bytes[first] !== ZERO || bytes[point + 1] !== ZERO)
}
