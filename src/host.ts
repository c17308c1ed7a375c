// The host of a URL, as a browser or HTTP client would see it. Imports nothing.

/** No name on the internet is longer than 253 characters; a port and brackets come on top. */
const MOST_CHARACTERS = 300

/** A scheme and an authority in which nothing is left to be parsed, with whatever ends it. */
const PLAIN = /^(https?:\/\/[a-z0-9.:-]+)(?:[/?#]|$)/

const MOST_REMEMBERED = 1000
const remembered = new Map<string, string | null>()

/**
 * Host of `url` by the WHATWG URL parser (https://url.spec.whatwg.org), in lower case, with the port where it is not the
 * scheme's own; never user or password. Null where the text is no absolute URL, or one without a host.
 */
export function hostOf(url: string | null): string | null {
  if (url === null) return null
  const origin = PLAIN.exec(url.length > MOST_CHARACTERS ? url.slice(0, MOST_CHARACTERS) : url)?.[1]
  // At the end of what was cut off it may go on.
  if (origin === undefined || origin.length === MOST_CHARACTERS) return parsed(url)
  const known = remembered.get(origin)
  if (known !== undefined) return known
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  const host = parsed(origin)
  remembered.set(origin, host)
  return host
}

function parsed(url: string): string | null {
  // The parser keeps the case of hosts in schemes that it does not know.
  const host = URL.parse(url)?.host.toLowerCase() ?? ''
  return host === '' || host.length > MOST_CHARACTERS ? null : host
}
