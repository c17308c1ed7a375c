// Spreads JSON text over lines without reading its values, so that every digit and every key stays as it is. Pure.

/** `text` is valid JSON without white space outside of strings, as `taskText` gives it. */
export function indentJson(text: string): string {
  let depth = 0
  const newline = () => `\n${'  '.repeat(depth)}`
  return text.replace(/"(?:[^"\\]|\\.)*"|\[\]|\{\}|[[\]{},:]/g, (token) => {
    if (token === '{' || token === '[') {
      depth += 1
      return token + newline()
    }
    if (token === '}' || token === ']') {
      depth -= 1
      return newline() + token
    }
    if (token === ',') return token + newline()
    return token === ':' ? ': ' : token
  })
}
