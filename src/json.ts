// JSON digit for digit: numbers that a double cannot carry, or would spell otherwise, stay as their own text.
// Knows nothing of tasks, the service or the mirror; imports only the words for JSON values.
import type { JsonObject, JsonValue, RawNumber } from './task.ts'

type Reviver = (key: string, value: JsonValue, context: { source: string }) => JsonValue

/** The parts of JSON that the compiler's library does not describe yet (ES proposal "JSON.parse source text access"). */
const json = JSON as unknown as {
  parse(text: string, reviver: Reviver): JsonValue
  rawJSON(source: string): RawNumber
  isRawJSON(value: unknown): value is RawNumber
}

/**
 * True where a double does not give the spelling back: 17-digit integers, `1.0`, `1E+2`, `-0`, `1e400`, 25 decimals.
 * `source` is a number of JSON text.
 */
export function isOddNumber(source: string): boolean {
  return String(Number(source)) !== source
}

// Every odd number starts with `-0`, has a point or an exponent, or 16 digits in a row. In valid JSON a number stands at
// the start or behind white space, a colon, a comma or a bracket; the same inside a string only costs the second parse.
const MAYBE_ODD = /(?:^|[\s:,[])(?:-0|-?\d+[.eE]|-?\d{16})/

/**
 * Parses JSON text without losing a digit: odd numbers come back as `RawNumber`, which `JSON.stringify` writes as they
 * were. `__proto__` is an ordinary key; of duplicate keys the last wins. The text may be nested a few thousand levels
 * deep at most. Throws SyntaxError for what is no JSON, RangeError where it is nested too deep.
 */
export function parseExact(text: string): JsonValue {
  return MAYBE_ODD.test(text) ? json.parse(text, keepDigits) : (JSON.parse(text) as JsonValue)
}

function keepDigits(_key: string, value: JsonValue, context: { source: string }): JsonValue {
  return typeof value === 'number' && String(value) !== context.source ? json.rawJSON(context.source) : value
}

/** True for a number kept by its digits; an object that merely has a key `rawJSON` is none. */
export function isRaw(value: unknown): value is RawNumber {
  return json.isRawJSON(value)
}

/** True for a JSON object: no list, no null, no `RawNumber`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !json.isRawJSON(value)
}
