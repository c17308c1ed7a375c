// Charts as SVG text, drawn by ECharts without a browser. Colours are names of CSS variables, so that one drawing suits
// light and dark. Knows nothing of what it draws.
import type { EChartsCoreOption } from 'echarts/core'

/** Stand-ins that ECharts takes for colours; each becomes `var(--name)` in the drawing. */
const STAND_INS = {
  text: '#0a0b01',
  line: '#0a0b02',
  good: '#0a0b03',
  bad: '#0a0b04',
  pale: '#0a0b05',
  open: '#0a0b06',
  one: '#0a0b07',
  two: '#0a0b08',
  three: '#0a0b09',
} as const
export type Colour = keyof typeof STAND_INS

export interface Series {
  name: string
  colour: Colour
  values: readonly (number | null)[]
}

export interface Chart {
  /** What a screen reader says instead of the drawing. */
  label: string
  kind: 'bars' | 'stacked' | 'rows' | 'lines'
  categories: readonly string[]
  series: readonly Series[]
  /** A logarithmic axis. */
  log?: boolean
  /** How values are written on the axis. */
  format?: (value: number) => string
}

/** Keeps the words of the axes inside of the drawing. */
const INSIDE = { outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' }
/** ECharts guesses how wide letters are; the reader's may be wider, by so many units each. */
const WIDER = 1.2
const WIDTH = 860
const HEIGHT = 300
const ROW_HEIGHT = 24

/** The whole drawing of one chart, `<svg …>…</svg>`. */
export async function drawChart(chart: Chart): Promise<string> {
  const { init, use } = await import('echarts/core')
  const { BarChart, LineChart } = await import('echarts/charts')
  const { GridComponent, LegendComponent } = await import('echarts/components')
  const { SVGRenderer } = await import('echarts/renderers')
  use([BarChart, LineChart, GridComponent, LegendComponent, SVGRenderer])
  const height = chart.kind === 'rows' ? 70 + ROW_HEIGHT * chart.categories.length : HEIGHT
  const drawing = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  try {
    drawing.setOption(optionOf(chart))
    return finish(drawing.renderToSVGString({ useViewBox: true }), chart.label)
  } finally {
    drawing.dispose()
  }
}

function optionOf({ kind, categories, series, log, format }: Chart): EChartsCoreOption {
  const { text, line } = STAND_INS
  const font = { color: text, fontSize: 12, fontFamily: 'system-ui, sans-serif' }
  const names = { type: 'category', data: [...categories], axisLine: { lineStyle: { color: line } } }
  const nameAxis = { ...names, axisTick: { show: false }, axisLabel: { ...font, hideOverlap: true } }
  const valueAxis = {
    type: log === true ? 'log' : 'value',
    minInterval: 1,
    splitLine: { lineStyle: { color: line } },
    axisLabel: { ...font, hideOverlap: true, ...(format === undefined ? {} : { formatter: format }) },
  }
  const isRows = kind === 'rows'
  return {
    animation: false,
    textStyle: font,
    legend: {
      show: series.length > 1,
      top: 0,
      left: 0,
      itemGap: 32,
      itemWidth: 14,
      textStyle: font,
      selectedMode: false,
    },
    grid: {
      left: isRows ? 8 + WIDER * Math.max(...categories.map((name) => name.length)) : 16,
      right: 24,
      top: series.length > 1 ? 34 : 12,
      bottom: 8,
      ...INSIDE,
    },
    xAxis: isRows ? valueAxis : nameAxis,
    yAxis: isRows ? { ...nameAxis, inverse: true, axisLabel: { ...font, interval: 0 } } : valueAxis,
    series: series.map(({ name, colour, values }) => ({
      name,
      type: kind === 'lines' ? 'line' : 'bar',
      data: values.map((value) => value ?? '-'),
      silent: true,
      emphasis: { disabled: true },
      ...(kind === 'lines'
        ? { symbol: 'circle', symbolSize: 5, connectNulls: false, lineStyle: { width: 2, color: STAND_INS[colour] } }
        : { barMaxWidth: 28, ...(kind === 'bars' ? {} : { stack: 'all' }) }),
      itemStyle: { color: STAND_INS[colour] },
    })),
  }
}

function finish(svg: string, label: string): string {
  // What ECharts adds for a page with a script says nothing here.
  const bare = svg
    .replace(/<style ?>[\s\S]*?<\/style>/, '')
    .replace(/ (?:class|pointer-events|ecmeta_\w+|xmlns:xlink|version|baseProfile)="[^"]*"/g, '')
  const coloured = Object.entries(STAND_INS).reduce(
    (drawn, [name, colour]) => drawn.replaceAll(colour, `var(--${name})`),
    bare,
  )
  const quoted = label.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
  return coloured.replace('<svg ', `<svg role="img" aria-label="${quoted}" `)
}
