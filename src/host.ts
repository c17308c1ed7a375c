// The host of a URL, as a browser or HTTP client would see it. Imports nothing.

/** No name on the internet has more than 253 characters; port and brackets come on top. */
const MOST_CHARACTERS = 300

/** A scheme and an authority that need no parsing, and the character that ends them. */
const PLAIN = /^(https?:\/\/[a-z0-9.:-]+)(?:[/?#]|$)/

const MOST_REMEMBERED = 1000
const remembered = new Map<string, string | null>()

/**
 * Host of `url` by the WHATWG URL parser (https://url.spec.whatwg.org), in lower case, with a port other than the
 * scheme's own; never user or password. null where the text is no absolute URL, or has no host.
 */
export function hostOf(url: string | null): string | null {
  if (url === null) return null
  const origin = PLAIN.exec(url.length > MOST_CHARACTERS ? url.slice(0, MOST_CHARACTERS) : url)?.[1]
  // Where the text was cut, the authority may continue.
  if (origin === undefined || origin.length === MOST_CHARACTERS) return parsed(url)
  const known = remembered.get(origin)
  if (known !== undefined) return known
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  const host = parsed(origin)
  remembered.set(origin, host)
  return host
}

function parsed(url: string): string | null {
  // The parser keeps the case of hosts in schemes it does not know.
  const host = URL.parse(url)?.host.toLowerCase() ?? ''
  return host === '' || host.length > MOST_CHARACTERS ? null : host
}
