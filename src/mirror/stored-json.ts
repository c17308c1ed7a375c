// JSON as the mirror keeps it: text that is none is damage, like a page that cannot be read.

/** Throws an error with SQLite's code for a damaged file, which `explain` puts into words. */
export function storedJson<T>(text: string, parse: (text: string) => unknown = JSON.parse): T {
  try {
    return parse(text) as T
  } catch (cause) {
    throw Object.assign(new Error('what it keeps as JSON is none', { cause }), { code: 'SQLITE_CORRUPT' })
  }
}
