// Puts sections into a whole HTML document: the report as one file that asks nothing of a network, and the status page
// that asks only for itself.
import { createHash } from 'node:crypto'
import type { JobFigures } from '../notify/metrics.ts'
import { duration, escapeHtml, minute, plain, tableHtml } from './html.ts'
import { STYLE } from './style.ts'

/** Nothing may be loaded; the styles are in the document itself. */
export const REPORT_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

export interface ReportFacts {
  baseUrl: string | null
  toolVersion: string
  /** Epoch ms. */
  now: number
}

/** The report: one file. */
export function reportPage(sections: string, facts: ReportFacts): string {
  const about = `Made on ${minute(facts.now)} by task-mirror ${facts.toolVersion}. All times are UTC.`
  return documentHtml({
    title: 'Report of the mirror',
    policy: REPORT_POLICY,
    main: `${header('Report of the mirror', facts.baseUrl, about)}${sections}`,
    script: '',
  })
}

export interface StatusFacts extends ReportFacts {
  health: { ok: boolean; ageMs: number | null; reason: string | null }
  jobs: readonly JobFigures[]
  /** When the figures below were read; null where they are being read for the first time. */
  figuresAt: number | null
}

/** Puts a new copy of the page in place of the old one, as long as the box is ticked. Tables that were opened stay so. */
const REFRESH = `
const every = 15000
async function refresh() {
  if (!document.getElementById('refresh').checked || document.hidden) return
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
    if (!answer.ok) throw new Error(answer.status)
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const open = [...document.querySelectorAll('details')].map((part) => part.querySelector('summary').textContent + part.open)
    for (const part of next.querySelectorAll('details')) {
      const name = part.querySelector('summary').textContent
      if (open.includes(name + true)) part.open = true
      if (open.includes(name + false)) part.open = false
    }
    document.getElementById('content').replaceChildren(...next.getElementById('content').childNodes)
    document.title = next.title
  } catch {
    document.getElementById('state').textContent = 'The scheduler does not answer; this page is from before.'
  }
}
setInterval(refresh, every)
`
const REFRESH_HASH = createHash('sha256').update(REFRESH).digest('base64')

export const STATUS_POLICY = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-${REFRESH_HASH}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** The status page of `schedule`. `sections` is empty as long as the figures are not read. */
export function statusPage(sections: string, facts: StatusFacts): string {
  const { health, jobs, figuresAt, now } = facts
  const state = health.ok ? 'The mirror is fresh' : `Not well: ${health.reason ?? ''}`
  const age = health.ageMs === null ? '' : ` As of ${duration(health.ageMs)} ago.`
  const read =
    figuresAt === null ? 'The figures are being read.' : `Figures of ${minute(figuresAt)}; all times are UTC.`
  const about = `task-mirror ${facts.toolVersion}. ${read}`
  const main = `<div id="content">${header('Status of the mirror', facts.baseUrl, about)}
<p id="state" class="${health.ok ? 'well' : 'unwell'}"><b>${escapeHtml(state)}.</b>${escapeHtml(age)}</p>
${jobsHtml(jobs, now)}${sections}</div>
<p class="controls"><label><input type="checkbox" id="refresh" checked> Keep this page up to date</label>
<a href="/metrics">Metrics</a> <a href="/healthz">Health</a></p>`
  const title = health.ok ? 'Fresh: status of the mirror' : 'Not well: status of the mirror'
  return documentHtml({ title, policy: STATUS_POLICY, main, script: `<script>${REFRESH}</script>` })
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
  return `<section aria-labelledby="jobs"><h2 id="jobs">Schedule</h2><div class="table" role="group" tabindex="0" aria-label="Jobs of the schedule: table">${table}</div></section>`
}

function header(title: string, baseUrl: string | null, about: string): string {
  const service = baseUrl === null ? '' : `<p class="service">${escapeHtml(plain(baseUrl, 200))}</p>`
  return `<h1>${escapeHtml(title)}</h1>${service}<p class="about">${escapeHtml(about)}</p>`
}

interface Parts {
  title: string
  policy: string
  main: string
  script: string
}

function documentHtml({ title, policy, main, script }: Parts): string {
  // The policy of a page that is served comes with its header: `frame-ancestors` means nothing in a document.
  const inDocument = policy.replace(/; frame-ancestors [^;]+/, '')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(inDocument)}">
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
${script}
</body>
</html>
`
}
