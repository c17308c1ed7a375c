// JSON without losing a digit: numbers that a double cannot hold, or would write otherwise, stay as their own text.
import type { JsonObject, JsonValue, RawNumber } from './task.ts'

/** Parts of JSON that TypeScript's library does not describe yet (ES proposal "JSON.parse source text access"). */
const json = JSON as unknown as {
  rawJSON(source: string): RawNumber
  isRawJSON(value: unknown): value is RawNumber
}

/** Whether a double would write this number otherwise: 17-digit integers, `1.0`, `1E+2`, `-0`, `1e400`. */
export function isOddNumber(source: string): boolean {
  return String(Number(source)) !== source
}

// Every odd number starts with `-0`, or has a point, an exponent or 16 digits in a row. In valid JSON a number comes
// first, or after white space, colon, comma or bracket; a match inside a string only costs the slower parser. The
// backslash is for keys with an escape.
const MAYBE_INEXACT = /(?:^|[\s:,[])(?:-0|-?\d+[.eE]|-?\d{16})|\\/

/**
 * Parses JSON text without losing a digit: odd numbers come back as `RawNumber`, which `JSON.stringify` writes as they
 * were. `__proto__` is an ordinary key; of duplicate keys the last wins. Throws SyntaxError for what is no JSON.
 */
export function parseExact(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue
  return MAYBE_INEXACT.test(text) ? parseValid(text) : value
}

/**
 * `parseExact` for text that `JSON.parse` has accepted; for other text the result means nothing.
 *
 * Avoids `JSON.parse` because V8 13 (Node 24) may take a key with an escape for another key of the same length that it
 * has met (`{"q":1,"\\":1}`, then `{"q":1,"\n":1}` reads as the former); a reviver then gets no source text. Without
 * recursion, so nesting may have any depth.
 */
export function parseValid(text: string): JsonValue {
  const holders: (JsonValue[] | JsonObject)[] = []
  let list: JsonValue[] | null = null
  let object: JsonObject | null = null
  let name: string | null = null
  let at = 0
  for (;;) {
    const code = text.charCodeAt(at)
    let value: JsonValue
    if (code === 0x22) {
      const start = at++
      let escaped = false
      for (let unit = text.charCodeAt(at); unit !== 0x22; unit = text.charCodeAt(at)) {
        if (unit === 0x5c) {
          escaped = true
          at++
        }
        at++
      }
      at++
      // An escaped string is read correctly when parsed alone, as a value and not as a key.
      const string = escaped ? (JSON.parse(text.slice(start, at)) as string) : text.slice(start + 1, at - 1)
      if (object !== null && name === null) {
        name = string
        continue
      }
      value = string
    } else if (code === 0x7b || code === 0x5b) {
      at++
      value = code === 0x5b ? [] : {}
    } else if (code === 0x7d || code === 0x5d) {
      at++
      const closed = holders.pop()!
      const holder = holders.at(-1)
      if (holder === undefined) return closed
      list = Array.isArray(holder) ? holder : null
      object = list === null ? (holder as JsonObject) : null
      continue
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const start = at
      while (isNumberUnit(text.charCodeAt(at))) at++
      value = numberOf(text.slice(start, at))
    } else if (code === 0x74 || code === 0x66 || code === 0x6e) {
      value = code === 0x6e ? null : code === 0x74
      at += code === 0x66 ? 5 : 4
    } else {
      at++ // white space, comma, colon
      continue
    }
    if (list !== null) list.push(value)
    else if (object !== null) {
      setOwn(object, name!, value)
      name = null
    }
    if (code === 0x7b || code === 0x5b) {
      holders.push(value as JsonValue[] | JsonObject)
      list = code === 0x5b ? (value as JsonValue[]) : null
      object = code === 0x7b ? (value as JsonObject) : null
    } else if (holders.length === 0) {
      return value
    }
  }
}

/** Digits, point, sign and exponent. NaN, which stands for the end of the text, is none. */
function isNumberUnit(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2e || unit === 0x2d || unit === 0x2b || (unit | 0x20) === 0x65
}

function numberOf(source: string): JsonValue {
  const value = Number(source)
  return String(value) === source ? value : json.rawJSON(source)
}

/** Sets a member as `JSON.parse` does: `__proto__` becomes an own key. */
export function setOwn(object: JsonObject, name: string, value: JsonValue): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  } else {
    object[name] = value
  }
}

/** True for a number kept by its digits; not for an object that merely has a key `rawJSON`. */
export function isRaw(value: unknown): value is RawNumber {
  return json.isRawJSON(value)
}

/** True for a JSON object: no list, no null, no `RawNumber`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !json.isRawJSON(value)
}
