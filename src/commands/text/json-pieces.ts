// JSON text for people, in pieces and indented without parsing it: no step takes long, however large the text. Pure.

/** About how many characters a piece has. */
const PIECE = 65_536

/** `text` in pieces that split no surrogate pair. */
export function* jsonPieceTexts(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = start + PIECE
    const isSplit = (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
    yield text.slice(start, isSplit ? end + 1 : end)
    start = isSplit ? end + 1 : end
  }
}

/** Indents `text`, which must be valid JSON without white space outside of strings, as `taskText` gives it. */
export function* indentJson(text: string): Generator<string> {
  let depth = 0
  let piece = ''
  const newline = () => `\n${'  '.repeat(depth)}`
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string
    if (character === '"') {
      const end = stringEnd(text, at)
      if (end - at > PIECE) {
        yield piece
        yield* jsonPieceTexts(text.slice(at, end))
        piece = ''
      } else piece += text.slice(at, end)
      at = end - 1
    } else if (character === '{' || character === '[') {
      const next = text[at + 1]
      if (next === '}' || next === ']') {
        piece += character + next
        at += 1
      } else {
        depth += 1
        piece += character + newline()
      }
    } else if (character === '}' || character === ']') {
      depth -= 1
      piece += newline() + character
    } else if (character === ',') piece += character + newline()
    else piece += character === ':' ? ': ' : character
    if (piece.length > PIECE) {
      yield piece
      piece = ''
    }
  }
  yield piece
}

/** The index behind the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); ; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text[before - 1] === '\\') before -= 1
    if ((at - before) % 2 === 0) return at + 1
  }
}

/** What `JSON.stringify` returns, for a record made of strings, numbers, null, lists and records. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > PIECE) {
    yield '"'
    for (const part of jsonPieceTexts(value)) yield JSON.stringify(part).slice(1, -1)
    yield '"'
  } else if (Array.isArray(value)) {
    let mark = '['
    for (const each of value) {
      yield mark
      yield* jsonPieces(each)
      mark = ','
    }
    yield mark === '[' ? '[]' : ']'
  } else if (typeof value === 'object' && value !== null) {
    let mark = '{'
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      yield `${mark}${JSON.stringify(name)}:`
      yield* jsonPieces(member)
      mark = ','
    }
    yield mark === '{' ? '{}' : '}'
  } else yield JSON.stringify(value)
}
