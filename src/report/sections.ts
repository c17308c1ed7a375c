// The sections that the report and the status page share, in order.
import type { TaskFigures } from '../mirror/shown/figures.ts'
import type { Recent } from '../mirror/shown/recent.ts'
import type { MirrorStatus } from '../mirror/shown/status.ts'
import { filterHtml } from './filter.ts'
import { lateness, openTasks } from './open-section.ts'
import { runs, setAside, tiles, type When } from './run-sections.ts'
import { taskSections, wholeSlice } from './task-sections.ts'

/** What a page shows of a mirror. Status and recent runs are read quickly; figures over all tasks take a while. */
export interface Shown {
  status: MirrorStatus
  recent: Recent
  /** null while they are read for the first time. */
  figures: TaskFigures | null
}

/** HTML by the figures it shows: a page that is often asked for is redrawn only after a new count. */
const drawn = new WeakMap<TaskFigures, string>()

function figuresHtml(figures: TaskFigures): string {
  const known = drawn.get(figures)
  if (known !== undefined) return known
  const shown = `<div id="tasks-shown">${taskSections(figures, wholeSlice(figures))}</div>`
  const html = [filterHtml(figures), shown, openTasks(figures.open), lateness(figures.open)].join('\n')
  drawn.set(figures, html)
  return html
}

/** All sections but the last error, as HTML. */
export function sectionsHtml({ status, recent, figures }: Shown, when: When): string {
  return [
    tiles(status, recent, when),
    ...(figures === null ? [] : [figuresHtml(figures)]),
    runs(recent),
    setAside(recent),
  ].join('\n')
}
