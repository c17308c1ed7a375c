// Replaces credential headers in JSON text, and credentials in URLs. Linear, and pure but for its counts.
import { MirrorError } from '../../errors.ts'
import { HEADER_NAME } from '../../http-policy.ts'
import { isObject, parseExact, setOwn } from '../../json.ts'
import { storedJson } from '../../mirror/explain.ts'
import type { JsonObject, JsonValue } from '../../task.ts'
import { COLUMNS, type Column, positionOf, type RawRow } from './columns.ts'
import { isCredentialName } from './credential-names.ts'
import { type Redaction, redactFlat } from './redact-flat.ts'
import { redactUrl, redactUrls } from './redact-url.ts'

/** Among names: every header that sounds like a credential, and credentials in URLs. In manifests since 0.2.0. */
const CREDENTIALS = '*'

/**
 * The names for a redactor from those that are configured: none at all, or these and whatever sounds like a credential.
 */
export function redactionOf(configured: readonly string[]): string[] {
  return configured.length === 0 ? [] : [...configured, CREDENTIALS]
}

const REDACTED = '[redacted]'
const REDACTED_TEXT = JSON.stringify(REDACTED)

/** Names of what holds headers, in lower case. */
const HOLDERS: ReadonlySet<string> = new Set(['header', 'headers'])

/**
 * What a text must have somewhere to be worth parsing: part of a credential's name, of a URL with one, or an escape
 * that hides one.
 */
const MAYBE = /auth|bearer|jwt|token|csrf|xsrf|secret|pass|pwd|credential|cookie|session|sid|sig|key|otp|[@%]|\\u/i

/** What a JSON text must have somewhere to hold a URL with a credential. */
const MAYBE_URL = /[@?#%]|\\u/

/** Names whose verdicts are remembered: headers are the same again and again. */
const MOST_REMEMBERED = 5_000

/**
 * What stands there: headers in any spelling, the value of one (whose texts may hold URLs, and lists headers), or
 * anything.
 */
type Role = 'headers' | 'value' | 'elsewhere'

/** What it has replaced so far counts. Throws `usage-invalid` for a name that no HTTP header can have. */
export class Redactor {
  readonly #all: ReadonlySet<string>
  readonly #byWords: boolean
  readonly #maybe: RegExp
  readonly #counts = new Map<string, number>()
  readonly #verdicts = new Map<string, Redaction>()
  /** Names that the text in hand was redacted for. */
  #found: string[] = []

  constructor(names: readonly string[]) {
    this.#all = new Set(names.map((name) => name.toLowerCase()))
    for (const name of this.#all) {
      if (!HEADER_NAME.test(name)) {
        throw new MirrorError('usage-invalid', `"${name}" cannot be the name of a header`, {
          hint: 'Give header names such as x-api-key; several stand between commas.',
        })
      }
    }
    this.#byWords = this.#all.has(CREDENTIALS)
    const literal = this.names.flatMap((name) => (name === CREDENTIALS ? [] : name.replace(/[.*+?^$|]/g, '\\$&')))
    // With `u` letters are compared as `toLowerCase` does it: the Kelvin sign is a k.
    this.#maybe = new RegExp([...literal, this.#byWords ? MAYBE.source : '\\\\u'].join('|'), 'iu')
  }

  /** Lower-case names it looks for, `CREDENTIALS` among them. */
  get names(): string[] {
    return [...this.#all]
  }

  /** The JSON text of a `header` field, any shape. */
  header(text: string): string {
    return this.#redact(text, 'headers')
  }

  /** The JSON text of the column `extra`: headers may lie anywhere in it. */
  extra(text: string): string {
    return this.#redact(text, 'elsewhere')
  }

  url(url: string): string {
    const redacted = this.#byWords ? redactUrl(url) : url
    if (redacted !== url) this.#count('url', 1)
    return redacted
  }

  /** How many values were replaced so far, by name; names without any are absent. `url` stands for those in URLs. */
  counts(): Record<string, number> {
    return Object.fromEntries(this.#counts)
  }

  /** Adds the counts of another redactor, which worked on other texts. */
  add(more: Readonly<Record<string, number>>): void {
    for (const [name, count] of Object.entries(more)) this.#count(name, count)
  }

  #count(name: string, more: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + more)
  }

  #isWanted(name: string): boolean {
    const trimmed = name.trim()
    // `*` stands for names of many kinds, and not for a header called so.
    if (trimmed !== CREDENTIALS && this.#all.has(trimmed.toLowerCase())) return true
    return this.#byWords && isCredentialName(trimmed)
  }

  /** Of a name as it stands in JSON text. */
  readonly #judge = (name: string): Redaction => {
    const known = this.#verdicts.get(name)
    if (known !== undefined) return known
    const verdict = this.#judgeAnew(name)
    if (this.#verdicts.size >= MOST_REMEMBERED) this.#verdicts.clear()
    this.#verdicts.set(name, verdict)
    return verdict
  }

  #judgeAnew(name: string): Redaction {
    // Such a name may be another one, but for its spelling or the white space around it.
    if (name.includes('\\') || /^[^!-~]|[^!-~]$/.test(name) || HOLDERS.has(name.toLowerCase())) return 'parse'
    if (!this.#isWanted(name)) return 'kept'
    return () => {
      this.#found.push(name)
      return REDACTED_TEXT
    }
  }

  /** The same where the text may hold URLs with credentials. */
  readonly #judgeWithUrls = (name: string): Redaction => {
    const verdict = this.#judge(name)
    return verdict === 'kept' ? this.#redactUrls : verdict
  }

  readonly #redactUrls = (value: string): string => {
    if (!MAYBE_URL.test(value)) return value
    const text = JSON.parse(value) as string
    const redacted = this.#urlsIn(text)
    return redacted === text ? value : JSON.stringify(redacted)
  }

  /** A text that may hold URLs. */
  #urlsIn(text: string): string {
    const redacted = this.#byWords ? redactUrls(text) : text
    if (redacted !== text) this.#found.push('url')
    return redacted
  }

  #redact(text: string, role: Role): string {
    if (this.#all.size === 0) return text
    this.#found = []
    const flat = redactFlat(text, this.#byWords && MAYBE_URL.test(text) ? this.#judgeWithUrls : this.#judge)
    const redacted = flat ?? this.#redactTree(text, role)
    for (const name of this.#found) this.#count(name.trim().toLowerCase(), 1)
    return redacted
  }

  /** Text of any form, parsed. */
  #redactTree(text: string, role: Role): string {
    this.#found = []
    if (!this.#maybe.test(text)) return text
    const redacted = this.#walk(storedJson<JsonValue>(text, parseExact), role)
    return this.#found.length === 0 ? text : JSON.stringify(redacted)
  }

  /** Header lines as one text: "Cookie: a=b". */
  #redactLines(value: string): string {
    return value.replace(/[^\r\n]+/g, (line) => {
      const colon = line.indexOf(':')
      const name = colon === -1 ? '' : line.slice(0, colon)
      if (name.trim() !== '' && this.#isWanted(name)) {
        this.#found.push(name)
        return `${name}: ${REDACTED}`
      }
      const behind = /^[^:]*:[ \t]+/.exec(line)?.[0] ?? ''
      return behind + this.#urlsIn(line.slice(behind.length))
    })
  }

  #walk(node: JsonValue, role: Role): JsonValue {
    if (typeof node === 'string') return role === 'headers' ? this.#redactLines(node) : this.#urlsIn(node)
    if (Array.isArray(node)) {
      return role === 'elsewhere' ? node.map((item) => this.#walk(item, role)) : this.#walkList(node, role)
    }
    if (!isObject(node)) return node
    const below = role === 'elsewhere' ? role : 'value'
    for (const [name, value] of Object.entries(node)) {
      if (this.#isWanted(name)) {
        this.#found.push(name)
        setOwn(node, name, REDACTED)
      } else {
        setOwn(node, name, this.#walk(value, HOLDERS.has(name.trim().toLowerCase()) ? 'headers' : below))
      }
    }
    return node
  }

  /**
   * Headers as a list: [name, value, name, value], [[name, value]], [name, value, value], [{name, value}] or ["name:
   * value"].
   */
  #walkList(list: JsonValue[], role: Role): JsonValue[] {
    const isInTurn = list.length % 2 === 0 && list.every((item, i) => i % 2 === 1 || typeof item === 'string')
    return list.map((item, i) => {
      const name = isInTurn ? (i % 2 === 1 ? list[i - 1] : null) : i > 0 ? list[0] : null
      const isName = typeof name === 'string' && (isInTurn || !name.includes(':'))
      // The values of one header are a list of texts as well, but hold no list of their own.
      if (role === 'headers' && isName && this.#isWanted(name)) {
        this.#found.push(name)
        return REDACTED
      }
      return (
        (isObject(item) ? this.#redactPair(item) : null) ?? this.#walk(item, Array.isArray(item) ? 'headers' : role)
      )
    })
  }

  /** {name, value}, as HAR files have it: everything beside the name is replaced. Null where it is no such pair. */
  #redactPair(pair: JsonObject): JsonObject | null {
    const named = Object.entries(pair).find(
      ([key, value]) => /^(name|key|header|field)$/i.test(key) && typeof value === 'string' && this.#isWanted(value),
    )
    if (named === undefined) return null
    this.#found.push(named[1] as string)
    for (const key of Object.keys(pair)) if (key !== named[0]) setOwn(pair, key, REDACTED)
    return pair
  }
}

/** Where a row may hold what a snapshot must not, and what becomes of it. */
const PLACES_IN_ROW: [column: string, redact: (redactor: Redactor, text: string) => string][] = [
  ['data_url', (redactor, text) => redactor.url(text)],
  ['data_header', (redactor, text) => redactor.header(text)],
  ['result_header', (redactor, text) => redactor.header(text)],
  ['extra', (redactor, text) => redactor.extra(text)],
]

/**
 * Replaces what a snapshot of `columns` must not hold, in place. What stands in other columns is not in it, nor
 * counted.
 */
export function rowRedactor(redactor: Redactor, columns: readonly Column[] = COLUMNS): (row: RawRow) => void {
  const places = PLACES_IN_ROW.flatMap(([name, redact]) =>
    columns.some((column) => column.name === name) ? [{ at: positionOf(name), redact }] : [],
  )
  return (row) => {
    for (const { at, redact } of places) {
      const text = row[at]
      if (typeof text === 'string') row[at] = redact(redactor, text)
    }
  }
}
