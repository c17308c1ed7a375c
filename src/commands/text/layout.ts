// Lays out text for people: label and value pairs, small tables. Pure.
import { grouped } from '../../shown.ts'

/** `text` in lines of at most `width` characters, broken between `words`; a longer word stays whole. */
export function fold(text: string, width: number, words: readonly string[] = text.split(' ')): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** In fewer columns, folded text is harder to read than text that the terminal breaks itself. */
const LEAST_WIDTH = 16

/** Lines of `label  value`, with values aligned and folded to `width`. Pairs whose value is null are left out. */
export function pairs(
  rows: readonly (readonly [label: string, value: string | null])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const kept = rows.filter((row): row is readonly [string, string] => row[1] !== null)
  const indent = Math.max(0, ...kept.map(([label]) => label.length)) + 2
  const room = Math.max(LEAST_WIDTH, width - indent)
  return kept
    .map(([label, value]) => {
      const lines = value.split('\n').flatMap((line) => fold(line, room))
      return `${label.padEnd(indent)}${lines.join(`\n${' '.repeat(indent)}`)}`
    })
    .join('\n')
}

type Cell = string | number | bigint | null

interface TableLayout {
  /** Longer cells are cut to this many characters. */
  widest?: number
  /** Width of the terminal. */
  width?: number
  /** Indexes of the columns that hold sentences; they are folded where the table is too wide. */
  sentences?: readonly number[]
}

/** A table with a header; numbers are right-aligned. To fit `width`, sentences are folded, then columns left out. */
export function table(
  columns: readonly string[],
  rows: readonly (readonly Cell[])[],
  { widest = 60, width = Number.POSITIVE_INFINITY, sentences = [] }: TableLayout = {},
): string {
  const cells = rows.map((row) => row.map((cell) => cellText(cell, widest)))
  const widths = columns.map((name, index) => Math.max(name.length, ...cells.map((row) => (row[index] ?? '').length)))
  const right = columns.map(
    (_, index) => rows.length > 0 && rows.every((row) => typeof row[index] !== 'string' && row[index] !== undefined),
  )
  const wide = () => widths.reduce((sum, one) => sum + one + 2, -2)
  const shrinkable = () =>
    sentences.filter((index) => widths[index]! > LEAST_WIDTH).sort((one, other) => widths[other]! - widths[one]!)
  while (wide() > width) {
    const [widestSentence] = shrinkable()
    if (widestSentence !== undefined) widths[widestSentence]! -= 1
    else if (widths.length > 1) widths.pop()
    else break
  }
  const line = (row: readonly string[]) =>
    widths
      .map((room, index) => (right[index] ? (row[index] ?? '').padStart(room) : (row[index] ?? '').padEnd(room)))
      .join('  ')
      .trimEnd()
  const lines = (row: readonly string[]) => {
    const folded = row.slice(0, widths.length).map((cell, index) => fold(cell, widths[index]!))
    const height = Math.max(1, ...folded.map(({ length }) => length))
    return Array.from({ length: height }, (_, at) => line(folded.map((cell) => cell[at] ?? '')))
  }
  const leftOut = columns.slice(widths.length)
  return [
    line(columns),
    line(widths.map((one) => '-'.repeat(one))),
    ...cells.flatMap(lines),
    ...(leftOut.length === 0 ? [] : fold(`A wider terminal or --json shows: ${leftOut.join(', ')}.`, width)),
  ].join('\n')
}

function cellText(value: Cell, widest: number): string {
  if (value === null) return ''
  if (typeof value !== 'string') return grouped(value)
  const flat = value.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
  return flat.length > widest ? `${flat.slice(0, widest - 1)}…` : flat
}
