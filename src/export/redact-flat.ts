// Replaces values in the text of an object of strings without escapes and white space, as nearly every header stands in a
// mirror: by finding its quotes, several times faster than by regular expressions. Pure; gives up on any other text.

const OPEN = 0x7b
const CLOSE = 0x7d
const QUOTE = 0x22
const COLON = 0x3a
const COMMA = 0x2c

export interface FlatRedactor {
  /** The text with `replacement` as the value of every wanted name, or null where it is of another form. */
  redact(text: string): string | null
  /** Lower-case names whose values were replaced the last time, in order. Only good until the next time. */
  readonly found: readonly string[]
}

/**
 * `names` and `holders` are lower-case ASCII; `replacement` is JSON text. A text with the name of a holder, whose value may
 * be headers in itself, is given up.
 */
export function makeFlatRedactor(
  names: readonly string[],
  replacement: string,
  holders: readonly string[] = [],
): FlatRedactor {
  const wanted = new Set(names)
  const byLength: string[][] = []
  for (const name of new Set([...names, ...holders])) {
    while (byLength.length <= name.length) byLength.push([])
    byLength[name.length]!.push(name)
  }
  const found: string[] = []

  /** The name that stands at `from`, in any case of its ASCII letters; null where it is none of those known. */
  function nameAt(text: string, from: number, length: number): string | null {
    if (length >= byLength.length) return null
    for (const name of byLength[length]!) {
      let i = 0
      while (i < length && isSame(text.charCodeAt(from + i), name.charCodeAt(i))) i++
      if (i === length) return name
    }
    return null
  }

  return {
    found,
    redact(text) {
      found.length = 0
      // Without a backslash every quote begins or ends a string.
      if (text.charCodeAt(0) !== OPEN || text.includes('\\')) return null
      if (text.length === 2) return text.charCodeAt(1) === CLOSE ? text : null
      let result = ''
      let kept = 0
      for (let at = 1; ; at++) {
        if (text.charCodeAt(at) !== QUOTE) return null
        const colon = text.indexOf('"', at + 1) + 1
        if (text.charCodeAt(colon) !== COLON || text.charCodeAt(colon + 1) !== QUOTE) return null
        const behind = text.indexOf('"', colon + 2) + 1
        if (behind === 0) return null
        // Such a name may be another one, but for white space around it.
        if (isBeyond(text.charCodeAt(at + 1)) || isBeyond(text.charCodeAt(colon - 2))) return null
        const name = nameAt(text, at + 1, colon - at - 2)
        if (name !== null) {
          if (!wanted.has(name)) return null
          found.push(name)
          result += text.slice(kept, colon + 1) + replacement
          kept = behind
        }
        at = behind
        const next = text.charCodeAt(at)
        if (next === COMMA) continue
        if (next !== CLOSE || at !== text.length - 1) return null
        return kept === 0 ? text : result + text.slice(kept)
      }
    },
  }
}

/** Whether `code` is `wanted`, a lower-case one, or its upper case. */
function isSame(code: number, wanted: number): boolean {
  return code === wanted || (code === wanted - 0x20 && wanted >= 0x61 && wanted <= 0x7a)
}

/** Whether it is no visible ASCII character. */
function isBeyond(code: number): boolean {
  return code <= 0x20 || code >= 0x7f
}
