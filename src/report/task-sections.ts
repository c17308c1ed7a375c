// What the report says of tasks: how many when, how they ended, how long they took, where they went. Sensible for no
// task, ten and a million.
import { type Figures, type HostFigures, OPEN_AGES_MS, type TimeBin } from '../mirror/figures.ts'
import { type Column, duration, grouped, percent, plain, tableHtml } from './html.ts'
import { emptySection, section } from './section.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MOST_CODES = 15

/** How a bin is called on the axis: `11-20 14:00`, `2026-11-20`. */
function binName(start: number, binMs: number): string {
  const iso = new Date(start).toISOString()
  return binMs < DAY_MS ? iso.slice(5, 16).replace('T', ' ') : iso.slice(0, 10)
}

function binNoun(binMs: number): string {
  if (binMs === HOUR_MS) return 'hour'
  if (binMs === DAY_MS) return 'day'
  return binMs === 7 * DAY_MS ? 'week' : `${binMs / DAY_MS / 7} weeks`
}

export async function tasksOverTime({ bins, binMs, undated }: Figures): Promise<string> {
  const title = 'Tasks over time'
  if (binMs === null) return emptySection('tasks', title, 'There are no tasks yet.')
  const categories = bins.map(({ start }) => binName(start, binMs))
  const columns: Column<TimeBin>[] = [
    { name: 'Created', value: ({ start }) => binName(start, binMs) },
    { name: 'Answered below 400', value: ({ tasks }) => tasks.answered },
    { name: '400 and above', value: ({ tasks }) => tasks.failed },
    { name: 'Final without answer', value: ({ tasks }) => tasks.unanswered },
    { name: 'Open', value: ({ tasks }) => tasks.open },
  ]
  const left = undated === 0 ? '' : ` ${grouped(undated)} more have no usable date and are not shown.`
  return section({
    id: 'tasks',
    title,
    intro: `Live tasks by the ${binNoun(binMs)} (UTC) of their creation, and how they ended.${left}`,
    chart: {
      label: `Stacked bars: tasks per ${binNoun(binMs)} from ${categories[0]} to ${categories.at(-1)}, by outcome`,
      kind: 'stacked',
      categories,
      series: [
        { name: 'answered below 400', colour: 'good', values: bins.map(({ tasks }) => tasks.answered) },
        { name: '400 and above', colour: 'bad', values: bins.map(({ tasks }) => tasks.failed) },
        { name: 'final without answer', colour: 'pale', values: bins.map(({ tasks }) => tasks.unanswered) },
        { name: 'open', colour: 'open', values: bins.map(({ tasks }) => tasks.open) },
      ],
    },
    table: tableHtml('Live tasks by creation and outcome', columns, bins),
    rows: bins.length,
  })
}

export async function durations({ bins, binMs }: Figures): Promise<string> {
  const title = 'Durations'
  if (binMs === null || bins.every((bin) => bin.durations === null)) {
    return emptySection('durations', title, 'No task has ended yet.')
  }
  const of = (name: 'p50' | 'p90' | 'p99') =>
    bins.map((bin) => (bin.durations === null ? null : Math.max(1, bin.durations[name])))
  const cell = (name: 'p50' | 'p90' | 'p99') => (bin: TimeBin) =>
    bin.durations === null ? '' : duration(bin.durations[name])
  const columns: Column<TimeBin>[] = [
    { name: 'Created', value: ({ start }) => binName(start, binMs) },
    { name: 'Median', value: cell('p50') },
    { name: '90 % within', value: cell('p90') },
    { name: '99 % within', value: cell('p99') },
  ]
  return section({
    id: 'durations',
    title,
    intro: 'From createdAt to completedAt, by the time of creation; to within nine percent.',
    chart: {
      label: `Lines on a logarithmic scale: median, 90th and 99th percentile of durations per ${binNoun(binMs)}`,
      kind: 'lines',
      log: true,
      format: duration,
      categories: bins.map(({ start }) => binName(start, binMs)),
      series: [
        { name: 'median', colour: 'one', values: of('p50') },
        { name: '90th percentile', colour: 'two', values: of('p90') },
        { name: '99th percentile', colour: 'three', values: of('p99') },
      ],
    },
    table: tableHtml('Durations by creation', columns, bins),
    rows: bins.length,
  })
}

export async function hosts(figures: Figures): Promise<string> {
  const title = 'Hosts'
  const { hosts: shown, hostCount } = figures
  if (shown.length === 0) return emptySection('hosts', title, 'There are no tasks yet.')
  const name = ({ host }: HostFigures) => (host === null || host === '' ? 'no host' : plain(host, 40))
  const columns: Column<HostFigures>[] = [
    { name: 'Host', value: ({ host }) => (host === null || host === '' ? 'no host' : host) },
    { name: 'Tasks', value: ({ tasks }) => tasks },
    { name: '400 and above', value: ({ failed }) => failed },
    { name: 'Share', value: ({ failed, tasks }) => percent(failed, tasks) },
    { name: 'Mean duration', value: ({ meanDurationMs: ms }) => (ms === null ? '' : duration(ms)) },
  ]
  const which =
    hostCount > shown.length ? `The ${shown.length} with most tasks of ${grouped(hostCount)}.` : 'All of them.'
  return section({
    id: 'hosts',
    title,
    intro: `Hosts of the tasks' URLs. ${which}`,
    chart: {
      label: 'Bars: tasks per host, those answered with 400 and above apart',
      kind: 'rows',
      categories: shown.map(name),
      series: [
        { name: 'below 400, or none', colour: 'good', values: shown.map(({ tasks, failed }) => tasks - failed) },
        { name: '400 and above', colour: 'bad', values: shown.map(({ failed }) => failed) },
      ],
    },
    table: tableHtml('Hosts by number of tasks', columns, shown),
    rows: shown.length,
  })
}

export async function statusCodes({ statusCodes: all }: Figures): Promise<string> {
  const title = 'Status codes'
  if (all.length === 0) return emptySection('codes', title, 'No task is final yet.')
  const total = all.reduce((sum, { tasks }) => sum + tasks, 0)
  const top = all.slice(0, MOST_CODES)
  const name = (code: number | null) => (code === null ? 'none' : code === 0 ? 'other' : String(code))
  const rest = all.slice(MOST_CODES).reduce((sum, { tasks }) => sum + tasks, 0)
  const rows = top.map(({ code, tasks }) => ({ name: name(code), tasks }))
  if (rest > 0) rows.push({ name: 'all others', tasks: rest })
  type Row = (typeof rows)[number]
  const columns: Column<Row>[] = [
    { name: 'Status code', value: (row) => row.name },
    { name: 'Tasks', value: ({ tasks }) => tasks },
    { name: 'Share', value: ({ tasks }) => percent(tasks, total) },
  ]
  return section({
    id: 'codes',
    title,
    intro: 'What the requests of final tasks were answered with.',
    chart: {
      label: 'Bars: final tasks per status code of the response',
      kind: 'bars',
      categories: rows.map((row) => row.name),
      series: [{ name: 'tasks', colour: 'one', values: rows.map(({ tasks }) => tasks) }],
    },
    table: tableHtml('Final tasks by status code', columns, rows),
    rows: rows.length,
  })
}

export async function openTasks({ openByAge }: Figures): Promise<string> {
  const title = 'Open tasks by age'
  if (openByAge.every((tasks) => tasks === 0)) return emptySection('open', title, 'No task is open.')
  const names = [...OPEN_AGES_MS.map((age) => `under ${duration(age)}`), 'older or undated']
  const rows = openByAge.map((tasks, index) => ({ name: names[index] as string, tasks }))
  type Row = (typeof rows)[number]
  const columns: Column<Row>[] = [
    { name: 'Age', value: ({ name }) => name },
    { name: 'Tasks', value: ({ tasks }) => tasks },
  ]
  return section({
    id: 'open',
    title,
    intro: 'Tasks that may still change, by the time since their creation.',
    chart: {
      label: 'Bars: open tasks by age',
      kind: 'bars',
      categories: names,
      series: [{ name: 'tasks', colour: 'open', values: openByAge }],
    },
    table: tableHtml('Open tasks by age', columns, rows),
    rows: rows.length,
  })
}
