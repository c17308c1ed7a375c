// The style of the report and of the status page: light and dark by the reader's setting, and on paper. Colours of text
// have a contrast of at least 4.5 to 1, those of charts of 3 to 1, in both.

export const STYLE = `
:root { --paper: #ffffff; --panel: #f5f6f8; --text: #1d2430; --soft: #555f70; --line: #d9dde4;
  --good: #2e7d5b; --bad: #c0392b; --pale: #7d8796; --open: #a86a00; --one: #2f5fb3; --two: #a86a00; --three: #b0307a; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181f; --panel: #1d232d; --text: #e6e9ee; --soft: #a9b2c0; --line: #353d4a;
    --good: #4fb286; --bad: #f07167; --pale: #8c96a6; --open: #e0a33a; --one: #7aa5f0; --two: #e0a33a; --three: #ea7fb5; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 920px; margin: 0 auto; padding: 24px 16px 48px; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; }
h2 { font-size: 1.15rem; margin: 0 0 4px; }
p { margin: 0 0 12px; }
.service { font-weight: 600; overflow-wrap: anywhere; margin: 4px 0 0; }
.about, section > p { color: var(--soft); }
section { margin-top: 32px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(240px, 1fr)); gap: 12px; margin: 8px 0 0; }
.tiles > div { background: var(--panel); border-radius: 8px; padding: 12px 16px; }
dt { color: var(--soft); font-size: 0.85rem; }
dd { margin: 0; }
dd b { display: block; font-size: 1.2rem; overflow-wrap: anywhere; }
dd span { color: var(--soft); font-size: 0.85rem; }
.chart, .table { overflow-x: auto; }
.chart svg { display: block; width: 100%; min-width: 560px; height: auto; }
details { margin-top: 8px; }
summary { cursor: pointer; color: var(--soft); font-size: 0.9rem; }
table { border-collapse: collapse; min-width: 50%; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: 4px 0; }
th, td { text-align: left; padding: 4px 20px 4px 0; white-space: nowrap; border-bottom: 1px solid var(--line); vertical-align: top; }
thead th { color: var(--soft); font-weight: 600; }
td:last-child:not(.n) { white-space: normal; overflow-wrap: anywhere; }
tbody th { font-weight: 400; white-space: normal; overflow-wrap: anywhere; }
th.n, td.n { text-align: right; }
.well, .unwell { background: var(--panel); border-left: 4px solid var(--good); border-radius: 4px; padding: 8px 12px; margin-top: 16px; }
.unwell { border-color: var(--bad); }
.controls { margin-top: 32px; display: flex; flex-wrap: wrap; gap: 16px; }
a { color: var(--one); }
:focus-visible { outline: 2px solid var(--one); outline-offset: 2px; }
@media print {
  :root { --paper: #ffffff; --panel: #ffffff; --text: #000000; --soft: #333333; --line: #bbbbbb;
    --good: #2e7d5b; --bad: #c0392b; --pale: #7d8796; --open: #a86a00; --one: #2f5fb3; --two: #a86a00; --three: #b0307a; }
  main { max-width: none; padding: 0; }
  section { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .chart svg { min-width: 0; }
  .chart, .table { overflow: visible; }
  .controls { display: none; }
}
`
