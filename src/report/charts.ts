// Charts as text: SVG where time runs to the right, HTML where bars have names. Colours are CSS variables, so that one
// drawing suits light and dark; every mark has a tooltip. Pure and independent of what is drawn: the page's script
// draws with this code as well.
import { DAY_MS, HOUR_MS } from '../clock.ts'
import { escapeHtml } from './html.ts'

/** A custom property of style.ts, without its dashes. */
export type Colour =
  | 'c2xx'
  | 'c3xx'
  | 'c4xx'
  | 'c429'
  | 'c5xx'
  | 'cnone'
  | 'cother'
  | 'copen'
  | 'good'
  | 'bad'
  | 'one'
  | 'two'
  | 'three'

export interface Series {
  name: string
  colour: Colour
  /** One for each category; null where there is no value. */
  values: readonly (number | null)[]
}

export interface Category {
  name: string
  /** What the tooltip says beside the values. */
  note?: string
  /** Only a part of its period is included, so its marks are hollow. */
  isPartial?: boolean
}

export interface Chart {
  /** The text for screen readers. */
  label: string
  /** `columns`, `lines` and `dots` have a horizontal axis of time, the newest on the right; `rows` have names. */
  kind: 'columns' | 'lines' | 'dots' | 'rows'
  categories: readonly Category[]
  series: readonly Series[]
  /** How values are written. */
  format: (value: number) => string
  /** Durations in ms, on a logarithmic axis. */
  isLog?: boolean
}

const WIDTH = 1000
const HEIGHT = 280
/** Space around the plot. The axis of values is on the right, beside the newest values. */
const EDGE = { left: 6, right: 72, top: 10, bottom: 26 }
const PLOT = { width: WIDTH - EDGE.left - EDGE.right, height: HEIGHT - EDGE.top - EDGE.bottom }
/** At most this many names on the horizontal axis. */
const MOST_NAMES = 9

/** The whole chart, with a legend where there is more than one series. */
export function drawChart(chart: Chart): string {
  return `${legend(chart)}${chart.kind === 'rows' ? drawRows(chart) : drawTime(chart)}`
}

function legend({ series, kind }: Chart): string {
  if (series.length < 2) return ''
  const shape = kind === 'columns' || kind === 'rows' ? 'box' : 'dot'
  const items = series.map(
    ({ name, colour }, index) =>
      `<li><svg class="key" viewBox="0 0 12 12" aria-hidden="true">${
        shape === 'box'
          ? `<rect width="12" height="12" fill="var(--${colour})"/>`
          : mark(kind === 'dots' ? index : 0, 6, 6, `fill="var(--${colour})"`)
      }</svg>${escapeHtml(name)}</li>`,
  )
  return `<ul class="legend">${items.join('')}</ul>`
}

/** The tooltip of a category: its name and its value in every series. */
function tipOf({ categories, series, format }: Chart, index: number): string {
  const { name, note } = categories[index] as Category
  const values = series.flatMap(({ name: of, values: all }) => {
    const value = all[index] ?? null
    return value === null || (value === 0 && series.length > 2) ? [] : [`${of} ${format(value)}`]
  })
  return [note === undefined ? name : `${name} (${note})`, ...values].join('\n')
}

function drawRows(chart: Chart): string {
  const { categories, series, format } = chart
  const totals = categories.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const most = Math.max(1, ...totals)
  const rows = categories.map(({ name }, index) => {
    const parts = series.map(({ values, colour }) => {
      const share = (100 * (values[index] ?? 0)) / most
      return share === 0 ? '' : `<i style="width:${short(share)}%;background:var(--${colour})"></i>`
    })
    const tip = escapeHtml(tipOf(chart, index))
    return `<div class="row" title="${tip}"><span class="name">${escapeHtml(name)}</span><span class="bar">${parts.join('')}</span><span class="n">${escapeHtml(format(totals[index] as number))}</span></div>`
  })
  return `<div class="rows" role="img" aria-label="${escapeHtml(chart.label)}">${rows.join('')}</div>`
}

interface Scale {
  /** The distance of a value from the top of the drawing. */
  at(value: number): number
  ticks: number[]
}

function drawTime(chart: Chart): string {
  const { categories, kind, label } = chart
  const scale = scaleOf(chart)
  const step = stepOf(categories)
  const middle = (index: number) => EDGE.left + (index + 0.5) * step
  const axis = scale.ticks.map((tick) => {
    const y = short(scale.at(tick))
    return `<path d="M${EDGE.left} ${y}H${WIDTH - EDGE.right}" class="grid"/><text x="${WIDTH - EDGE.right + 8}" y="${y}" dy=".35em">${escapeHtml(chart.format(tick))}</text>`
  })
  // Counted from the newest category, so that it always has a name.
  const every = Math.ceil(categories.length / MOST_NAMES)
  const names = categories.map(({ name }, index) => {
    if ((categories.length - 1 - index) % every !== 0) return ''
    const half = 3.6 * name.length
    const x = Math.min(Math.max(middle(index), EDGE.left + half), WIDTH - EDGE.right + 60 - half)
    return `<text x="${short(x)}" y="${HEIGHT - 8}" text-anchor="middle">${escapeHtml(name)}</text>`
  })
  const draw = kind === 'columns' ? drawColumn : drawMarks
  const marks = categories.map((_, index) => {
    const hit = `<rect x="${short(EDGE.left + index * step)}" y="${EDGE.top}" width="${short(step)}" height="${PLOT.height}" class="hit"/>`
    const tip = `<title>${escapeHtml(tipOf(chart, index))}</title>`
    return `<g class="mark">${tip}${hit}${draw(chart, index, scale, middle(index))}</g>`
  })
  const lines = kind === 'lines' ? chart.series.map((series) => drawLine(chart, series, scale, middle)) : []
  return `<div class="wide" role="group" tabindex="0" aria-label="${escapeHtml(label)}"><svg role="img" aria-label="${escapeHtml(label)}" viewBox="0 0 ${WIDTH} ${HEIGHT}">${[...axis, ...names, ...lines, ...marks].join('')}</svg></div>`
}

/** The width of one category. */
function stepOf({ length }: Chart['categories']): number {
  return PLOT.width / Math.max(1, length)
}

/** Attributes of a mark: filled, or hollow where its period is partial. */
function paint(colour: Colour, isPartial: boolean | undefined): string {
  const fill = `fill="var(--${colour})"`
  return isPartial === true ? `${fill} class="part" stroke="var(--${colour})"` : fill
}

function drawColumn({ categories, series }: Chart, index: number, scale: Scale, x: number): string {
  const width = Math.min(28, Math.max(1, stepOf(categories) * 0.78))
  let below = 0
  return series
    .map(({ colour, values }) => {
      const value = values[index] ?? 0
      if (value === 0) return ''
      const [bottom, top] = [scale.at(below), scale.at(below + value)]
      below += value
      return `<rect x="${short(x - width / 2)}" y="${short(top)}" width="${short(width)}" height="${short(Math.max(0.6, bottom - top))}" ${paint(colour, categories[index]?.isPartial)}/>`
    })
    .join('')
}

function drawMarks({ kind, categories, series }: Chart, index: number, scale: Scale, x: number): string {
  return series
    .map(({ colour, values }, place) => {
      const value = values[index] ?? null
      if (value === null) return ''
      const y = scale.at(value)
      const painted = paint(colour, categories[index]?.isPartial)
      if (kind === 'lines') return mark(0, x, y, painted)
      // Each series has a shape of its own, and a stem from the axis.
      const stem = `<path d="M${short(x)} ${EDGE.top + PLOT.height}V${short(y)}" stroke="var(--${colour})"/>`
      return `${stem}${mark(place, x, y, painted)}`
    })
    .join('')
}

/** A circle, a diamond or a square. */
function mark(shape: number, x: number, y: number, paint: string): string {
  if (shape === 0) return `<circle cx="${short(x)}" cy="${short(y)}" r="3.4" ${paint}/>`
  if (shape === 1) return `<path d="M${short(x)} ${short(y - 5.6)}l5.6 5.6l-5.6 5.6l-5.6 -5.6z" ${paint}/>`
  return `<rect x="${short(x - 4)}" y="${short(y - 4)}" width="8" height="8" ${paint}/>`
}

/** A line with gaps where values are missing, dashed to and from partial periods. */
function drawLine(
  { categories }: Chart,
  { colour, values }: Series,
  scale: Scale,
  middle: (i: number) => number,
): string {
  const paths = { whole: '', part: '' }
  for (let index = 1; index < values.length; index += 1) {
    const [from, to] = [values[index - 1] ?? null, values[index] ?? null]
    if (from === null || to === null) continue
    const isPart = categories[index - 1]?.isPartial === true || categories[index]?.isPartial === true
    paths[isPart ? 'part' : 'whole'] +=
      `M${short(middle(index - 1))} ${short(scale.at(from))}L${short(middle(index))} ${short(scale.at(to))}`
  }
  const path = (d: string, more: string) =>
    d === '' ? '' : `<path d="${d}" fill="none" stroke="var(--${colour})" stroke-width="1.6"${more}/>`
  return path(paths.whole, '') + path(paths.part, ' stroke-dasharray="3 3"')
}

function scaleOf({ kind, categories, series, isLog }: Chart): Scale {
  const place = (share: number) => EDGE.top + PLOT.height * (1 - share)
  if (isLog === true) {
    const values = series.flatMap((one) => one.values.filter((value) => value !== null))
    // Dots stand on stems, and the lowest dot needs a stem too.
    const ticks = durationTicks(Math.min(...values) / (kind === 'dots' ? 2 : 1), Math.max(...values))
    const [low, high] = [Math.log(ticks[0] as number), Math.log(ticks.at(-1) as number)]
    const at = (value: number) =>
      place(Math.min(1, Math.max(0, (Math.log(Math.max(value, 1)) - low) / (high - low || 1))))
    return { at, ticks }
  }
  const tops = categories.map((_, index) => {
    const values = series.map((one) => one.values[index] ?? 0)
    return kind === 'columns' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values)
  })
  const ticks = countTicks(Math.max(1, ...tops))
  return { at: (value) => place(value / (ticks.at(-1) as number)), ticks }
}

/** Round numbers from 0 to at least `most`, four or five of them where there is room. */
export function countTicks(most: number): number[] {
  const rough = most / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough
  const whole = Math.max(1, Math.ceil(step))
  return Array.from({ length: Math.ceil(most / whole) + 1 }, (_, index) => index * whole)
}

const SECOND = 1000
const MINUTE = 60 * SECOND
/** Round durations, about a factor of ten apart; the second list adds those between. */
const LADDER = [
  ...[1, 10, 100],
  ...[1, 10].map((n) => n * SECOND),
  ...[1, 10].map((n) => n * MINUTE),
  ...[1, 6].map((n) => n * HOUR_MS),
  ...[1, 10, 100, 1000].map((n) => n * DAY_MS),
]
const FINE_LADDER = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 20, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 20, 30].map((n) => n * MINUTE),
  ...[1, 2, 6, 12].map((n) => n * HOUR_MS),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000].map((n) => n * DAY_MS),
]

/** Round durations in ms; the first is at most `least`, the last at least `most`. */
export function durationTicks(least: number, most: number): number[] {
  const within = (ladder: readonly number[]) => {
    const first = ladder.findLastIndex((value) => value <= least)
    const last = ladder.findIndex((value) => value >= most && value > least)
    return ladder.slice(Math.max(0, first), (last === -1 ? ladder.length : last) + 1)
  }
  const coarse = within(LADDER)
  return coarse.length >= 4 ? coarse : within(FINE_LADDER)
}

/** A coordinate with one decimal, which is exact enough. */
function short(value: number): string {
  return String(Math.round(value * 10) / 10)
}
