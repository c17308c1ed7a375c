// Text of others for one line of a message: bounded, and without anything that a terminal would obey.

const MOST_CHARACTERS = 120

/** Printable ASCII stays; each run of anything else becomes one `?`. */
export function oneLine(text: string): string {
  const short = text.slice(0, MOST_CHARACTERS)
  return short.replace(/[^\x20-\x7e]+/g, '?') + (text.length > MOST_CHARACTERS ? '...' : '')
}
