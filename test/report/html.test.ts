import { expect, test } from 'vitest'
import { duration, percent, shortText, tableHtml } from '../../src/report/html.ts'

test('whatever a mirror holds is only ever text', () => {
  const rows = [{ name: '<script>alert("x")</script>', tasks: 1234 }]
  const html = tableHtml(
    'a & b',
    [
      { name: '<b>', value: ({ name }) => name },
      { name: 'n', value: ({ tasks }) => tasks },
    ],
    rows,
  )
  expect(html).toBe(
    '<div class="table" role="group" tabindex="0" aria-label="a &amp; b"><table><caption>a &amp; b</caption><thead><tr><th scope="col">&lt;b&gt;</th><th scope="col" class="n">n</th></tr></thead>' +
      '<tbody><tr><th scope="row">&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;</th><td class="n">1,234</td></tr></tbody></table></div>',
  )
})

test.each([
  ['ordinary.example', 'ordinary.example'],
  ['two\nlines\u0007', 'two lines '],
  ['turned\u202eelpmaxe', 'turned elpmaxe'],
  ['lone \ud800 surrogate', 'lone \ufffd surrogate'],
  ['x'.repeat(1_000_000), `${'x'.repeat(79)}…`],
  ['😀'.repeat(100), `${'😀'.repeat(79)}…`],
])('%j is shown as %j', (text, shown) => {
  expect(shortText(text)).toBe(shown)
})

test.each([
  [0, '0 ms'],
  [450.4, '450 ms'],
  [12_345, '12 s'],
  [90_000, '1.5 min'],
  [3_600_000, '1 h'],
  [47 * 3_600_000, '47 h'],
  [400 * 86_400_000, '400 d'],
])('%d ms is "%s"', (ms, text) => {
  expect(duration(ms)).toBe(text)
})

test('a share of nothing is not told', () => {
  expect([percent(1, 3), percent(0, 0)]).toEqual(['33.3 %', ''])
})
