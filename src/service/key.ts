// The API key: what makes one usable, how it is placed on a request, and how it is kept out of everything else.
import { createHash } from 'node:crypto'
import { MirrorError } from '../errors.ts'
import { HEADER_NAME } from '../http-policy.ts'

export interface Auth {
  placement: 'header' | 'query' | 'none'
  /** Name of the header or of the query parameter. */
  name: string
  /** Written before the key in a header; a query parameter carries the bare key. */
  prefix: string
  /** Which operations carry the key. */
  on: 'all' | 'detail'
}

// Headers that frame or route the message: a key written there would break it.
const RESERVED =
  /^(?:host|connection|content-length|content-type|content-encoding|accept|accept-encoding|user-agent|transfer-encoding|upgrade|keep-alive|expect|te|trailer|proxy-.*)$/i

/** Throws `config-invalid` for a key that no request can carry; the message never repeats it. */
export function checkKey(key: string): void {
  const hint = 'Set TASK_MIRROR_API_KEY, or the file of TASK_MIRROR_API_KEY_FILE, to the bare key on one line.'
  const refuse = (what: string) => new MirrorError('config-invalid', `The API key ${what}`, { hint })
  if (key.trim() === '') throw refuse('is empty')
  if (/[\r\n]/.test(key)) throw refuse('holds a line break')
  if (/[\x00-\x1f\x7f-\x9f]/.test(key)) throw refuse('holds a control character')
  if (/[^\x20-\xff]/.test(key)) throw refuse('holds a character that HTTP headers cannot carry')
}

/** Throws `config-invalid` for a header name or prefix that cannot be sent. */
export function checkAuth(auth: Auth): void {
  const refuse = (what: string, hint: string) => new MirrorError('config-invalid', what, { hint })
  if (auth.placement === 'none') return
  if (auth.name === '') throw refuse('service.auth.name is empty', 'Name the header or parameter that carries the key.')
  if (auth.placement === 'query') {
    if (!auth.name.isWellFormed())
      throw refuse('service.auth.name is no well-formed text', 'Write it in plain letters.')
    return
  }
  if (!HEADER_NAME.test(auth.name) || RESERVED.test(auth.name)) {
    throw refuse(
      `service.auth.name cannot be ${JSON.stringify(auth.name)}`,
      'Use a header such as authorization or x-api-key.',
    )
  }
  if (/[^\x20-\x7e\xa0-\xff]/.test(auth.prefix)) {
    throw refuse(
      'service.auth.prefix holds a character that HTTP headers cannot carry',
      'Use a prefix such as "Bearer ".',
    )
  }
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
