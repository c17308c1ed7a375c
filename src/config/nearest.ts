// Finds the name that a misspelt one was meant to be. Pure.

const last = (text: string) => text.split('.').at(-1) ?? text

/** The one of `names` that `name` is most likely a misspelling of; null where none is within `most` changes. */
export function nearest(
  name: string,
  names: Iterable<string>,
  most = Math.max(2, last(name).length / 3),
): string | null {
  let best: { name: string; distance: number } | null = null
  for (const candidate of names) {
    // A right name in the wrong section costs one change.
    const whole = editDistance(name.toLowerCase(), candidate.toLowerCase())
    const part = 1 + editDistance(last(name).toLowerCase(), last(candidate).toLowerCase())
    const distance = Math.min(whole, part)
    if (distance <= most && (best === null || distance < best.distance)) {
      best = { name: candidate, distance }
    }
  }
  return best?.name ?? null
}

/** Levenshtein distance, with only two rows of the table in memory. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const change = a[row - 1] === b[column - 1] ? 0 : 1
      current.push(Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + change))
    }
    previous = current
  }
  return previous[b.length]!
}
