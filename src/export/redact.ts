// Replaces the values of credential headers in JSON text and leaves every other byte or digit as it is.
// Pure but for its own counts: knows JSON text and which columns hold it, never files or formats.
import { MirrorError } from '../errors.ts'
import { isObject, parseExact } from '../json.ts'
import type { JsonObject, JsonValue } from '../task.ts'
import { positionOf, type RawRow } from './columns.ts'
import { makeFlatRedactor } from './redact-flat.ts'

/** Headers whose values do not leave the mirror unless asked for; compared without regard to case. */
export const REDACTED_HEADERS: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
]

const REDACTED = '[redacted]'

export interface Redactor {
  /** Lower-case names it looks for. */
  readonly names: readonly string[]
  /** The JSON text of a `header` field, any shape. */
  header(text: string): string
  /** The JSON text of the column `extra`: headers may lie anywhere in it. */
  extra(text: string): string
  /** How many values were replaced so far, by name; names without any are absent. */
  counts(): Record<string, number>
  /** Adds the counts of another redactor, which worked on other texts. */
  add(counts: Readonly<Record<string, number>>): void
}

/** RFC 9110 token: no name can hold a character that JSON text may write as an escape other than \u. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** An object of strings only, such as nearly every `header` is. */
const FLAT = /^\{\s*(?:"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*(?:,\s*|(?=\}$)))*\}$/

/** A name with white space around it, or one whose value may be header lines: there the expression above says too little. */
const ODD_NAME = /"(?:(?:\s|\\[tnrf])[^"]*|[^"]*(?:\s|\\[tnrf])|headers?)"\s*:/i

/** Names of what holds headers, in lower case. */
const HOLDERS: readonly string[] = ['header', 'headers']

/**
 * A redactor for `names`. Throws `usage-invalid` for a name that no HTTP header can have.
 *
 * Ordinary text is handled without parsing: `[{,]"name":` can only be a key, because a quote behind `{` or `,` with a
 * name right behind it opens a string, and a colon never follows a value. Where a name stands elsewhere in a text that
 * is not flat, or a \u escape could hide one, the text is parsed (numbers by their own digits) and walked.
 */
export function makeRedactor(names: readonly string[]): Redactor {
  const wanted = new Set(names.map((name) => name.toLowerCase()))
  for (const name of wanted) {
    if (!TOKEN.test(name)) {
      throw new MirrorError('usage-invalid', `"${name}" cannot be the name of a header`, {
        hint: 'Give header names such as x-api-key, separated by spaces.',
      })
    }
  }
  // The longest first: where two names begin at the same place, the longer one is meant.
  const sorted = [...wanted].sort((a, b) => b.length - a.length)
  const either = sorted.map((name) => name.replace(/[.*+?^$|]/g, '\\$&')).join('|')
  const keyed = new RegExp(`([{,]\\s*"(${either})"\\s*:\\s*)"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|${either}`, 'gi')
  const lines = new RegExp(`^(\\s*(${either})\\s*:)[^\\r\\n]*`, 'gim')
  const flat = makeFlatRedactor(sorted, `"${REDACTED}"`, HOLDERS)
  const counts = new Map<string, number>()

  function tally(name: string): void {
    const key = name.toLowerCase()
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }

  function redact(text: string, exact: (text: string) => string): string {
    if (wanted.size === 0) return text
    const simple = flat.redact(text)
    if (simple !== null) {
      for (const name of flat.found) tally(name)
      return simple
    }
    if (text.includes('\\u')) return exact(text)
    let elsewhere = false
    const found: string[] = []
    const result = text.replace(keyed, (match: string, before: string | undefined, name: string) => {
      if (before === undefined) {
        elsewhere = true
        return match
      }
      found.push(name)
      return `${before}"${REDACTED}"`
    })
    if (elsewhere && (!FLAT.test(text) || ODD_NAME.test(text))) return exact(text)
    for (const name of found) tally(name)
    return result
  }

  /** Header lines as one text: "Cookie: a=b". */
  function redactLines(value: string): string {
    return value.replace(lines, (_match, before: string, name: string) => {
      tally(name)
      return `${before} ${REDACTED}`
    })
  }

  function isWanted(value: unknown): value is string {
    return typeof value === 'string' && wanted.has(value.trim().toLowerCase())
  }

  /** `isHeader`: the node stands where headers are expected, so other spellings of them count too. */
  function walk(node: JsonValue, isHeader: boolean): JsonValue {
    if (typeof node === 'string') return isHeader ? redactLines(node) : node
    if (Array.isArray(node)) return isHeader ? walkList(node) : node.map((item) => walk(item, false))
    if (!isObject(node)) return node
    for (const [name, value] of Object.entries(node)) {
      if (isWanted(name)) {
        tally(name.trim())
        put(node, name, REDACTED)
      } else {
        put(node, name, walk(value, isHolder(name)))
      }
    }
    return node
  }

  /** Headers as a list: [name, value, name, value], [[name, value]], [{name, value}] or ["name: value"]. */
  function walkList(list: JsonValue[]): JsonValue[] {
    const isAlternating = list.length % 2 === 0 && list.every((item) => typeof item === 'string')
    return list.map((item, i) => {
      const name = list[i - 1]
      if (isAlternating && i % 2 === 1 && isWanted(name)) {
        tally(name.trim())
        return REDACTED
      }
      return (isObject(item) ? redactPair(item) : null) ?? walk(item, true)
    })
  }

  /** {name, value}, as HAR files have it: everything beside the name is replaced. Null where it is no such pair. */
  function redactPair(pair: JsonObject): JsonObject | null {
    const named = Object.entries(pair).find(([key, value]) => /^(name|key|header|field)$/i.test(key) && isWanted(value))
    if (named === undefined) return null
    tally((named[1] as string).trim())
    for (const key of Object.keys(pair)) if (key !== named[0]) put(pair, key, REDACTED)
    return pair
  }

  return {
    names: [...wanted],
    header: (text) => redact(text, (exact) => JSON.stringify(walk(parse(exact), true))),
    extra: (text) => redact(text, (exact) => JSON.stringify(walk(parse(exact), false))),
    counts: () => Object.fromEntries(counts),
    add(more) {
      for (const [name, count] of Object.entries(more)) counts.set(name, (counts.get(name) ?? 0) + count)
    },
  }
}

const HEADERS = [positionOf('data_header'), positionOf('result_header')]
const EXTRA = positionOf('extra')

/** Replaces what a snapshot must not hold, in place. */
export function redactRow(row: RawRow, redactor: Redactor): void {
  for (const i of HEADERS) {
    const text = row[i]
    if (typeof text === 'string') row[i] = redactor.header(text)
  }
  const extra = row[EXTRA]
  if (typeof extra === 'string') row[EXTRA] = redactor.extra(extra)
}

/** An own property whatever its name: plain assignment to `__proto__` would change the prototype. */
function put(node: JsonObject, key: string, value: JsonValue): void {
  Object.defineProperty(node, key, { value, enumerable: true, configurable: true, writable: true })
}

function isHolder(name: string): boolean {
  return HOLDERS.includes(name.toLowerCase())
}

/** The value of a text that the mirror holds as JSON. */
function parse(text: string): JsonValue {
  try {
    return parseExact(text)
  } catch (cause) {
    throw new MirrorError('mirror-damaged', 'The mirror holds a header that is no JSON text', {
      cause,
      hint: 'Check it with `task-mirror verify`.',
    })
  }
}
