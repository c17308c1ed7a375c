// The report's sections on tasks, all or those of one host and period: how many were created when, how they ended, how
// long they took, where they went. Work for no task, ten or a million. Pure: the page's script remakes them when the
// reader chooses.
import { DAY_MS, HOUR_MS } from '../clock.ts'
import type { Ending, HostFigures, TaskFigures } from '../mirror/shown/figures.ts'
import { grouped } from '../shown.ts'
import type { Category, Colour, Series } from './charts.ts'
import { duration, minute, percent, shortText } from './html.ts'
import { emptySection, section } from './section.ts'

/** A period counts as whole where at most this share of it is missing. */
const WHOLE = 0.02

/** Outcomes in drawing order. Their colours differ for every kind of colour vision. */
const OUTCOMES: readonly { name: string; colour: Colour; has(ending: Ending): boolean }[] = [
  { name: '2xx', colour: 'c2xx', has: (ending) => ending.startsWith('2') },
  { name: '3xx', colour: 'c3xx', has: (ending) => ending.startsWith('3') },
  { name: '4xx but 429', colour: 'c4xx', has: (ending) => ending.startsWith('4') && ending !== '429' },
  { name: '429', colour: 'c429', has: (ending) => ending === '429' },
  { name: '5xx', colour: 'c5xx', has: (ending) => ending.startsWith('5') },
  { name: 'no answer', colour: 'cnone', has: (ending) => ending === 'none' },
  { name: 'another code', colour: 'cother', has: (ending) => ending === 'other' },
  { name: 'open', colour: 'copen', has: (ending) => ending === 'open' },
]
/** Longer host names are cut in tables; the tooltip of a bar shows more of them. */
const LONGEST_HOST = 44
const FAILED = /^[45]/

/** What is shown: tasks of `hosts[host]` that were created in the bins `from` to `to`. */
export interface Slice {
  host: number
  from: number
  to: number
}

/** All tasks, those without a usable date included. */
export function wholeSlice({ bins }: TaskFigures): Slice {
  return { host: 0, from: -1, to: bins - 1 }
}

export function taskSections(figures: TaskFigures, slice: Slice): string {
  return [
    tasksOverTime(figures, slice),
    durations(figures, slice),
    hosts(figures, slice),
    statusCodes(figures, slice),
  ].join('\n')
}

/** The name of a bin: `11-20 14:00`, `2026-11-20`. */
export function binName({ start, binMs }: TaskFigures, bin: number): string {
  const length = binMs ?? DAY_MS
  const iso = new Date(start + bin * length).toISOString()
  return length < DAY_MS ? iso.slice(5, 16).replace('T', ' ') : iso.slice(0, 10)
}

function binNoun(binMs: number): string {
  if (binMs === HOUR_MS) return 'hour'
  if (binMs === DAY_MS) return 'day'
  return binMs === 7 * DAY_MS ? 'week' : `${binMs / DAY_MS / 7} weeks`
}

/** "crm.example.org", "no host", "25 other hosts". */
export function hostName({ kind, host, hosts: count }: HostFigures, longest?: number): string {
  if (kind === 'all') return 'all hosts'
  if (kind === 'rest') return count === 1 ? 'one other host' : `${grouped(count)} other hosts`
  return host === null || host === '' ? 'no host' : shortText(host, longest)
}

interface Bin extends Category {
  bin: number
}

/** The bins of the slice, oldest first. The very first and last bin of the figures may be partial. */
function binsOf(figures: TaskFigures, { from, to }: Slice): Bin[] {
  const { start, binMs, oldest, until } = figures
  const bins: Bin[] = []
  for (let bin = Math.max(0, from); bin <= to; bin += 1) {
    const length = binMs ?? DAY_MS
    const [begin, end] = [start + bin * length, start + (bin + 1) * length]
    const isFirst = bin === 0 && oldest - begin > WHOLE * length
    const isLast = end - until > WHOLE * length
    const notes = [
      ...(isFirst ? [`from ${minute(oldest)}`] : []),
      ...(isLast ? [begin > until ? 'still to come' : `until ${minute(until)}`] : []),
    ]
    const name = binName(figures, bin)
    bins.push(notes.length === 0 ? { bin, name } : { bin, name, note: notes.join(', '), isPartial: true })
  }
  return bins
}

/** Tasks of `host` in the slice, counted by ending: for each bin and in all. */
function countsOf({ endings }: TaskFigures, host: HostFigures, { from, to }: Slice) {
  const counts = new Map<number, Map<Ending, number>>()
  const all = new Map<Ending, number>()
  for (const [bin, index, tasks] of host.cells) {
    if (bin < from || bin > to) continue
    const ending = endings[index] as Ending
    const within = counts.get(bin) ?? new Map<Ending, number>()
    counts.set(bin, within.set(ending, (within.get(ending) ?? 0) + tasks))
    all.set(ending, (all.get(ending) ?? 0) + tasks)
  }
  return { byBin: (bin: number): ReadonlyMap<Ending, number> => counts.get(bin) ?? new Map<Ending, number>(), all }
}

const sumOf = (counts: ReadonlyMap<Ending, number>, has: (ending: Ending) => boolean = () => true): number =>
  [...counts].reduce((sum, [ending, tasks]) => sum + (has(ending) ? tasks : 0), 0)

/** The outcomes that occur in this mirror, the same ones whatever is chosen. */
const outcomesOf = ({ endings }: TaskFigures) => OUTCOMES.filter(({ has }) => endings.some(has))

/** `valuesOf`: for every category, the number of tasks whose ending belongs to the outcome. */
const seriesOf = (outcomes: typeof OUTCOMES, valuesOf: (has: (ending: Ending) => boolean) => number[]): Series[] =>
  outcomes.map(({ name, colour, has }) => ({ name, colour, values: valuesOf(has) }))

const hostOf = ({ hosts }: TaskFigures, { host }: Slice): HostFigures => (hosts[host] ?? hosts[0]) as HostFigures

function tasksOverTime(figures: TaskFigures, slice: Slice): string {
  const title = 'Tasks over time'
  const { binMs } = figures
  if (binMs === null) return emptySection('tasks', title, 'There are no tasks yet.')
  const bins = binsOf(figures, slice)
  const counts = countsOf(figures, hostOf(figures, slice), slice)
  const outcomes = outcomesOf(figures)
  const undated = sumOf(counts.byBin(-1))
  const hollow = bins.some(({ isPartial }) => isPartial) ? ' Hollow: not the whole of the period is in it.' : ''
  const left = undated === 0 ? '' : ` ${grouped(undated)} more have no usable date and are not shown.`
  return section({
    id: 'tasks',
    title,
    intro: `Live tasks by the ${binNoun(binMs)} (UTC) of their creation, and what they were answered with.${hollow}${left}`,
    chart: {
      label: `Columns: tasks per ${binNoun(binMs)} from ${bins[0]?.name} to ${bins.at(-1)?.name}, by outcome`,
      kind: 'columns',
      categories: bins,
      format: grouped,
      series: seriesOf(outcomes, (has) => bins.map(({ bin }) => sumOf(counts.byBin(bin), has))),
    },
    caption: 'Live tasks by creation and outcome, newest first',
    columns: [
      { name: 'Created', value: nameAndNote },
      { name: 'Tasks', value: ({ bin }) => sumOf(counts.byBin(bin)) },
      ...outcomes.map(({ name, has }) => ({ name, value: ({ bin }: Bin) => sumOf(counts.byBin(bin), has) })),
    ],
    rows: bins.toReversed(),
  })
}

const nameAndNote = ({ name, note }: Category): string => (note === undefined ? name : `${name} (${note})`)

const PERCENTILES = [
  { name: 'median', head: 'Median', colour: 'one', at: 1 },
  { name: '90th percentile', head: '90 % within', colour: 'two', at: 2 },
  { name: '99th percentile', head: '99 % within', colour: 'three', at: 3 },
] as const

function durations(figures: TaskFigures, slice: Slice): string {
  const title = 'Durations'
  const { binMs } = figures
  const found = new Map(hostOf(figures, slice).durations.map((row) => [row[0], row]))
  const bins = binsOf(figures, slice)
  if (binMs === null || !bins.some(({ bin }) => found.has(bin)))
    return emptySection('durations', title, 'None of these tasks has ended yet.')
  return section({
    id: 'durations',
    title,
    intro: 'From createdAt to completedAt, by the time of creation; to within nine percent.',
    chart: {
      label: `Lines on a logarithmic scale: median, 90th and 99th percentile of durations per ${binNoun(binMs)}`,
      kind: 'lines',
      isLog: true,
      format: duration,
      categories: bins,
      series: PERCENTILES.map(({ name, colour, at }) => ({
        name,
        colour,
        values: bins.map(({ bin }) => found.get(bin)?.[at] ?? null),
      })),
    },
    caption: 'Durations by creation, newest first',
    columns: [
      { name: 'Created', value: nameAndNote },
      { name: 'Ended', value: ({ bin }) => found.get(bin)?.[4] ?? 0 },
      ...PERCENTILES.map(({ head, at }) => ({
        name: head,
        value: ({ bin }: Bin) => {
          const ms = found.get(bin)?.[at]
          return ms === undefined ? '' : duration(ms)
        },
      })),
    ],
    rows: bins.toReversed(),
  })
}

function hosts(figures: TaskFigures, slice: Slice): string {
  const title = 'Hosts'
  if (figures.binMs === null && figures.hosts[0]?.cells.length === 0)
    return emptySection('hosts', title, 'There are no tasks yet.')
  const [all, ...named] = figures.hosts
  const shown = slice.host === 0 ? named : [hostOf(figures, slice)]
  const rows = shown
    .map((host) => ({ host, counts: countsOf(figures, host, slice).all, ...endedOf(host, slice) }))
    .map((row) => ({ ...row, tasks: sumOf(row.counts), failed: sumOf(row.counts, (ending) => FAILED.test(ending)) }))
  const count = all?.hosts ?? 0
  const which =
    slice.host !== 0
      ? 'The one that was chosen.'
      : named.some(({ kind }) => kind === 'rest')
        ? `The ${named.length - 1} with most tasks of ${grouped(count)}.`
        : 'All of them.'
  return section({
    id: 'hosts',
    title,
    intro: `Hosts of the tasks' URLs. ${which}`,
    chart: {
      label: 'Bars: tasks per host, by outcome',
      kind: 'rows',
      categories: rows.map(({ host }) => ({ name: hostName(host) })),
      format: grouped,
      series: seriesOf(outcomesOf(figures), (has) => rows.map(({ counts }) => sumOf(counts, has))),
    },
    caption: 'Hosts by number of tasks',
    columns: [
      { name: 'Host', value: ({ host }) => hostName(host, LONGEST_HOST) },
      { name: 'Tasks', value: ({ tasks }) => tasks },
      { name: '400 and above', value: ({ failed }) => failed },
      { name: 'Share', value: ({ failed, tasks }) => percent(failed, tasks) },
      { name: 'Mean duration', value: ({ meanMs }) => (meanMs === null ? '' : duration(meanMs)) },
    ],
    rows,
  })
}

/** The mean of the durations in the slice, ms; null where none has ended. */
function endedOf({ durations: all }: HostFigures, { from, to }: Slice): { meanMs: number | null } {
  const rows = all.filter(([bin]) => bin >= from && bin <= to)
  const ended = rows.reduce((sum, row) => sum + row[4], 0)
  return { meanMs: ended === 0 ? null : rows.reduce((sum, row) => sum + row[4] * row[5], 0) / ended }
}

/** The name of an ending in a list of codes. */
function endingName(ending: Ending): string {
  if (ending.endsWith('xx')) return `other ${ending}`
  return ending === 'none' ? 'no answer' : ending === 'other' ? 'another code' : ending
}

function statusCodes(figures: TaskFigures, slice: Slice): string {
  const title = 'Status codes'
  const { all } = countsOf(figures, hostOf(figures, slice), slice)
  const rows = [...all]
    .filter(([ending]) => ending !== 'open')
    .sort(([, a], [, b]) => b - a)
    .map(([ending, tasks]) => ({ ending, tasks }))
  if (rows.length === 0) return emptySection('codes', title, 'None of these tasks is final yet.')
  const total = rows.reduce((sum, { tasks }) => sum + tasks, 0)
  const outcomes = outcomesOf(figures).filter(({ has }) => rows.some(({ ending }) => has(ending)))
  return section({
    id: 'codes',
    title,
    intro: 'What the requests of final tasks were answered with.',
    chart: {
      label: 'Bars: final tasks per status code of the response',
      kind: 'rows',
      categories: rows.map(({ ending }) => ({ name: endingName(ending) })),
      format: grouped,
      series: seriesOf(outcomes, (has) => rows.map(({ ending, tasks }) => (has(ending) ? tasks : 0))),
    },
    caption: 'Final tasks by status code',
    columns: [
      { name: 'Status code', value: ({ ending }) => endingName(ending) },
      { name: 'Tasks', value: ({ tasks }) => tasks },
      { name: 'Share', value: ({ tasks }) => percent(tasks, total) },
    ],
    rows,
  })
}

/** How many tasks a slice holds. */
export function tasksIn(figures: TaskFigures, slice: Slice): number {
  return sumOf(countsOf(figures, hostOf(figures, slice), slice).all)
}
