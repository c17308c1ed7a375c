// One section of a page: a heading, a sentence, a chart, and a table with the same values.
import { type Chart, drawChart } from './charts.ts'
import { escapeHtml, type TableColumn, tableHtml } from './html.ts'

/** Longer tables are folded. */
const UNFOLDED_ROWS = 20

interface Section<Row> {
  id: string
  title: string
  intro: string
  chart: Chart
  caption: string
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
}

export function section<Row>({ id, title, intro, chart, caption, columns, rows }: Section<Row>): string {
  const open = rows.length <= UNFOLDED_ROWS ? ' open' : ''
  return `<section aria-labelledby="${id}"><h2 id="${id}">${escapeHtml(title)}</h2><p>${escapeHtml(intro)}</p>
<div class="chart">${drawChart(chart)}</div>
<details${open}><summary>${escapeHtml(title)} as a table</summary>${tableHtml(caption, columns, rows)}</details></section>`
}

/** For a section with nothing to draw: the heading and a sentence. */
export function emptySection(id: string, title: string, sentence: string): string {
  return `<section aria-labelledby="${id}"><h2 id="${id}">${escapeHtml(title)}</h2><p>${escapeHtml(sentence)}</p></section>`
}
