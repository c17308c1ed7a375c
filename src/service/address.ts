// Where requests go: origin and paths made from the base URL, and which ids a path can carry. Pure.
import { MirrorError } from '../errors.ts'

/** Parses a base URL; it may have a path and end in a slash. Throws `config-invalid` without repeating its secrets. */
export function readAddress(baseUrl: string) {
  const url = URL.parse(baseUrl)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw refuse('is no http or https URL', 'Set service.baseUrl to an address such as https://tasks.example.com/v1.')
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('holds a user name or password', 'Give the key as TASK_MIRROR_API_KEY instead.')
  }
  if (url.search !== '' || url.hash !== '') {
    throw refuse('holds a query or fragment', 'End service.baseUrl with its path; the key has its own setting.')
  }
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

function refuse(what: string, hint: string): MirrorError {
  return new MirrorError('config-invalid', `service.baseUrl ${what}`, { hint })
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
