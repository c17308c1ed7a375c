// The API key: how it is placed on a request, and how it is kept out of everything else.
import { createHash } from 'node:crypto'

export interface Auth {
  placement: 'header' | 'query' | 'none'
  /** Name of the header or of the query parameter. */
  name: string
  /** Written before the key in a header; a query parameter carries the bare key. */
  prefix: string
  /** Which operations carry the key. */
  on: 'all' | 'detail'
}

/** What the key adds to a request: one header or one query string, or nothing. */
interface Credentials {
  header: [name: string, value: string] | null
  /** Starts with `?`, or is empty. */
  query: string
}

export function credentialsFor(operation: 'list' | 'get', auth: Auth, key: string | null): Credentials {
  const silent = key === null || auth.placement === 'none' || (auth.on === 'detail' && operation === 'list')
  if (silent) return { header: null, query: '' }
  if (auth.placement === 'header') return { header: [auth.name, auth.prefix + key], query: '' }
  return { header: null, query: `?${encodeURIComponent(auth.name)}=${encodeURIComponent(key)}` }
}

/** How a request carried the key: there is none, it was kept from this request, sent, or sent with its prefix twice. */
export type KeySent = 'none' | 'kept' | 'sent' | 'prefixed-twice'

export function keySent(operation: 'list' | 'get', auth: Auth, key: string | null): KeySent {
  if (key === null) return 'none'
  const { header, query } = credentialsFor(operation, auth, key)
  if (header === null) return query === '' ? 'kept' : 'sent'
  const isTwice = auth.prefix.trim() !== '' && key.toLowerCase().startsWith(auth.prefix.toLowerCase())
  return isTwice ? 'prefixed-twice' : 'sent'
}

/** Tells one key from another without giving it away: the first 16 hex digits of a salted SHA-256. */
export function fingerprint(key: string, salt: string): string {
  // The lengths keep ("ab", "c") and ("a", "bc") apart.
  return createHash('sha256').update(`${salt.length}:${salt}:${key}`).digest('hex').slice(0, 16)
}

/** Where a cut text ends with at least so many first characters of the key, they are taken for the key. */
const SHORTEST_PART = 4

/** `text` without the key: in upper or lower case, plain or as in a query, also where the text ends within the key. */
export function withoutKey(text: string, key: string | null): string {
  if (key === null || key === '') return text
  return [key, encodeURIComponent(key)].reduce(without, text)
}

function without(text: string, form: string): string {
  const whole = text.replaceAll(new RegExp(form.replaceAll(/[^\w]/g, '\\$&'), 'gi'), '[key]')
  const [end, start] = [whole.toLowerCase(), form.toLowerCase()]
  for (let length = form.length - 1; length >= SHORTEST_PART; length -= 1) {
    if (end.endsWith(start.slice(0, length))) return `${whole.slice(0, -length)}[key]`
  }
  return whole
}
