// JSON with half a surrogate pair as an escape: whole queries of DuckDB and others fail for it, polars reads NUL. Pure.
import { COLUMNS, type RawRow } from './columns.ts'

/** What a snapshot does with it: `keep` is exact, `replace` puts U+FFFD in its place. */
export const INVALID_JSON = ['keep', 'replace'] as const
export type InvalidJson = (typeof INVALID_JSON)[number]

/** A pair of surrogates, any other escape of four digits, or a short escape: so that `\\ud800` is no surrogate. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)/g
const SURROGATE = /^\\u[dD][89a-fA-F][\da-fA-F]{2}$/

/** The JSON text with `\ufffd` for every lone surrogate; all else as it stands. */
export function withoutLoneSurrogates(json: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return json
  return json.replace(ESCAPE, (found) => (SURROGATE.test(found) ? '\\ufffd' : found))
}

const JSON_COLUMNS = COLUMNS.flatMap(({ kind }, position) => (kind === 'json' ? [position] : []))

/** Replaces them in the JSON columns of a row, in place. */
export function replaceInvalid(row: RawRow): void {
  for (const position of JSON_COLUMNS) {
    const text = row[position]
    if (typeof text === 'string') row[position] = withoutLoneSurrogates(text)
  }
}
