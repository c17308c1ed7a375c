// An independent reader of JSON for tests: one spelling for all texts that mean the same, with numbers by their digits.
// Shares no code with src/ and never turns a number into a double.

/** The text without white space, keys sorted, the last of duplicate keys, strings in one spelling, numbers as written. */
export function canonical(text: string): string {
  let at = 0
  const next = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found === undefined) throw new SyntaxError(`unexpected text at ${at}`)
    at += found.length
    return found
  }
  const space = () => next(/[ \t\n\r]*/y)
  const string = () => JSON.stringify(JSON.parse(next(/"(?:[^"\\]|\\.)*"/y)))
  const list = (close: string, element: () => void): void => {
    at++
    space()
    while (text[at] !== close) {
      element()
      space()
      if (text[at] === ',') at++
      space()
    }
    at++
  }
  const value = (): string => {
    space()
    if (text[at] === '"') return string()
    if (text[at] === '[') {
      const elements: string[] = []
      list(']', () => elements.push(value()))
      return `[${elements.join()}]`
    }
    if (text[at] === '{') {
      const members = new Map<string, string>()
      list('}', () => {
        const name = string()
        space()
        next(/:/y)
        members.set(name, value())
      })
      return `{${[...members.keys()]
        .sort()
        .map((name) => `${name}:${members.get(name)}`)
        .join()}}`
    }
    return next(/true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y)
  }
  const result = value()
  space()
  if (at !== text.length) throw new SyntaxError(`text goes on at ${at}`)
  return result
}
