// Makes whole HTML documents of sections: the report, a single file, and the status page. Readable without script.
import { createHash } from 'node:crypto'
import type { TaskFigures } from '../mirror/shown/figures.ts'
import type { Recent } from '../mirror/shown/recent.ts'
import type { MirrorStatus } from '../mirror/shown/status.ts'
import type { JobFigures } from '../notify/metrics.ts'
import { filterHtml } from './filter.ts'
import { duration, escapeHtml, minute, shortText, tableHtml } from './html.ts'
import { lateness, openTasks } from './open-section.ts'
import { age, banner, lastError, runs, setAside, tiles, type When } from './run-sections.ts'
import { pageScript } from './script.ts'
import { STYLE } from './style.ts'
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

/** CSP: nothing is loaded. Styles are in the document itself; its one script is named by its hash. */
export function reportPolicy(): string {
  const hash = createHash('sha256').update(pageScript()).digest('base64')
  return `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`
}

/** As for a report, but the page may fetch itself. */
export function statusPolicy(): string {
  return `${reportPolicy()}; connect-src 'self'`
}

interface ReportFacts {
  toolVersion: string
  /** Epoch ms. */
  now: number
}

export function reportPage(shown: Shown, facts: ReportFacts): string {
  const about = `Made on ${minute(facts.now)} by task-mirror ${facts.toolVersion}. All times are UTC.`
  const when: When = { now: facts.now, ago: 'before this page' }
  const head = header('Report of the mirror', shown.status.baseUrl, about)
  return documentHtml({
    title: 'Report of the mirror',
    policy: reportPolicy(),
    main: `${head}${lastError(shown.recent, when)}${sectionsHtml(shown, when)}`,
  })
}

interface StatusPageFacts extends ReportFacts {
  baseUrl: string | null
  health: { ok: boolean; ageMs: number | null; reason: string | null }
  jobs: readonly JobFigures[]
  /** Errors of the last run of a job that the mirror's record of runs does not show. */
  problems: readonly JobProblem[]
}

export interface JobProblem {
  job: string
  /** Epoch ms. */
  at: number
  message: string
}

/** The status page of `schedule`. `shown` is null while there is nothing to show. */
export function statusPage(shown: Shown | null, facts: StatusPageFacts): string {
  const { health, jobs, problems, now } = facts
  const when: When = { now, ago: 'ago' }
  const state = health.ok ? 'The mirror is fresh.' : `Not well: ${health.reason ?? ''}`
  const asOf = health.ageMs === null ? '' : `As of ${duration(health.ageMs)} ago.`
  const figuresAt = shown?.figures?.at ?? null
  const read =
    figuresAt === null ? 'The charts are being drawn.' : `Charts as of ${duration(Math.max(0, now - figuresAt))} ago.`
  const about = `task-mirror ${facts.toolVersion}. ${minute(now)}; all times are UTC. ${read}`
  const errors = problems.map(({ job, at, message }) =>
    banner(true, `Last ${job}:`, `failed ${age(at, when)}: ${shortText(message, 300)}`),
  )
  const main = `<div id="content">${header('Status of the mirror', shown?.status.baseUrl ?? facts.baseUrl, about)}
<p id="state" class="${health.ok ? 'well' : 'unwell'}"><b>${escapeHtml(state)}</b> ${escapeHtml(asOf)}</p>
${errors.join('\n')}${shown === null ? '' : lastError(shown.recent, when)}
${jobsHtml(jobs, now)}${shown === null ? '' : sectionsHtml(shown, when)}</div>
<p class="controls"><label><input type="checkbox" id="refresh" checked> Keep this page up to date</label>
<a href="/metrics">Metrics</a> <a href="/healthz">Health</a></p>`
  const title = health.ok ? 'Fresh: status of the mirror' : 'Not well: status of the mirror'
  return documentHtml({ title, policy: statusPolicy(), main })
}

function jobsHtml(jobs: readonly JobFigures[], now: number): string {
  if (jobs.length === 0) return ''
  const table = tableHtml(
    'Jobs of the schedule',
    [
      { name: 'Job', value: ({ job }) => job },
      { name: 'State', value: ({ running }) => (running ? 'running' : 'waiting') },
      { name: 'Next', value: ({ nextAt }) => (nextAt === null ? 'never' : minute(nextAt)) },
      { name: 'In', value: ({ nextAt }) => (nextAt === null ? '' : duration(Math.max(0, nextAt - now))) },
      { name: 'Runs', value: ({ ended }) => [...ended.values()].reduce((sum, count) => sum + count, 0) },
      {
        name: 'Not exit 0',
        value: ({ ended }) => [...ended].reduce((sum, [code, n]) => sum + (code === 0 ? 0 : n), 0),
      },
      { name: 'Skipped', value: ({ skipped }) => skipped },
    ],
    jobs,
  )
  return `<section aria-labelledby="jobs"><h2 id="jobs">Schedule</h2>${table}</section>`
}

function header(title: string, baseUrl: string | null, about: string): string {
  const service = baseUrl === null ? '' : `<p class="service">${escapeHtml(shortText(baseUrl, 200))}</p>`
  return `<h1>${escapeHtml(title)}</h1>${service}<p class="about">${escapeHtml(about)}</p>`
}

function documentHtml({ title, policy, main }: Record<'title' | 'policy' | 'main', string>): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
<div id="tip" role="tooltip" hidden></div>
<script>${pageScript()}</script>
</body>
</html>
`
}
