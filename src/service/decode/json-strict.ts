// Scans JSON text that nobody has checked yet. Passes only what `JSON.stringify(JSON.parse(text))` would write the same
// (numbers aside, whose digits are kept), so that it may be taken as it stands; for all else, invalid or unusual, it
// returns NOT_PLAIN. Never decodes a string; the bytes have to be valid UTF-8.
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
  PLUS,
  POINT,
  QUOTE,
  ZERO,
} from './json-bytes.ts'

/** In place of an end: the text is invalid or unusual; a real parser has to say which. */
export const NOT_PLAIN = -1

/** Most levels of lists and objects in one another. */
const MOST_LEVELS = 64
/** Most members of one object, because all their names are compared. */
const MOST_MEMBERS = 64

/** What ends a run of ordinary bytes in a string: the quote, a backslash, control characters. */
const STOPS = new Uint8Array(256)
STOPS.fill(1, 0, 0x20)
STOPS[QUOTE] = 1
STOPS[BACKSLASH] = 1

/** The escapes that `JSON.stringify` writes as well: \" \\ \b \f \n \r \t. */
const SHORT_ESCAPES = new Uint8Array(256)
for (const letter of '"\\bfnrt') SHORT_ESCAPES[letter.charCodeAt(0)] = 1

// Whether the last string that `stringEnd` passed has an escape. Returning that too would cost an object per string.
let escapes = false

/** Whether the string passed last has an escape. */
export function hadEscape(): boolean {
  return escapes
}

/** The end of the string that begins at `at`. */
export function stringEnd(bytes: Uint8Array, at: number): number {
  escapes = false
  if (bytes[at] !== QUOTE) return NOT_PLAIN
  const length = bytes.length
  for (let end = at + 1; end < length; end += 1) {
    const byte = bytes[end]!
    if (STOPS[byte] === 0) continue
    if (byte === QUOTE) return end + 1
    if (byte !== BACKSLASH) return NOT_PLAIN
    end += 1
    if (end >= length || SHORT_ESCAPES[bytes[end]!] === 0) return NOT_PLAIN
    escapes = true
  }
  return NOT_PLAIN
}

/** The end of a member's name at `at`: no escapes, and no digit in front, because a parser reorders such names. */
export function nameEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at + 1]!
  if (first >= ZERO && first <= NINE) return NOT_PLAIN
  const end = stringEnd(bytes, at)
  return escapes ? NOT_PLAIN : end
}

/** The end of the number at `at`; its digits are kept, so they need not be a double's shortest spelling. */
export function numberEnd(bytes: Uint8Array, at: number): number {
  let end = at
  if (bytes[end] === MINUS) end += 1
  const first = bytes[end]!
  if (!(first >= ZERO && first <= NINE)) return NOT_PLAIN
  end = first === ZERO ? end + 1 : digitsEnd(bytes, end)
  if (bytes[end] === POINT) {
    const decimals = end + 1
    end = digitsEnd(bytes, decimals)
    if (end === decimals) return NOT_PLAIN
  }
  // 'e' or 'E'
  if ((bytes[end]! | 0x20) === 0x65) {
    end += 1
    if (bytes[end] === PLUS || bytes[end] === MINUS) end += 1
    const exponent = end
    end = digitsEnd(bytes, exponent)
    if (end === exponent) return NOT_PLAIN
  }
  return end
}

function digitsEnd(bytes: Uint8Array, at: number): number {
  let end = at
  while (bytes[end]! >= ZERO && bytes[end]! <= NINE) end += 1
  return end
}

/** The integer written from `at` to `end`; NaN where it is none, or a double may not hold it: 16 digits or more, -0. */
export function integerAt(bytes: Uint8Array, at: number, end: number): number {
  const start = bytes[at] === MINUS ? at + 1 : at
  if (end - start > 15 || (start > at && bytes[start] === ZERO)) return Number.NaN
  let value = 0
  for (let digit = start; digit < end; digit += 1) {
    const byte = bytes[digit]!
    if (byte < ZERO || byte > NINE) return Number.NaN
    value = value * 10 + (byte - ZERO)
  }
  return start > at ? -value : value
}

/** The end of the value that begins at `at`. No white space in it, no name twice in an object. */
export function valueEnd(bytes: Uint8Array, at: number): number {
  return anyEnd(bytes, at, 0)
}

function anyEnd(bytes: Uint8Array, at: number, level: number): number {
  const first = bytes[at]!
  if (first === QUOTE) return stringEnd(bytes, at)
  if (first === OPEN_OBJECT) return level < MOST_LEVELS ? objectEnd(bytes, at, level + 1) : NOT_PLAIN
  if (first === OPEN_LIST) return level < MOST_LEVELS ? listEnd(bytes, at, level + 1) : NOT_PLAIN
  return wordAt(bytes, at) ?? numberEnd(bytes, at)
}

/** The end of `true`, `false` or `null` at `at`; undefined where the value does not begin like one of them. */
export function wordAt(bytes: Uint8Array, at: number): number | undefined {
  const first = bytes[at]
  // t, f, n
  if (first === 0x74) return wordEnd(bytes, at, TRUE)
  if (first === 0x66) return wordEnd(bytes, at, FALSE)
  if (first === 0x6e) return wordEnd(bytes, at, NULL)
  return undefined
}

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')

function wordEnd(bytes: Uint8Array, at: number, word: Uint8Array): number {
  for (let index = 1; index < word.length; index += 1) if (bytes[at + index] !== word[index]) return NOT_PLAIN
  return at + word.length
}

function listEnd(bytes: Uint8Array, open: number, level: number): number {
  let at = open + 1
  if (bytes[at] === CLOSE_LIST) return at + 1
  for (;;) {
    at = anyEnd(bytes, at, level)
    if (at === NOT_PLAIN) return NOT_PLAIN
    const next = bytes[at]
    if (next === CLOSE_LIST) return at + 1
    if (next !== COMMA) return NOT_PLAIN
    at += 1
  }
}

// Hashes of the names in all open objects, those of an inner object behind those of the outer one.
const names = new Int32Array(MOST_LEVELS * MOST_MEMBERS)
let namesEnd = 0

function objectEnd(bytes: Uint8Array, open: number, level: number): number {
  const firstName = namesEnd
  const end = membersEnd(bytes, open, level, firstName)
  namesEnd = firstName
  return end
}

function membersEnd(bytes: Uint8Array, open: number, level: number, firstName: number): number {
  let at = open + 1
  if (bytes[at] === CLOSE_OBJECT) return at + 1
  for (;;) {
    const end = nameEnd(bytes, at)
    if (end === NOT_PLAIN || bytes[end] !== COLON) return NOT_PLAIN
    if (!isNewName(bytes, at, end, firstName)) return NOT_PLAIN
    at = anyEnd(bytes, end + 1, level)
    if (at === NOT_PLAIN) return NOT_PLAIN
    const next = bytes[at]
    if (next === CLOSE_OBJECT) return at + 1
    if (next !== COMMA) return NOT_PLAIN
    at += 1
  }
}

/** False where the object may have the name already (equal hashes count as equal), or there is no room for more. */
function isNewName(bytes: Uint8Array, start: number, end: number, firstName: number): boolean {
  let mark = end - start
  for (let at = start + 1; at < end - 1; at += 1) mark = (Math.imul(mark, 31) + bytes[at]!) | 0
  for (let index = firstName; index < namesEnd; index += 1) if (names[index] === mark) return false
  if (namesEnd - firstName >= MOST_MEMBERS || namesEnd >= names.length) return false
  names[namesEnd] = mark
  namesEnd += 1
  return true
}
