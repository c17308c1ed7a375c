// Replaces credential headers in JSON text, and credentials in URLs. Linear, and pure but for its counts.
import { MirrorError } from '../../errors.ts'
import { isObject, parseExact } from '../../json.ts'
import type { JsonObject, JsonValue } from '../../task.ts'
import { positionOf, type RawRow } from './columns.ts'
import { isCredentialName } from './credential-names.ts'
import { type Redaction, redactFlat } from './redact-flat.ts'
import { redactUrl, redactUrls } from './redact-url.ts'

/** Headers whose values do not leave the mirror unless asked for; compared without regard to case. */
export const REDACTED_HEADERS: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
]

/** Among names: every header that sounds like a credential, and credentials in URLs. In manifests since 0.2.0. */
const CREDENTIALS = '*'

/** The names for a redactor from those that are configured: none at all, or these and whatever sounds like a credential. */
export function redactionOf(configured: readonly string[] | null): string[] {
  return configured === null || configured.length === 0 ? [] : [...configured, CREDENTIALS]
}

const REDACTED = '[redacted]'
const REDACTED_TEXT = JSON.stringify(REDACTED)

export interface Redactor {
  /** Lower-case names it looks for, `CREDENTIALS` among them. */
  readonly names: readonly string[]
  /** The JSON text of a `header` field, any shape. */
  header(text: string): string
  /** The JSON text of the column `extra`: headers may lie anywhere in it. */
  extra(text: string): string
  url(text: string): string
  /** How many values were replaced so far, by name; names without any are absent. `url` stands for those in URLs. */
  counts(): Record<string, number>
  /** Adds the counts of another redactor, which worked on other texts. */
  add(counts: Readonly<Record<string, number>>): void
}

/** RFC 9110 token: what the name of a header is made of. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Names of what holds headers, and of what holds a URL, in lower case. */
const HOLDERS: ReadonlySet<string> = new Set(['header', 'headers'])
const URLS: ReadonlyMap<string, (text: string) => string> = new Map([
  ...['url', 'location', 'content-location', 'referer', 'referrer', 'origin'].map((name) => [name, redactUrl] as const),
  ...['link', 'refresh'].map((name) => [name, redactUrls] as const),
])

/** What a text must have somewhere to be worth parsing: part of a credential's name, of a URL, or an escape that hides one. */
const MAYBE =
  /auth|bearer|jwt|token|csrf|xsrf|secret|pass|pwd|credential|cookie|session|sid|sig|key|otp|url|loca|refer|link|refresh|\\u/i

/** Names whose verdicts are remembered: headers are the same again and again. */
const MOST_REMEMBERED = 5_000

/** A redactor for `names`. Throws `usage-invalid` for a name that no HTTP header can have. */
export function makeRedactor(names: readonly string[]): Redactor {
  const all = new Set(names.map((name) => name.toLowerCase()))
  for (const name of all) {
    if (!TOKEN.test(name)) {
      throw new MirrorError('usage-invalid', `"${name}" cannot be the name of a header`, {
        hint: 'Give header names such as x-api-key, separated by spaces.',
      })
    }
  }
  const byWords = all.has(CREDENTIALS)
  const literal = [...all].flatMap((name) => (name === CREDENTIALS ? [] : name.replace(/[.*+?^$|]/g, '\\$&')))
  // With `u` letters are compared as `toLowerCase` does it: the Kelvin sign is a k.
  const maybe = new RegExp([...literal, byWords ? MAYBE.source : '\\\\u'].join('|'), 'iu')
  const counts = new Map<string, number>()

  function tally(name: string): void {
    const key = name.toLowerCase()
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }

  function isWanted(name: string): boolean {
    const trimmed = name.trim()
    // `*` stands for names of many kinds, and not for a header called so.
    return (trimmed !== CREDENTIALS && all.has(trimmed.toLowerCase())) || (byWords && isCredentialName(trimmed))
  }

  const verdicts = new Map<string, Redaction>()
  let found: string[] = []

  /** Of a name as it stands in JSON text. */
  function judge(name: string): Redaction {
    const known = verdicts.get(name)
    if (known !== undefined) return known
    const verdict = judgeAnew(name)
    if (verdicts.size >= MOST_REMEMBERED) verdicts.clear()
    verdicts.set(name, verdict)
    return verdict
  }

  function judgeAnew(name: string): Redaction {
    const lower = name.toLowerCase()
    // Such a name may be another one, but for its spelling or the white space around it.
    if (name.includes('\\') || /^[^!-~]|[^!-~]$/.test(name) || HOLDERS.has(lower)) return 'parse'
    if (isWanted(name)) {
      return () => {
        found.push(lower)
        return REDACTED_TEXT
      }
    }
    const redactIn = URLS.get(lower)
    if (!byWords || redactIn === undefined) return 'kept'
    return (value) => {
      const url = JSON.parse(value) as string
      const redacted = redactIn(url)
      if (redacted === url) return value
      found.push('url')
      return JSON.stringify(redacted)
    }
  }

  function redact(text: string, isHeader: boolean): string {
    if (all.size === 0) return text
    found = []
    const flat = redactFlat(text, judge)
    if (flat !== null) {
      for (const name of found) tally(name)
      return flat
    }
    if (!maybe.test(text)) return text
    const before = total()
    const redacted = walk(parse(text), isHeader)
    return total() === before ? text : JSON.stringify(redacted)
  }

  function total(): number {
    let sum = 0
    for (const count of counts.values()) sum += count
    return sum
  }

  function redactedUrl(url: string, redactIn = redactUrl): string {
    const redacted = byWords ? redactIn(url) : url
    if (redacted !== url) tally('url')
    return redacted
  }

  /** Header lines as one text: "Cookie: a=b". */
  function redactLines(value: string): string {
    return value.replace(/[^\r\n]+/g, (line) => {
      const colon = line.indexOf(':')
      const name = colon === -1 ? '' : line.slice(0, colon)
      if (name.trim() === '' || !isWanted(name)) return line
      tally(name.trim())
      return `${name}: ${REDACTED}`
    })
  }

  /** `isHeader`: the node stands where headers are expected, so other spellings of them count too. */
  function walk(node: JsonValue, isHeader: boolean): JsonValue {
    if (typeof node === 'string') return isHeader ? redactLines(node) : node
    if (Array.isArray(node)) return isHeader ? walkList(node) : node.map((item) => walk(item, false))
    if (!isObject(node)) return node
    for (const [name, value] of Object.entries(node)) {
      const lower = name.trim().toLowerCase()
      if (isWanted(name)) {
        tally(name.trim())
        put(node, name, REDACTED)
      } else if (typeof value === 'string' && URLS.has(lower)) {
        put(node, name, redactedUrl(value, URLS.get(lower)))
      } else {
        put(node, name, walk(value, HOLDERS.has(lower)))
      }
    }
    return node
  }

  /** Headers as a list: [name, value, name, value], [[name, value]], [{name, value}] or ["name: value"]. */
  function walkList(list: JsonValue[]): JsonValue[] {
    const isAlternating = list.length % 2 === 0 && list.every((item) => typeof item === 'string')
    return list.map((item, i) => {
      const name = list[i - 1]
      if (isAlternating && i % 2 === 1 && typeof name === 'string' && isWanted(name)) {
        tally(name.trim())
        return REDACTED
      }
      return (isObject(item) ? redactPair(item) : null) ?? walk(item, true)
    })
  }

  /** {name, value}, as HAR files have it: everything beside the name is replaced. Null where it is no such pair. */
  function redactPair(pair: JsonObject): JsonObject | null {
    const named = Object.entries(pair).find(
      ([key, value]) => /^(name|key|header|field)$/i.test(key) && typeof value === 'string' && isWanted(value),
    )
    if (named === undefined) return null
    tally((named[1] as string).trim())
    for (const key of Object.keys(pair)) if (key !== named[0]) put(pair, key, REDACTED)
    return pair
  }

  return {
    names: [...all],
    header: (text) => redact(text, true),
    extra: (text) => redact(text, false),
    url: (text) => redactedUrl(text),
    counts: () => Object.fromEntries(counts),
    add(more) {
      for (const [name, count] of Object.entries(more)) counts.set(name, (counts.get(name) ?? 0) + count)
    },
  }
}

const HEADERS = [positionOf('data_header'), positionOf('result_header')]
const EXTRA = positionOf('extra')
const URL_COLUMN = positionOf('data_url')

/** Replaces what a snapshot must not hold, in place. */
export function redactRow(row: RawRow, redactor: Redactor): void {
  const url = row[URL_COLUMN]
  if (typeof url === 'string') row[URL_COLUMN] = redactor.url(url)
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
