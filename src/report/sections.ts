// The parts that the report and the status page share, in their order.
import type { TaskFigures } from '../mirror/figures.ts'
import type { Recent } from '../mirror/recent.ts'
import type { MirrorStatus } from '../mirror/status.ts'
import { filterHtml } from './filter.ts'
import { openTasks } from './open-section.ts'
import { lastError, runs, setAside, tiles, type When } from './run-sections.ts'
import { taskSections, wholeSlice } from './task-sections.ts'

/** What a page shows of a mirror. Status and what was done last are read at once, figures over all tasks take a while. */
export interface Shown {
  status: MirrorStatus
  recent: Recent
  /** null while they are read for the first time. */
  figures: TaskFigures | null
}

/** All sections, as HTML. */
export function sectionsHtml({ status, recent, figures }: Shown, when: When): string {
  return [
    lastError(recent, when),
    tiles(status, recent, when),
    ...(figures === null
      ? []
      : [
          filterHtml(figures),
          `<div id="tasks-shown">${taskSections(figures, wholeSlice(figures))}</div>`,
          openTasks(figures.open),
        ]),
    runs(recent),
    setAside(recent),
  ].join('\n')
}
