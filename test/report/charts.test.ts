import { expect, test } from 'vitest'
import { type Chart, countTicks, drawChart, durationTicks } from '../../src/report/charts.ts'
import { duration } from '../../src/report/html.ts'

test.each([
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 2, 4, 6, 8]],
  [100, [0, 25, 50, 75, 100]],
  [5557, [0, 2000, 4000, 6000]],
])('an axis of counts up to %d has the round labels %j', (most, ticks) => {
  expect(countTicks(most)).toEqual(ticks)
})

test.each([
  [8_000, 58_000, ['5 s', '10 s', '20 s', '30 s', '1 min']],
  [200, 9_000_000, ['100 ms', '1 s', '10 s', '1 min', '10 min', '1 h', '6 h']],
  [1, 1, ['1 ms', '2 ms']],
  [3_600_000, 400 * 86_400_000, ['1 h', '6 h', '24 h', '10 d', '100 d', '1000 d']],
  [60_000, 60_000, ['1 min', '2 min']],
])('a logarithmic axis from %d to %d ms has the round labels %j', (least, most, labels) => {
  const ticks = durationTicks(least, most)
  expect(ticks.map(duration)).toEqual(labels)
  expect(ticks[0]).toBeLessThanOrEqual(least)
  expect(ticks.at(-1)).toBeGreaterThanOrEqual(most)
})

const chart: Chart = {
  label: 'Tasks & <more>',
  kind: 'columns',
  categories: [{ name: 'a' }, { name: 'b', note: 'until noon', isPartial: true }],
  series: [
    { name: 'well', colour: 'good', values: [1, 2] },
    { name: 'badly', colour: 'bad', values: [3, 4] },
  ],
  format: String,
}

test.each(['columns', 'lines', 'dots', 'rows'] as const)('every mark of %s says what it stands for', (kind) => {
  const drawn = drawChart({ ...chart, kind })
  const tips =
    kind === 'rows'
      ? [...drawn.matchAll(/<div class="row" title="([^"]*)"/g)]
      : [...drawn.matchAll(/<g class="mark"><title>([^<]*)<\/title>/g)]
  expect(tips.map(([, tip]) => tip)).toEqual(['a\nwell 1\nbadly 3', 'b (until noon)\nwell 2\nbadly 4'])
  expect(drawn).toContain('aria-label="Tasks &amp; &lt;more&gt;"')
  expect(drawn).not.toMatch(/NaN|Infinity|undefined/)
})

test('the newest period is always named, and names leave each other room', () => {
  const categories = Array.from({ length: 100 }, (_, index) => ({ name: `n${index}` }))
  const drawn = drawChart({
    ...chart,
    categories,
    series: [{ name: 'one', colour: 'one', values: categories.map(() => 1) }],
  })
  const names = [...drawn.matchAll(/text-anchor="middle">(n\d+)</g)].map(([, name]) => name)
  expect(names.at(-1)).toBe('n99')
  expect(names.length).toBeLessThan(10)
})

test('durations longer than the longest label are drawn on an axis with that label alone', () => {
  const values = [30_000 * 86_400_000, 40_000 * 86_400_000]
  const drawn = drawChart({ ...chart, kind: 'lines', isLog: true, series: [{ name: 'long', colour: 'one', values }] })
  expect(drawn).not.toMatch(/NaN|Infinity|undefined/)
})

test('nothing and one make drawings, too', () => {
  for (const kind of ['columns', 'lines', 'dots', 'rows'] as const) {
    const none = drawChart({
      ...chart,
      kind,
      categories: [{ name: 'a' }],
      series: [{ name: 'n', colour: 'one', values: [0] }],
    })
    expect(none).not.toMatch(/NaN|Infinity|undefined/)
  }
})
