// The style of the report and the status page: light and dark by the reader's setting, and print. Contrast is at least
// 4.5 to 1 for text and 3 to 1 for charts, in both. The colours of outcomes differ also for readers who see no red, no
// green or no blue (test/report/colours.test.ts).

const LIGHT = `--paper: #ffffff; --panel: #f5f6f8; --text: #1d2430; --soft: #555f70; --line: #d9dde4;
  --c2xx: #0746e4; --c3xx: #0f97fb; --c4xx: #df7400; --c429: #734180; --c5xx: #ae3a0b; --cnone: #221a48; --cother: #5d1900;
  --copen: #94809a; --good: #0746e4; --bad: #ae3a0b; --one: #0746e4; --two: #df7400; --three: #734180;`
const DARK = `--paper: #14181f; --panel: #1d232d; --text: #e6e9ee; --soft: #a9b2c0; --line: #353d4a;
  --c2xx: #3391f6; --c3xx: #43d3f4; --c4xx: #dccc36; --c429: #fd919c; --c5xx: #fe1209; --cnone: #f8f3cb; --cother: #8b7b72;
  --copen: #3d6aaa; --good: #3391f6; --bad: #fd919c; --one: #5aa9ff; --two: #dccc36; --three: #fd919c;`

export const STYLE = `
:root { ${LIGHT} }
@media (prefers-color-scheme: dark) { :root { ${DARK} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1200px; margin: 0 auto; padding: 24px 16px 48px; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; }
h2 { font-size: 1.15rem; margin: 0 0 4px; }
p { margin: 0 0 12px; max-width: 80ch; overflow-wrap: break-word; }
.service { font-weight: 600; margin: 4px 0 0; }
.about, section > p { color: var(--soft); }
section { margin-top: 32px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(148px, 1fr)); gap: 12px; margin: 8px 0 0; }
.tiles > div { background: var(--panel); border-radius: 8px; padding: 10px 14px; }
dt { color: var(--soft); font-size: 0.85rem; }
dd { margin: 0; }
dd b { display: block; font-size: 1.1rem; overflow-wrap: break-word; }
dd span { color: var(--soft); font-size: 0.85rem; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 20px; list-style: none; margin: 0 0 6px; padding: 0; font-size: 0.85rem; }
.legend .key { width: 12px; height: 12px; margin-right: 6px; vertical-align: -1px; overflow: visible; }
.table { overflow-x: auto; }
/* The newest is on the right, with the axis: where there is no room for all, that is what is seen first. */
.wide { overflow-x: auto; direction: rtl; }
.wide svg { direction: ltr; display: block; width: 100%; min-width: 800px; height: auto; font: 13px system-ui, sans-serif; fill: var(--text); }
.grid { stroke: var(--line); }
.hit { fill: transparent; }
.mark:hover .hit { fill: var(--text); fill-opacity: 0.08; }
.mark rect:not(.hit) { stroke-width: 0.8; }
.part { fill-opacity: 0.35; stroke-dasharray: 3 2; }
.rows { display: grid; grid-template-columns: minmax(6ch, max-content) 1fr max-content; gap: 4px 10px; align-items: center; font-size: 0.85rem; max-width: 900px; }
.row { display: grid; grid-template-columns: subgrid; grid-column: 1 / -1; align-items: center; }
.row:hover { background: var(--panel); }
.row .name { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; max-width: min(46vw, 44ch); }
.row .bar { display: flex; height: 16px; gap: 1px; }
.row .bar i { display: block; min-width: 1px; }
.row .n { text-align: right; font-variant-numeric: tabular-nums; }
details { margin-top: 8px; }
summary { cursor: pointer; color: var(--soft); font-size: 0.9rem; }
table { border-collapse: collapse; min-width: 50%; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: 4px 0; }
th, td { text-align: left; padding: 4px 16px 4px 0; white-space: nowrap; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; white-space: normal; vertical-align: bottom; overflow-wrap: normal; min-width: 8ch; }
tbody th { font-weight: 400; }
td.text { white-space: normal; overflow-wrap: break-word; min-width: 20ch; max-width: 60ch; }
th.n, td.n { text-align: right; }
.well, .unwell, .past { background: var(--panel); border-left: 4px solid var(--good); border-radius: 4px; padding: 8px 12px; margin-top: 16px; max-width: none; }
.unwell { border-color: var(--bad); }
.past { border-color: var(--soft); }
.filter { display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center; margin-top: 32px; padding: 10px 14px; background: var(--panel); border-radius: 8px; font-size: 0.9rem; }
.filter[hidden] { display: none; }
.filter select { font: inherit; max-width: 70vw; color: var(--text); background: var(--paper); border: 1px solid var(--soft); border-radius: 4px; padding: 2px 4px; }
#chosen { color: var(--soft); }
#tip { position: fixed; z-index: 1; pointer-events: none; white-space: pre-line; max-width: 90vw; padding: 6px 10px; border-radius: 6px; background: var(--text); color: var(--paper); font-size: 0.85rem; line-height: 1.35; }
.controls { margin-top: 32px; display: flex; flex-wrap: wrap; gap: 16px; }
a { color: var(--one); }
:focus-visible { outline: 2px solid var(--one); outline-offset: 2px; }
@media print {
  :root { ${LIGHT} --panel: #ffffff; --text: #000000; --soft: #333333; --line: #bbbbbb; }
  main { max-width: none; padding: 0; }
  section { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .bar i { print-color-adjust: exact; }
  .wide svg { min-width: 0; }
  .wide, .table { overflow: visible; }
  .controls, .filter { display: none; }
}
`
