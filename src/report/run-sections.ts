// Sections on the mirror and its runs: figures at a glance, last error, last runs and exports, items set aside.
import prettyBytes from 'pretty-bytes'
import { ageOf } from '../clock.ts'
import type { Recent } from '../mirror/shown/recent.ts'
import type { MirrorStatus } from '../mirror/shown/status.ts'
import type { RunRow } from '../mirror/tables/runs.ts'
import { grouped, runOutcome } from '../shown.ts'
import { duration, escapeHtml, minute, shortText, type TableColumn, tableHtml } from './html.ts'
import { emptySection, section } from './section.ts'

/** At most this many rows in the table, and marks in the chart. */
const MOST_ROWS = 20
const MOST_MARKS = 60
/** Longer than other texts, because a message may say what to do. */
const LONGEST_MESSAGE = 300

/** How ages are worded: a file is read later than it was made, a served page is read at once. */
type Ago = 'ago' | 'before this page'

export interface When {
  /** Epoch ms. */
  now: number
  ago: Ago
}

export function tiles({ tasks, freshAt, lastFullWalk }: MirrorStatus, recent: Recent, when: When): string {
  const lastRun = recent.runs[0]
  const lastExport = recent.publications[0]
  const rows = [
    ['Fresh as of', freshAt === null ? 'no complete walk yet' : minute(freshAt), age(freshAt, when)],
    ['Live tasks', grouped(tasks.live), `${grouped(tasks.open)} of them open`],
    ['Marked deleted', grouped(tasks.deleted), 'kept until pruned'],
    ['Set aside', grouped(tasks.setAside), tasks.setAside === 0 ? 'everything was taken in' : 'see below'],
    ['Last full walk', lastFullWalk?.verdict ?? 'none yet', age(lastFullWalk?.finishedAt ?? null, when)],
    ['Last run', lastRun === undefined ? 'none yet' : outcomeText(lastRun), age(lastRun?.startedAt ?? null, when)],
    [
      'Last export',
      lastExport === undefined ? 'none yet' : `${grouped(lastExport.rows)} rows`,
      age(lastExport?.publishedAt ?? null, when),
    ],
  ]
  const items = rows.map(
    ([name, value, note]) =>
      `<div><dt>${escapeHtml(name ?? '')}</dt><dd><b>${escapeHtml(shortText(value ?? ''))}</b><span>${escapeHtml(note ?? '')}</span></dd></div>`,
  )
  return `<section aria-labelledby="glance"><h2 id="glance">At a glance</h2><dl class="tiles">${items.join('')}</dl></section>`
}

/** The last run that did not end well; empty where there is none. */
export function lastError({ lastFailure }: Recent, when: When): string {
  if (lastFailure === null) return ''
  const { run, wellSince } = lastFailure
  const why = run.error === null ? '' : `: ${shortText(run.error, LONGEST_MESSAGE)}`
  const since =
    wellSince === 0
      ? 'No run has ended well since.'
      : `${wellSince === 1 ? 'One run has' : `${grouped(wellSince)} runs have`} ended well since.`
  const what = `run ${run.id} (${shortText(run.command)}), ${outcomeText(run)}, ${age(run.finishedAt ?? run.startedAt, when)}${why}`
  return banner(wellSince === 0, 'Last error:', `${what}${/[.!?]$/.test(what) ? '' : '.'} ${since}`)
}

export function banner(isBad: boolean, head: string, text: string): string {
  return `<p class="${isBad ? 'unwell' : 'past'}"><b>${escapeHtml(head)}</b> ${escapeHtml(text)}</p>`
}

export function age(ms: number | null, { now, ago }: When): string {
  if (ms === null) return ''
  const ageMs = ageOf(ms, now)
  return ageMs === null ? 'in the future: the clock was wrong' : `${duration(ageMs)} ${ago}`
}

function outcomeText({ outcome, exitCode }: RunRow, index = 0): string {
  const text = runOutcome(outcome, index)
  return exitCode === null || exitCode === 0 ? text : `${text}, exit ${exitCode}`
}

/** A run or a publication. */
interface Done {
  at: number
  command: string
  durationMs: number | null
  outcome: string
  series: 'ok' | 'bad' | 'export'
  run: RunRow | null
  notes: string
}

function doneOf({ runs: all, publications }: Recent): Done[] {
  const ran = all.map(
    (run, index): Done => ({
      at: run.startedAt,
      command: run.command,
      durationMs: run.finishedAt === null ? null : run.finishedAt - run.startedAt,
      outcome: outcomeText(run, index),
      series: run.outcome === 'ok' ? 'ok' : 'bad',
      run,
      notes: shortText(run.error ?? '', LONGEST_MESSAGE),
    }),
  )
  const published = publications.map(({ startedAt, publishedAt, rows, bytes, format, isFeed, path }): Done => {
    const what = `${isFeed === 1 ? 'feed of ' : ''}${grouped(rows)} rows, ${prettyBytes(bytes)} ${format}`
    const durationMs = startedAt === null ? null : publishedAt - startedAt
    const notes = `${what} to ${shortText(path)}`
    return {
      ...{ at: startedAt ?? publishedAt, command: 'export', durationMs, outcome: 'ok' },
      ...{ series: 'export', run: null, notes },
    }
  })
  return [...ran, ...published].sort((one, other) => other.at - one.at).slice(0, MOST_MARKS)
}

export function runs(recent: Recent): string {
  const title = 'Runs and exports'
  const all = doneOf(recent)
  if (all.length === 0) return emptySection('runs', title, 'There has been no run yet.')
  const drawn = all.filter(({ durationMs }) => durationMs !== null && durationMs >= 0).reverse()
  const of = (series: Done['series']) =>
    drawn.map((done) => (done.series === series ? Math.max(1, done.durationMs as number) : null))
  const figure = (name: 'requests' | 'inserted' | 'updated' | 'deleted') => (done: Done) => done.run?.[name] ?? ''
  const columns: TableColumn<Done>[] = [
    { name: 'Started', value: ({ at }) => minute(at) },
    { name: 'Run', value: ({ command, run }) => (run === null ? command : `${command} ${run.id}`) },
    { name: 'Outcome', value: ({ outcome }) => outcome },
    { name: 'Verdict', value: ({ run }) => run?.verdict ?? '' },
    { name: 'Took', value: ({ durationMs }) => (durationMs === null ? '' : duration(Math.max(0, durationMs))) },
    { name: 'Requests', value: figure('requests') },
    { name: 'Inserted', value: figure('inserted') },
    { name: 'Updated', value: figure('updated') },
    { name: 'Deleted', value: figure('deleted') },
    { name: 'Notes', value: ({ notes }) => notes, longest: LONGEST_MESSAGE },
  ]
  const shown = all.slice(0, MOST_ROWS)
  const caption = `The last ${shown.length === 1 ? 'run' : `${shown.length} runs and exports`}, newest first`
  if (drawn.length === 0) {
    return emptySection('runs', title, 'No run has ended yet.') + tableHtml(caption, columns, shown)
  }
  return section({
    id: 'runs',
    title,
    intro:
      'How long the last runs and exports took, one mark each, and how they ended. The mirror knows of exports that were published.',
    chart: {
      label: 'Marks on a logarithmic scale: duration of the last runs and exports, by how they ended',
      kind: 'dots',
      isLog: true,
      categories: drawn.map(({ at, command, outcome, run }) => ({
        name: minute(at).slice(5, 16),
        note: `${command}${run === null ? '' : ` ${run.id}`}: ${outcome}`,
      })),
      format: duration,
      series: [
        { name: 'ok', colour: 'good', values: of('ok') },
        { name: 'partial, failed or interrupted', colour: 'bad', values: of('bad') },
        { name: 'export', colour: 'two', values: of('export') },
      ],
    },
    caption,
    columns,
    rows: shown,
  })
}

export function setAside({ setAside: all }: Recent): string {
  const title = 'Set aside'
  if (all.length === 0) return emptySection('aside', title, 'Nothing is set aside: every item was taken in.')
  return section({
    id: 'aside',
    title,
    intro: 'Items that could not be taken in, kept with their raw text; "task-mirror rejected" lists them.',
    chart: {
      label: 'Bars: items set aside by reason',
      kind: 'rows',
      categories: all.map(({ reason }) => ({ name: shortText(reason, 40) })),
      format: grouped,
      series: [{ name: 'items', colour: 'bad', values: all.map(({ items }) => items) }],
    },
    caption: 'Items set aside by reason',
    columns: [
      { name: 'Reason', value: ({ reason }) => reason },
      { name: 'Items', value: ({ items }) => items },
      { name: 'Last seen', value: ({ lastSeenAt }) => minute(lastSeenAt) },
    ],
    rows: all,
  })
}
