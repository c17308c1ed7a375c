// Takes user, password and known credentials out of a URL, as the WHATWG parser reads it, and leaves the rest. Linear.
import { isCredentialName } from './credential-names.ts'

const REDACTED = '[redacted]'

/** Schemes of the standard in which a backslash is a slash (https://url.spec.whatwg.org/#special-scheme). */
const SPECIAL: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss', 'ftp', 'file'])

/** `url` without credentials, absolute or relative; the same string where it has none. */
export function redactUrl(url: string): string {
  if (!/[@?#]/.test(url)) return url
  // Spaces at the ends, line breaks and tabs anywhere are nothing to the parser.
  const text = /[\t\n\r]/.test(url) ? url.replaceAll(/[\t\n\r]/g, '') : url
  const authority = withoutUser(text)
  const redacted = withoutParameters(authority)
  if (redacted === text) return url
  return redacted
}

/** Schemes in front of others, as in `blob:https://a.example/1` or `jdbc:mysql://a.example/`. */
const MOST_SCHEMES = 4

function withoutUser(text: string, schemes = 1): string {
  const scheme = /^[\0- ]*([a-z][a-z0-9+.-]*):/i.exec(text)
  const isSpecial = scheme !== null && SPECIAL.has(scheme[1]!.toLowerCase())
  const slash = isSpecial ? /[/\\]/ : /\//
  let start = scheme?.[0].length ?? 0
  const first = start
  while (slash.test(text.charAt(start))) start += 1
  // Without two slashes only a special scheme has an authority.
  if (!isSpecial && start - first < 2) {
    if (scheme === null || schemes === MOST_SCHEMES) return text
    return text.slice(0, first) + withoutUser(text.slice(first), schemes + 1)
  }
  if (!isSpecial) start = first + 2
  let end = start
  while (end < text.length && !ends(text.charCodeAt(end), isSpecial)) end += 1
  const at = text.lastIndexOf('@', end - 1)
  if (at < start) return text
  return `${text.slice(0, start)}${REDACTED}${text.slice(at)}`
}

/** A text with URLs in it, as the values of `Link` and `Refresh` are, without their credentials. */
export function redactUrls(text: string): string {
  return text
    .split(/([\s<>"']+|url=)/i)
    .map((part, index) => (index % 2 === 0 ? redactUrl(part) : part))
    .join('')
}

/** Whether an authority ends at this character: / ? # and, in special schemes, \. */
function ends(code: number, isSpecial: boolean): boolean {
  return code === 0x2f || code === 0x3f || code === 0x23 || (isSpecial && code === 0x5c)
}

/** Query and fragment, either of which may be a list of `name=value`. */
function withoutParameters(text: string): string {
  const start = text.search(/[?#]/)
  if (start === -1) return text
  return (
    text.slice(0, start) +
    text.slice(start).replace(/([?#&;])([^?#&;=]*)=([^#&;]*)/g, (all, before: string, name: string, value: string) => {
      const isEmpty = value === ''
      return !isEmpty && isCredentialName(decoded(name)) ? `${before}${name}=${REDACTED}` : all
    })
  )
}

/** A name as a server reads it. */
function decoded(name: string): string {
  if (!/[%+]/.test(name)) return name
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
