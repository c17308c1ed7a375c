// The report's section on open tasks: how old they are, and which are late, as far as that is known.
import { OPEN_AGES_MS, type OpenFigures } from '../mirror/shown/figures.ts'
import { grouped } from '../shown.ts'
import type { Series } from './charts.ts'
import { duration, percent, type TableColumn } from './html.ts'
import { emptySection, section } from './section.ts'

export function openTasks({ byAge, timeframe }: Omit<OpenFigures, 'ended'>): string {
  const title = 'Open tasks by age'
  const names = [...OPEN_AGES_MS.map((age) => `under ${duration(age)}`), 'older or undated']
  const rows = byAge.map(({ tasks, late }, index) => ({ name: names[index] as string, tasks, late }))
  if (rows.every((row) => row.tasks === 0)) return emptySection('open', title, 'No task is open.')
  const isTold = timeframe?.isMoment === true
  type Row = (typeof rows)[number]
  const columns: TableColumn<Row>[] = [
    { name: 'Age', value: ({ name }) => name },
    { name: 'Tasks', value: (row) => row.tasks },
    ...(isTold ? [{ name: 'Past their timeframe (inferred)', value: (row: Row) => row.late }] : []),
  ]
  const whole = { name: isTold ? 'not past it' : 'tasks', colour: 'copen' } as const
  const series: Series[] = [
    ...(isTold ? [{ name: 'past their timeframe', colour: 'c5xx', values: rows.map((row) => row.late) } as const] : []),
    { ...whole, values: rows.map((row) => row.tasks - row.late) },
  ]
  return section({
    id: 'open',
    title,
    intro: 'Tasks that may still change, by the time since their creation.',
    chart: {
      label: 'Bars: open tasks by age',
      kind: 'rows',
      categories: names.map((name) => ({ name })),
      format: grouped,
      series,
    },
    caption: 'Open tasks by age',
    columns,
    rows,
  })
}

/** What is known of lateness, and from what. */
export function lateness(figures: OpenFigures): string {
  return emptySection('lateness', 'Lateness', latenessText(figures))
}

function latenessText({ byAge, timeframe, ended }: OpenFigures): string {
  const sum = (name: 'tasks' | 'late') => byAge.reduce((all, row) => all + row[name], 0)
  const [late, open] = [sum('late'), sum('tasks')]
  if (timeframe === null) return 'Not told: "task-mirror probe" finds out whether timeframe reads as a moment.'
  const seen = `of ${grouped(timeframe.tasks)} tasks that "task-mirror probe" looked at, ${percent(timeframe.afterCreated, 1)} have it after createdAt`
  if (!timeframe.isMoment || ended === null) return `Not told: timeframe does not read as a moment (${seen}).`
  const near = `${percent(timeframe.nearCompleted, 1)} of those that ended did so within a day of it`
  const ofOpen =
    open === 0
      ? 'No task is open.'
      : `${grouped(late)} of ${grouped(open)} open tasks (${percent(late, open)}) are past their timeframe.`
  const byHowMuch =
    ended.late === 0
      ? ''
      : `, half of these by more than ${duration(ended.p50)}, one in a hundred by more than ${duration(ended.p99)}`
  const ofEnded =
    ended.tasks === 0
      ? ''
      : ` Of the newest ${grouped(ended.tasks)} that have ended, ${grouped(ended.late)} (${percent(ended.late, ended.tasks)}) did so after it${byHowMuch}.`
  return `${ofOpen}${ofEnded} That timeframe is a moment is inferred: ${seen}, and ${near}.`
}
