// The choice of host and period: controls that the page's script shows and handles, and the figures it needs for that.
import type { TaskFigures } from '../mirror/shown/figures.ts'
import { escapeHtml } from './html.ts'
import { binName, hostName } from './task-sections.ts'

/** Hidden until the script shows it; empty where there is nothing to choose. */
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

/** JSON that cannot end an element, whatever a host is called. */
function jsonInHtml(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}
