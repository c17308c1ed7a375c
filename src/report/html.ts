// Small pieces of HTML: escaping, tables, figures in words. Content of the mirror only ever becomes text here. Pure.
import { grouped } from '../shown.ts'

/** Longer texts are cut, so that a page stays small whatever a task contains. */
const LONGEST = 80

/** `text` as the content of an element or of an attribute in double quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** Text from the mirror, cut, without control characters and marks that change the writing direction. */
export function shortText(text: string, longest = LONGEST): string {
  const flat = text
    .slice(0, 4 * longest)
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .toWellFormed()
  const letters = [...flat]
  return letters.length > longest ? `${letters.slice(0, longest - 1).join('')}…` : flat
}

export interface TableColumn<Row> {
  name: string
  /** Numbers are right-aligned. */
  value: (row: Row) => string | number | null
  /** For sentences, which wrap: they are cut to this many characters. */
  longest?: number
}

/** A table with a caption, in a frame that scrolls; the first column is the header of its row. */
export function tableHtml<Row>(caption: string, columns: readonly TableColumn<Row>[], rows: readonly Row[]): string {
  const isNumber = ({ value }: TableColumn<Row>) => {
    const contents = rows.map(value).filter((content) => content !== '' && content !== null)
    return contents.length > 0 && contents.every((content) => typeof content === 'number')
  }
  const head = columns.map(
    (column) => `<th scope="col"${isNumber(column) ? ' class="n"' : ''}>${escapeHtml(column.name)}</th>`,
  )
  const body = rows.map((row) => {
    const cells = columns.map(({ value, longest }, index) => {
      const content = value(row)
      const text = typeof content === 'number' ? grouped(content) : escapeHtml(shortText(content ?? '', longest))
      const kind = typeof content === 'number' ? ' class="n"' : longest === undefined ? '' : ' class="text"'
      return index === 0 ? `<th scope="row"${kind}>${text}</th>` : `<td${kind}>${text}</td>`
    })
    return `<tr>${cells.join('')}</tr>`
  })
  const name = escapeHtml(caption)
  return `<div class="table" role="group" tabindex="0" aria-label="${name}"><table><caption>${name}</caption><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}</tbody></table></div>`
}

/** "2026-11-20 06:24 UTC". */
export function minute(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** "450 ms", "12.3 s", "4.5 min", "3.2 h", "12 d". */
export function duration(ms: number): string {
  const steps = [
    [1000, 1, 'ms'],
    [60_000, 1000, 's'],
    [3_600_000, 60_000, 'min'],
    [48 * 3_600_000, 3_600_000, 'h'],
    [Number.POSITIVE_INFINITY, 86_400_000, 'd'],
  ] as const
  const [, unit, name] = steps.find(([below]) => ms < below) ?? steps[4]
  const value = ms / unit
  return `${unit === 1 || value >= 100 ? Math.round(value) : Number(value.toPrecision(2))} ${name}`
}

export function percent(part: number, whole: number): string {
  return whole === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`
}
