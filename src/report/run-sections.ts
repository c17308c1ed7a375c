// What the report says of the mirror and its runs: figures at a glance, the last runs, what was set aside.
import { ageOf } from '../clock.ts'
import type { Figures, RunFigure } from '../mirror/figures.ts'
import type { MirrorStatus } from '../mirror/status.ts'
import { type Column, duration, escapeHtml, grouped, minute, plain, tableHtml } from './html.ts'
import { emptySection, section } from './section.ts'

const MOST_SHOWN_RUNS = 20

export function tiles({ tasks, freshAt, lastFullWalk }: MirrorStatus, figures: Figures, now: number): string {
  const lastRun = figures.runs[0]
  const rows = [
    ['Fresh as of', freshAt === null ? 'no complete walk yet' : minute(freshAt), age(freshAt, now)],
    ['Live tasks', grouped(tasks.live), `${grouped(tasks.open)} of them open`],
    ['Marked deleted', grouped(tasks.deleted), 'kept until pruned'],
    ['Set aside', grouped(tasks.setAside), tasks.setAside === 0 ? 'everything was taken in' : 'see below'],
    ['Last full walk', lastFullWalk?.verdict ?? 'none yet', age(lastFullWalk?.finishedAt ?? null, now)],
    ['Last run', lastRun === undefined ? 'none yet' : outcomeText(lastRun), age(lastRun?.startedAt ?? null, now)],
  ]
  const items = rows.map(
    ([name, value, note]) =>
      `<div><dt>${escapeHtml(name ?? '')}</dt><dd><b>${escapeHtml(plain(value ?? ''))}</b><span>${escapeHtml(note ?? '')}</span></dd></div>`,
  )
  return `<section aria-labelledby="now"><h2 id="now">At a glance</h2><dl class="tiles">${items.join('')}</dl></section>`
}

function age(ms: number | null, now: number): string {
  if (ms === null) return ''
  const ageMs = ageOf(ms, now)
  return ageMs === null ? 'in the future: the clock was wrong' : `${duration(ageMs)} before this page`
}

function outcomeText({ outcome, exitCode }: RunFigure): string {
  if (outcome === null) return 'running or killed'
  return exitCode === null || exitCode === 0 ? outcome : `${outcome}, exit ${exitCode}`
}

export async function runs({ runs: all }: Figures): Promise<string> {
  const title = 'Runs'
  if (all.length === 0) return emptySection('runs', title, 'There has been no run yet.')
  const drawn = [...all].reverse()
  const seconds = (isWell: boolean) =>
    drawn.map(({ outcome, startedAt, finishedAt }) =>
      finishedAt === null || (outcome === 'ok') !== isWell ? null : (finishedAt - startedAt) / 1000,
    )
  const columns: Column<RunFigure>[] = [
    { name: 'Run', value: ({ id }) => id },
    { name: 'Started', value: ({ startedAt }) => minute(startedAt) },
    { name: 'Command', value: ({ command }) => command },
    { name: 'Outcome', value: outcomeText },
    { name: 'Verdict', value: ({ verdict }) => verdict },
    {
      name: 'Duration',
      value: ({ startedAt, finishedAt }) => (finishedAt === null ? '' : duration(finishedAt - startedAt)),
    },
    { name: 'Requests', value: ({ requests }) => requests },
    { name: 'Inserted', value: ({ inserted }) => inserted },
    { name: 'Updated', value: ({ updated }) => updated },
    { name: 'Deleted', value: ({ deleted }) => deleted },
    { name: 'Ended by', value: ({ error }) => error },
  ]
  const shown = all.slice(0, MOST_SHOWN_RUNS)
  return section({
    id: 'runs',
    title,
    intro: `How long the last ${drawn.length === 1 ? 'run' : `${drawn.length} runs`} took, and how they ended.`,
    chart: {
      label: 'Bars: duration of the last runs in seconds, those that did not end well apart',
      kind: 'stacked',
      categories: drawn.map(({ id }) => `${id}`),
      format: (value) => `${value} s`,
      series: [
        { name: 'ok', colour: 'good', values: seconds(true) },
        { name: 'partial, failed or interrupted', colour: 'bad', values: seconds(false) },
      ],
    },
    table: tableHtml(`The last ${shown.length === 1 ? 'run' : `${shown.length} runs`}, newest first`, columns, shown),
    rows: shown.length,
  })
}

export async function setAside({ setAside: all }: Figures): Promise<string> {
  const title = 'Set aside'
  if (all.length === 0) return emptySection('aside', title, 'Nothing is set aside: every item was taken in.')
  type Row = Figures['setAside'][number]
  const columns: Column<Row>[] = [
    { name: 'Reason', value: ({ reason }) => reason },
    { name: 'Items', value: ({ items }) => items },
    { name: 'Last seen', value: ({ lastSeenAt }) => minute(lastSeenAt) },
  ]
  return section({
    id: 'aside',
    title,
    intro: 'Items that could not be taken in, kept with their raw text; "task-mirror rejected" lists them.',
    chart: {
      label: 'Bars: items set aside by reason',
      kind: 'rows',
      categories: all.map(({ reason }) => plain(reason, 40)),
      series: [{ name: 'items', colour: 'bad', values: all.map(({ items }) => items) }],
    },
    table: tableHtml('Items set aside by reason', columns, all),
    rows: all.length,
  })
}
