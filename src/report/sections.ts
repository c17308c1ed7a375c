// The parts that the report and the status page share, in their order.
import type { Figures } from '../mirror/figures.ts'
import type { MirrorStatus } from '../mirror/status.ts'
import { runs, setAside, tiles } from './run-sections.ts'
import { durations, hosts, openTasks, statusCodes, tasksOverTime } from './task-sections.ts'

/** All sections, as HTML. */
export async function sectionsHtml(status: MirrorStatus, figures: Figures, now: number): Promise<string> {
  return [
    tiles(status, figures, now),
    await tasksOverTime(figures),
    await durations(figures),
    await hosts(figures),
    await statusCodes(figures),
    await openTasks(figures),
    await runs(figures),
    await setAside(figures),
  ].join('\n')
}
