// Where requests go: origin and paths made from the base URL, and which ids a path can carry. Pure.
/** The parts of a base URL, which the configuration has checked; it may have a path and end in a slash. */
export function readAddress(baseUrl: string) {
  const url = new URL(baseUrl)
  const base = url.pathname.replace(/\/+$/, '')
  return {
    /** Scheme, host and port: the only place the key may go. */
    origin: url.origin,
    /** Path of the list, ready to be sent as it is. */
    listPath: `${base}/tasks/list`,
    /** Path of one task, ready to be sent as it is. Only for ids that `isAskable`. */
    taskPath: (id: string): string => `${base}/tasks/${encodeURIComponent(id)}`,
  }
}

/**
 * Whether an id can be asked for by path and reach the service as it is. Not the empty id, not one with half a
 * surrogate pair, and not a dot segment: `.` and `..`, also spelled `%2e` at any depth, are resolved by URL parsers,
 * proxies and servers, and another resource would answer.
 */
export function isAskable(id: string): boolean {
  if (id === '' || !id.isWellFormed()) return false
  const plain = id.replace(/%(?:25)*2e/gi, '.')
  return plain !== '.' && plain !== '..'
}
