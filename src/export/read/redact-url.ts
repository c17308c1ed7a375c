// Takes user, password and known credentials out of a URL, as the WHATWG parser reads it, of those inside it, and of
// those anywhere in a text. Leaves what it does not know as it is. Linear.
import { isCredentialName } from './credential-names.ts'

const REDACTED = '[redacted]'

/** Schemes of the standard in which a backslash is a slash (https://url.spec.whatwg.org/#special-scheme). */
const SPECIAL: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss', 'ftp', 'file'])

/** A text with anything to take out has one of these. */
const MAYBE = /[@?#%]/

/** `url` without credentials, absolute or relative; the same string where it has none. */
export function redactUrl(url: string): string {
  if (!MAYBE.test(url)) return url
  const text = asParsed(url)
  const redacted = withoutNested(withoutUser(text), IN_URL)
  return redacted === text ? url : redacted
}

/** How a text begins that is a URL as a whole: with a scheme and slashes, or as a relative one. */
const WHOLE = /^[\0- ]*(?:[a-z][a-z0-9+.-]*:[/\\]|(?:https?|wss?|ftp):|[/\\?#])/i

/** A text that may be a URL, or have some in it as the values of `Link` and `Refresh` do, without their credentials. */
export function redactUrls(text: string): string {
  if (!MAYBE.test(text)) return text
  return WHOLE.test(asParsed(text)) ? redactUrl(text) : withoutNested(text, IN_TEXT)
}

/** The parser ignores line breaks and tabs, wherever they stand. */
function asParsed(url: string): string {
  return /[\t\n\r]/.test(url) ? url.replaceAll(/[\t\n\r]/g, '') : url
}

/** The text, which is a URL, without its user and password. */
function withoutUser(text: string): string {
  const scheme = /^[\0- ]*([a-z][a-z0-9+.-]*):/i.exec(text)
  const isSpecial = scheme !== null && SPECIAL.has(scheme[1]!.toLowerCase())
  const slash = isSpecial ? /[/\\]/ : /\//
  let start = scheme?.[0].length ?? 0
  const first = start
  while (slash.test(text.charAt(start))) start += 1
  // Without two slashes only a special scheme has an authority.
  if (!isSpecial && start - first < 2) return text
  if (!isSpecial) start = first + 2
  let end = start
  while (end < text.length && !ends(text.charCodeAt(end), isSpecial)) end += 1
  const at = text.lastIndexOf('@', end - 1)
  if (at < start) return text
  return `${text.slice(0, start)}${REDACTED}${text.slice(at)}`
}

/** Whether an authority ends at this character: / ? # and, in special schemes, \. */
function ends(code: number, isSpecial: boolean): boolean {
  return code === 0x2f || code === 0x3f || code === 0x23 || (isSpecial && code === 0x5c)
}

/** Patterns of the delimiters in a URL that is percent-encoded a number of times: once in a parameter's value. */
interface Spelling {
  /** Where an authority begins; the group has matched where the scheme is special. */
  start: RegExp
  end: RegExp
  endOfSpecial: RegExp
  at: RegExp
  /** What stands in front of a parameter, or, as a group, between its name and its value. */
  parameter: RegExp
  endOfValue: RegExp
}

/** How often a URL inside others is encoded at most. */
const MOST_TIMES = 3

const IN_URL = spellings('', '')
/** In a text, a URL also ends at < > or a quote, and its authority at white space too. */
const IN_TEXT = spellings('<>"', '\\s<>"\'')

/** `ofValue`, `ofAuthority`: more characters that end these. */
function spellings(ofValue: string, ofAuthority: string): readonly Spelling[] {
  return Array.from({ length: MOST_TIMES + 1 }, (_, times) => {
    // Some encoders leave a slash, say, as it is: whatever is encoded less often counts too.
    const spelled = (plain: string, hex: string): string =>
      times === 0 ? plain : `(?:${plain}|%(?:25){0,${times - 1}}(?:${hex}))`
    const one = (pattern: string) => new RegExp(pattern, 'gi')
    const slash = spelled('/', '2f')
    const anySlash = spelled('[/\\\\]', '2f|5c')
    const colon = spelled(':', '3a')
    const equals = spelled('=', '3d')
    // A host may have an encoded @, so the delimiters in front of it have to be encoded as well.
    const encoded = times === 0 ? '' : '(?!:?//)'
    // The next parameter, behind the one whose value is the URL.
    const another = `${spelled('&', '26')}(?=[^&=@:/?#%\\s]*${equals})`
    const end = (slashes: string) => one(`${slashes}|${spelled('[?#]', '3f|23')}|${another}|[${ofAuthority}]`)
    return {
      start: one(
        `(?<![a-z0-9+.-])(https?|wss?|ftp|file)${encoded}${colon}${anySlash}*|${encoded}${colon}${slash}{2,}` +
          `|(?<=^|[\\s<>"'(,;|]|${equals})${encoded}${slash}{2,}`,
      ),
      end: end(slash),
      endOfSpecial: end(anySlash),
      at: one(spelled('@', '40')),
      parameter: one(`${spelled('[?#&;]', '3f|23|26|3b')}|(${equals})`),
      endOfValue: one(`${spelled('[#&;]', '23|26|3b')}|[${ofValue}]`),
    }
  })
}

/** Without users and parameters of URLs anywhere in the text, also where they are percent-encoded. */
function withoutNested(text: string, spellings: readonly Spelling[]): string {
  let redacted = text
  for (const [times, spelling] of spellings.entries()) {
    if (times > 0 && !redacted.includes(times === 1 ? '%' : '%25')) break
    if (times > 0 || redacted.includes('@')) redacted = withoutUsers(redacted, spelling)
    if (times > 0 || redacted.includes('=')) redacted = withoutParameters(redacted, spelling)
  }
  return redacted
}

function withoutUsers(text: string, spelling: Spelling): string {
  let redacted = ''
  let kept = 0
  for (let from = 0; ; ) {
    const found = nextOf(spelling.start, text, from)
    if (found === null) return kept === 0 ? text : redacted + text.slice(kept)
    const start = found.index + found[0].length
    // The next search begins behind the authority: one inside another ends with it at the latest, none is read twice.
    from = nextOf(found[1] === undefined ? spelling.end : spelling.endOfSpecial, text, start)?.index ?? text.length
    const at = lastAt(text.slice(start, from), spelling.at)
    if (at <= 0) continue
    redacted += text.slice(kept, start) + REDACTED
    kept = start + at
  }
}

function lastAt(authority: string, at: RegExp): number {
  let last = -1
  for (const { index } of authority.matchAll(at)) last = index
  return last
}

/** Without the values of parameters that are named like credentials, in query or fragment. */
function withoutParameters(text: string, spelling: Spelling): string {
  let redacted = ''
  let kept = 0
  /** Where the name of a parameter begins; -1 where none does. */
  let name = -1
  for (let from = 0, isQuery = false; ; ) {
    const found = nextOf(spelling.parameter, text, from)
    if (found === null) return kept === 0 ? text : redacted + text.slice(kept)
    from = found.index + found[0].length
    if (found[1] === undefined) {
      // The parameters begin behind a question mark or a number sign.
      isQuery ||= !/^[&;]|(?:26|3b)$/i.test(found[0])
      name = isQuery ? from : -1
      continue
    }
    const isSecret = name !== -1 && isCredentialName(decoded(text.slice(name, found.index)))
    name = -1
    if (!isSecret) continue
    const end = nextOf(spelling.endOfValue, text, from)?.index ?? text.length
    if (end === from) continue
    redacted += text.slice(kept, from) + REDACTED
    kept = end
    from = end
  }
}

/** The first match at `from` or behind it. */
function nextOf(pattern: RegExp, text: string, from: number): RegExpExecArray | null {
  pattern.lastIndex = from
  return pattern.exec(text)
}

/** A name that is longer once it is decoded does not matter, see `isCredentialName`. */
const LONGEST_NAME = 4096

/** A name as a server reads it, except characters beyond ASCII, which no credential has in its name. */
function decoded(name: string): string {
  let read = name
  for (let times = 0; times <= MOST_TIMES && read.length <= LONGEST_NAME && read.includes('%'); times++) {
    read = read.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
  return read
}
