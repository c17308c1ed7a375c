// The report of the built command; how it looks in a browser is checked by `npm run test:browser`.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Db } from '../../src/mirror/connect.ts'
import { openReader } from '../../src/mirror/open.ts'
import { readFigures } from '../../src/mirror/shown/figures.ts'
import { readRecent } from '../../src/mirror/shown/recent.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { writeFacts } from '../../src/mirror/tables/facts.ts'
import { recordSnapshot } from '../../src/mirror/tables/snapshots.ts'
import { reportPage, reportPolicy, sectionsHtml, statusPage, statusPolicy } from '../../src/report/page.ts'
import { taskSections, wholeSlice } from '../../src/report/task-sections.ts'
import { makeMirror, ordinaryRows } from '../export/mirror.ts'
import { runInside } from '../support/cli.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

const shownOf = (db: Db) => ({ status: readStatus(db), recent: readRecent(db), figures: readFigures(db, NOW) })
const WHEN = { now: NOW, ago: 'before this page' } as const

test.each([0, 10, 5000])('of %d tasks one small file is made that asks nothing of a network', async (count) => {
  const { path, folder } = makeMirror(...ordinaryRows(count))
  const { code, stdout } = await runInside(['report', '--db', path, '--json'], { cwd: folder })
  const result = JSON.parse(stdout)
  expect({ code, path: result.path }).toEqual({ code: 0, path: `${folder}/report.html` })
  const html = readFileSync(result.path, 'utf8')
  expect(Buffer.byteLength(html)).toBe(result.bytes)
  expect(html.length).toBeLessThan(300_000)
  expect(html).toContain(`http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;`)
  expect(html).not.toMatch(/<img|<link rel="stylesheet|src=|@import|url\((?!#)|<form/)
  expect(html).toContain(count === 0 ? 'There are no tasks yet.' : '<svg role="img" aria-label="Columns: tasks per')
  expect(statSync(result.path).mode & 0o777).toBe(0o600)
})

test('every chart has a table that says the same', () => {
  const { db } = makeMirror(...ordinaryRows(10))
  const html = sectionsHtml(shownOf(db), WHEN)
  expect(html.match(/<(?:svg|div class="rows") role="img"|role="img"/g)?.length).toBe(html.match(/<table>/g)?.length)
  expect(html).toContain('<th scope="row">example.com</th><td class="n">10</td>')
})

test('a hostile host comes out as text, in table, drawing and figures', () => {
  const { db } = makeMirror(...ordinaryRows(2))
  // No URL has such a host; but whoever can write the file can write anything.
  db.exec("UPDATE tasks SET host = '</script><script>alert(1)</script>'")
  const html = sectionsHtml(shownOf(db), WHEN)
  expect(html.match(/<script/g)).toEqual(['<script'])
  expect(html).toContain('<script type="application/json" id="figures">{')
  // In the choice of hosts, beside its bar, in what the bar says and in the table.
  expect(html.match(/&lt;script&gt;al/g)).toHaveLength(4)
  const [, json = ''] = /id="figures">([\s\S]*?)<\/script>/.exec(html) ?? []
  expect(JSON.parse(json).hosts[1].host).toBe('</script><script>alert(1)</script>')
})

test('a period that is not whole is drawn hollow and says what is missing; others are not', () => {
  const at = (text: string) => ({ created_at: Date.parse(text), completed_at: Date.parse(text) + 500 })
  const rows = ordinaryRows(3).map((row, index) => ({
    ...row,
    ...at(`2026-11-${['14T18:00', '17T00:00', '20T11:00'][index]}:00Z`),
  }))
  const { db } = makeMirror(...rows)
  const figures = readFigures(db, NOW)
  const html = taskSections(figures, wholeSlice(figures))
  expect(html).toContain('2026-11-14 (from 2026-11-14 18:00 UTC)')
  expect(html).toContain('2026-11-20 (until 2026-11-20 12:00 UTC)')
  expect(html).toMatch(/<title>2026-11-17\n2xx 1\n?/)
  // A column and three points for each of the two.
  expect(html.match(/class="part"/g)).toHaveLength(2 + 6)
})

test('lateness is told as inferred, or why it is not', () => {
  const { db } = makeMirror(...ordinaryRows(4).map((row) => ({ ...row, timeframe: Number(row.completed_at) - 5000 })))
  db.exec(`UPDATE tasks SET completed_at = NULL, system_status = 'WAITING' WHERE seq = 1;
    INSERT INTO open_checks (task_id, reason, next_check_at) SELECT id, 'open', 0 FROM tasks WHERE seq = 1`)
  const told = () => /<h2 id="lateness">Lateness<\/h2><p>(.*?)<\/p>/.exec(sectionsHtml(shownOf(db), WHEN))?.[1]
  expect(told()).toContain('task-mirror probe&quot; finds out')
  const finding = { isMoment: true, tasks: 1000, afterCreated: 1, ended: 900, nearCompleted: 0.98 }
  writeFacts(db, { timeframe: finding }, NOW)
  expect(told()).toMatch(
    /^1 of 1 open tasks \(100\.0 %\) are past their timeframe\. Of the newest 3 that have ended, 3 \(100\.0 %\) did so after it, half of these by more than \S+ s, .* is inferred: of 1,000 tasks .* and 98\.0 %/,
  )
  writeFacts(db, { timeframe: { ...finding, isMoment: false, afterCreated: 0 } }, NOW)
  expect(told()).toContain('does not read as a moment (of 1,000 tasks')
})

test('a host and a period can be chosen: what is shown adds up', () => {
  const rows = ordinaryRows(30).map((row, index) => ({
    ...row,
    created_at: NOW - index * 86_400_000,
    completed_at: NOW - index * 86_400_000 + 1000,
    host: `h${index % 3}.example`,
    result_status_code: index % 2 === 0 ? 200 : 503,
  }))
  const { db } = makeMirror(...rows)
  const figures = readFigures(db, NOW)
  const one = taskSections(figures, { host: 1, from: figures.bins - 6, to: figures.bins - 1 })
  expect(one).toContain('<th scope="row">h0.example</th><td class="n">2</td><td class="n">1</td><td>50.0 %</td>')
  expect(one).not.toContain('h1.example')
  expect(one.match(/<th scope="row">2026-11-/g)).toHaveLength(12)
})

test('the last error stands first, with what has happened since; exports stand among the runs', async () => {
  const { db, path } = makeMirror(...ordinaryRows(1))
  const run = (outcome: string, at: number, error: string | null) =>
    db
      .prepare(
        `INSERT INTO runs (command, outcome, exit_code, started_at, finished_at, error, tool_version)
         VALUES ('sync', ?, ?, ?, ?, json_object('code', 'x', 'message', ?), '0')`,
      )
      .run(outcome, outcome === 'ok' ? 0n : 4n, BigInt(at), BigInt(at + 2000), error)
  const facts = { toolVersion: '1', now: NOW }
  expect(reportPage(shownOf(db), facts)).not.toContain('Last error')
  run('ok', NOW - 600_000, null)
  run('failed', NOW - 302_000, 'The service <fails>')
  /** What stands between the head of the page and its first section. */
  const top = (page: string) => page.slice(page.indexOf('</h1>'), page.indexOf('<section'))
  expect(top(reportPage(shownOf(db), facts))).toContain(
    '<p class="unwell"><b>Last error:</b> run 2 (sync), failed, exit 4, 5 min before this page: The service &lt;fails&gt;. No run has ended well since.',
  )
  run('ok', NOW - 100_000, null)
  const id = `${new Date(NOW - 200_000).toISOString().replace(/[-:.]/g, '')}-1-abcdef`
  await recordSnapshot(
    path,
    {
      ...{ id, cut: 1, path: '/lake', format: 'parquet', files: 1, rows: 1, bytes: 2048, filters: {}, sinceSeq: null },
      publishedAt: NOW - 197_000,
    },
    100,
  )
  const html = reportPage(shownOf(db), facts)
  expect(top(html)).toMatch(/<p class="past"><b>Last error:<\/b> run 2 .* One run has ended well since\.<\/p>/)
  const rows = [...html.slice(html.indexOf('id="runs"')).matchAll(/<tr><th scope="row">(.*?)<\/tr>/g)].map(([, row]) =>
    row!.replaceAll(/<[^>]+>/g, '|'),
  )
  expect(rows[0]).toContain('|sync 3|')
  expect(rows[1]).toMatch(/^2026-11-20 11:56 UTC\|+export\|.*3 s.*1 rows, 2.05 kB parquet to \/lake/)
  expect(rows).toHaveLength(4)
})

test('only the newest run may be running: an earlier one without an end was killed', () => {
  const { db } = makeMirror(...ordinaryRows(1))
  const begin = db.prepare("INSERT INTO runs (command, started_at, tool_version) VALUES ('sync', ?, '0')")
  for (const ago of [60_000, 30_000]) begin.run(BigInt(NOW - ago))
  const html = reportPage(shownOf(db), { toolVersion: '1', now: NOW })
  const rows = [...html.slice(html.indexOf('id="runs"')).matchAll(/<tr><th scope="row">(.*?)<\/tr>/g)]
  expect(rows.map(([row]) => /<td[^>]*>((?:running or )?killed)</.exec(row)?.[1])).toEqual([
    'running or killed',
    'killed',
  ])
})

test('--out - prints the page', async () => {
  const { path, folder } = makeMirror(...ordinaryRows(1))
  const { code, stdout } = await runInside(['report', '--db', path, '--out', '-'], { cwd: folder })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/)
})

test('a folder in the place of the report is refused, and is not what the hint names', async () => {
  const { path, folder } = makeMirror(...ordinaryRows(1))
  const { code, stderr } = await runInside(['report', '--db', path, '--out', '.'], { cwd: folder })
  expect({ code, hint: JSON.parse(stderr).hint }).toEqual({
    code: 2,
    hint: 'Name another file with --out.',
  })
})

test('without a mirror there is no report: exit 3, and what was there before stays', async () => {
  const { folder } = makeMirror()
  writeFileSync(`${folder}/report.html`, 'before')
  const { code, stderr } = await runInside(['report', '--db', 'missing.sqlite'], { cwd: folder })
  expect({ code, known: stderr.includes('mirror-missing') }).toEqual({ code: 3, known: true })
  expect(readFileSync(`${folder}/report.html`, 'utf8')).toBe('before')
})

test('the status page says how the mirror and the jobs are; its script is the one its policy allows', async () => {
  const { db } = makeMirror(...ordinaryRows(3))
  const jobs = [
    {
      job: 'sync',
      running: true,
      skipped: 2,
      nextAt: NOW + 60_000,
      ended: new Map([
        [0, 3],
        [4, 1],
      ]),
    },
  ]
  const health = { ok: false, ageMs: 7_200_000, reason: 'The mirror is older than it should be.' }
  const problems = [{ job: 'export', at: NOW - 60_000, message: 'The disk <is> full' }]
  const facts = { baseUrl: 'https://t.example', toolVersion: '1', now: NOW, health, jobs, problems }
  const html = statusPage(shownOf(db), facts)
  expect(html).toContain('<b>Not well: The mirror is older than it should be.</b> As of 2 h ago.')
  expect(html).toContain('<b>Last export:</b> failed 1 min ago: The disk &lt;is&gt; full')
  db.exec(`INSERT INTO runs (command, outcome, exit_code, started_at, finished_at, tool_version)
    VALUES ('sync', 'failed', 4, ${NOW - 60_000}, ${NOW - 59_000}, '0')`)
  const failed = statusPage(shownOf(db), facts)
  expect(failed.indexOf('<b>Last error:</b> run 1')).toBeGreaterThan(0)
  expect(failed.indexOf('<b>Last error:</b>')).toBeLessThan(failed.indexOf('<section'))
  expect(html).toContain('<th scope="row">sync</th><td>running</td>')
  // Before the figures are counted everything else is there.
  const early = statusPage({ ...shownOf(db), figures: null }, facts)
  expect(early).toContain('The charts are being drawn.')
  expect(early).toContain('<dt>Live tasks</dt><dd><b>3</b>')
  expect(statusPage(null, facts)).toContain('https://t.example')
  for (const [page, policy] of [
    [html, statusPolicy()],
    [reportPage(shownOf(db), facts), reportPolicy()],
  ] as const) {
    const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(page) ?? []
    const hash = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(script))).toString('base64')
    expect(policy).toContain(`script-src 'sha256-${hash}'`)
    expect(page.match(/<script(?! type="application\/json")/g)).toHaveLength(1)
  }
  expect(reportPolicy()).not.toContain('connect-src')
})

test('ages on the status page are those of the moment it is served, though its charts are older', () => {
  const { db } = makeMirror(...ordinaryRows(3))
  db.exec(`INSERT INTO walks (run_id, kind, verdict, max_seq_at_start, started_at, updated_at, finished_at)
    VALUES (1, 'full', 'complete', 3, ${NOW - 10_000}, ${NOW}, ${NOW})`)
  const shown = shownOf(db)
  const health = { ok: true, ageMs: 610_000, reason: null }
  const html = statusPage(shown, {
    ...{ baseUrl: null, toolVersion: '1', now: NOW + 600_000, health, jobs: [], problems: [] },
  })
  expect(html).toContain('Charts as of 10 min ago.')
  expect(html).toMatch(/<dt>Fresh as of<\/dt><dd><b>[^<]*<\/b><span>10 min ago<\/span>/)
})

test('a mirror that is being written is read as one state', async () => {
  const { path, insert } = makeMirror(...ordinaryRows(5))
  const reader = openReader(path)
  const figures = reader.transaction(() => {
    const before = readFigures(reader, NOW)
    insert(...ordinaryRows(5, 5))
    return [before, readFigures(reader, NOW)]
  })()
  reader.close()
  expect(figures[1]).toEqual(figures[0])
})
