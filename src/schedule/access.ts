// Who may see the pages of `schedule`: which Host names are answered, which token is needed. Pure but for `readToken`.
import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import { MirrorError } from '../errors.ts'
import { isLoopback } from '../http-policy.ts'
import { openToOthers, readNamedFile } from '../small-file.ts'

/**
 * Whether to answer this Host header: an address, this machine or one of `hosts`. Others may be DNS rebinding, and that
 * takes a browser, which always sends one: health checks by HTTP/1.0 do not.
 */
export function isAnswered(host: string | undefined, hosts: readonly string[]): boolean {
  if (host === undefined) return true
  // Only a name and a port are parsed: of `a@127.0.0.1`, the parser would see the address alone.
  const url = /^[^\s/?#@\\]{1,260}$/.test(host) ? URL.parse(`http://${host}`) : null
  if (url === null) return false
  const name = url.hostname.replace(/\.$/, '')
  return isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || isLoopback(name) || hosts.includes(name)
}

/** Whether an Authorization header holds `token`: as `Bearer`, or as the password of `Basic`, for browsers. */
export function bearsToken(authorization: string | undefined, token: string): boolean {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization ?? '') ?? []
  const password = (coded: string) =>
    Buffer.from(coded, 'base64')
      .toString()
      .replace(/^[^:]*:/, '')
  const given = scheme.toLowerCase() === 'basic' ? password(value) : value
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}

const LEAST_CHARACTERS = 16
const MOST_BYTES = 4096

/** The token in the file, and a warning where others can read it. Throws `config-invalid`, never with the token. */
export function readToken(path: string): { token: string; warning: string | null } {
  const refuse = (what: string, cause?: unknown) =>
    new MirrorError('config-invalid', `schedule.tokenFile: ${path} ${what}`, {
      hint: `Put ${LEAST_CHARACTERS} characters or more that nobody can guess into it, on one line: openssl rand -hex 32`,
      cause,
    })
  const { bytes, stats } = readNamedFile(path, { most: MOST_BYTES, refuse })
  const token = bytes.toString().replace(/\r?\n$/, '')
  if (!/^[\x21-\x7e]+$/.test(token)) throw refuse('holds no token of one line without spaces')
  if (token.length < LEAST_CHARACTERS) throw refuse('holds a token that can be guessed: it is too short')
  return { token, warning: openToOthers('the token of the pages', path, stats) }
}
