// The choice of a host and a period: controls that the page's script shows and answers, and the figures it answers from.
import type { TaskFigures } from '../mirror/shown/figures.ts'
import { escapeHtml } from './html.ts'
import { binName, hostName } from './task-sections.ts'

/** Hidden until a script says that it answers; nothing where there is nothing to choose. */
export function filterHtml(figures: TaskFigures): string {
  if (figures.binMs === null) return ''
  const hosts = figures.hosts.map((host) => hostName(host))
  const bins = Array.from({ length: figures.bins }, (_, bin) => binName(figures, bin))
  return `<div class="filter" id="filter" role="group" aria-label="Choose tasks" hidden>${[
    select('host', 'Host', hosts, 0),
    select('from', 'From', bins, 0),
    select('to', 'To', bins, figures.bins - 1),
  ].join('')}<span id="chosen" role="status"></span></div>
<script type="application/json" id="figures">${jsonInHtml(figures)}</script>`
}

function select(id: string, label: string, names: readonly string[], chosen: number): string {
  const options = names.map(
    (name, index) => `<option value="${index}"${index === chosen ? ' selected' : ''}>${escapeHtml(name)}</option>`,
  )
  return `<label>${label} <select id="${id}" autocomplete="off">${options.join('')}</select></label>`
}

/** JSON that ends no element, whatever a host is called. */
function jsonInHtml(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
