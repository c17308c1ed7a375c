// Finds values in bytes of JSON (valid UTF-8) and checks their syntax: where they are, how deep, whether they hold odd
// numbers. Builds no value and decodes no string; no recursion, linear time, one bit per level of nesting.

import { isOddNumber } from '../../json.ts'
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  LINE_FEED,
  MINUS,
  NINE,
  OPEN_LIST,
  OPEN_OBJECT,
  POINT,
  QUOTE,
  ZERO,
} from './json-bytes.ts'
import { NOT_PLAIN, numberEnd, wordAt } from './json-strict.ts'

const SPACE = 0x20
/** The letters of escapes that stand for one character: \" \\ \/ \b \f \n \r \t. */
const SHORT = new Uint8Array(256)
for (const letter of '"\\/bfnrt') SHORT[letter.charCodeAt(0)] = 1
const HEX = new Uint8Array(256)
for (const digit of '0123456789abcdefABCDEF') HEX[digit.charCodeAt(0)] = 1

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

/** Whether the bytes are one JSON text. */
export function isJson(bytes: Buffer): boolean {
  const span = spanAt(bytes, 0)
  return span !== null && spaceEnd(bytes, span.end) === bytes.length
}

/** The value at `from`, or behind the white space there; null where that is no JSON. */
export function spanAt(bytes: Buffer, from: number): Span | null {
  const start = spaceEnd(bytes, from)
  const levels = new Levels()
  let at = start
  let deepest = 0
  let values = 0
  let odd = false
  let escapedKey = false
  for (;;) {
    const first = bytes[at]
    let isWhole = true
    values += 1
    if (first === OPEN_OBJECT || first === OPEN_LIST) {
      const isObject = first === OPEN_OBJECT
      if (levels.depth === deepest) deepest += 1
      at = spaceEnd(bytes, at + 1)
      if (bytes[at] === (isObject ? CLOSE_OBJECT : CLOSE_LIST)) at += 1
      else {
        levels.push(isObject)
        isWhole = false
      }
    } else if (first === QUOTE) at = stringEnd(bytes, at)
    else {
      const end = wordAt(bytes, at) ?? numberEnd(bytes, at)
      if (!odd && beginsNumber(first) && !isOrdinary(bytes, at, end))
        odd = isOddNumber(bytes.toString('latin1', at, end))
      at = end
    }
    if (at === NOT_PLAIN) return null
    while (isWhole) {
      if (levels.depth === 0) return { start, end: at, depth: deepest, values, odd, escapedKey }
      at = spaceEnd(bytes, at)
      const next = bytes[at]
      at += 1
      if (next === COMMA) isWhole = false
      else if (next === (levels.isObject() ? CLOSE_OBJECT : CLOSE_LIST)) levels.pop()
      else return null
    }
    at = spaceEnd(bytes, at)
    if (!levels.isObject()) continue
    values += 1
    const colon = spaceEnd(bytes, stringEnd(bytes, at))
    escapedKey ||= escapes
    if (bytes[colon] !== COLON) return null
    at = spaceEnd(bytes, colon + 1)
  }
}

/** Yields the values of the list that begins at `from`, in order. The bytes have to be valid JSON, as below. */
export function* elementsAt(bytes: Buffer, from: number): Generator<Span> {
  let at = spaceEnd(bytes, spaceEnd(bytes, from) + 1)
  while (at < bytes.length && bytes[at] !== CLOSE_LIST) {
    const element = spanAt(bytes, at) as Span
    yield element
    at = spaceEnd(bytes, element.end)
    if (bytes[at] === COMMA) at = spaceEnd(bytes, at + 1)
  }
}

/** Where the values of `names` begin in the object at `from`; of duplicates the last, as in `JSON.parse`; else -1. */
export function membersAt<Name extends string>(bytes: Buffer, from: number, ...names: Name[]): Record<Name, number> {
  const found = Object.fromEntries(names.map((name) => [name, -1])) as Record<Name, number>
  let at = spaceEnd(bytes, spaceEnd(bytes, from) + 1)
  while (at < bytes.length && bytes[at] !== CLOSE_OBJECT) {
    const end = stringEnd(bytes, at)
    // Letters beyond ASCII come out wrong in latin1, but never as an ASCII name.
    const name = JSON.parse(bytes.toString('latin1', at, end)) as Name
    at = spaceEnd(bytes, spaceEnd(bytes, end) + 1)
    if (Object.hasOwn(found, name)) found[name] = at
    at = spaceEnd(bytes, (spanAt(bytes, at) as Span).end)
    if (bytes[at] === COMMA) at = spaceEnd(bytes, at + 1)
  }
  return found
}

const NO_BITS = new Uint8Array(0)

/** Which of the lists and objects that are open are objects. */
class Levels {
  depth = 0
  private bits = NO_BITS

  push(isObject: boolean): void {
    const [place, bit] = [this.depth >> 3, 1 << (this.depth & 7)]
    if (place === this.bits.length) {
      const larger = new Uint8Array(Math.max(64, place * 2))
      larger.set(this.bits)
      this.bits = larger
    }
    if (isObject) this.bits[place]! |= bit
    else this.bits[place]! &= ~bit
    this.depth += 1
  }

  pop(): void {
    this.depth -= 1
  }

  isObject(): boolean {
    const top = this.depth - 1
    return (this.bits[top >> 3]! & (1 << (top & 7))) !== 0
  }
}

/** The end of the white space at `from`; NOT_PLAIN is passed through. */
export function spaceEnd(bytes: Uint8Array, from: number): number {
  if (from < 0) return from
  let at = from
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    // Tab and carriage return are the other two.
    if (byte !== SPACE && byte !== LINE_FEED && byte !== 0x0d && byte !== 0x09) break
  }
  return at
}

// Whether the last string that `stringEnd` passed has an escape. Returning that too would cost an object per string.
let escapes = false

function stringEnd(bytes: Uint8Array, at: number): number {
  escapes = false
  if (bytes[at] !== QUOTE) return NOT_PLAIN
  const length = bytes.length
  for (let end = at + 1; end < length; end += 1) {
    const byte = bytes[end]!
    if (byte === QUOTE) return end + 1
    if (byte < SPACE) return NOT_PLAIN
    if (byte !== BACKSLASH) continue
    escapes = true
    end += 1
    const letter = bytes[end]!
    if (SHORT[letter] === 1) continue
    // u
    if (letter !== 0x75) return NOT_PLAIN
    for (let digit = 1; digit <= 4; digit += 1) if (HEX[bytes[end + digit]!] !== 1) return NOT_PLAIN
    end += 4
  }
  return NOT_PLAIN
}

function beginsNumber(first: number | undefined): boolean {
  return first === MINUS || (first !== undefined && first >= ZERO && first <= NINE)
}

/**
 * True only for numbers that are surely not odd, told without making a string: up to 15 digits survive a double; and
 * without an exponent, a leading `-0`, zeros at the end of the decimals or zeros right behind `0.`, they are also its
 * shortest spelling.
 */
function isOrdinary(bytes: Buffer, start: number, end: number): boolean {
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
