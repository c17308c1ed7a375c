// The report of the built command; how it looks in a browser is checked by `npm run test:browser`.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readFigures } from '../../src/mirror/figures.ts'
import { openReader } from '../../src/mirror/open.ts'
import { readStatus } from '../../src/mirror/status.ts'
import { reportPage, STATUS_POLICY, statusPage } from '../../src/report/page.ts'
import { sectionsHtml } from '../../src/report/sections.ts'
import { makeMirror, ordinaryRows } from '../export/mirror.ts'
import { runCli } from '../support/cli.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

test.each([0, 10, 5000])('of %d tasks one small file is made that asks nothing of a network', async (count) => {
  const { path, folder } = makeMirror(...ordinaryRows(count))
  const { code, stdout } = await runCli(['report', '--db', path, '--json'], { cwd: folder })
  const result = JSON.parse(stdout)
  expect({ code, path: result.path }).toEqual({ code: 0, path: `${folder}/report.html` })
  const html = readFileSync(result.path, 'utf8')
  expect(Buffer.byteLength(html)).toBe(result.bytes)
  expect(html.length).toBeLessThan(300_000)
  expect(html).toContain(`http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;`)
  expect(html).not.toMatch(/<script|<img|<link rel="stylesheet|src=|@import|url\((?!#)/)
  expect(html).toContain(count === 0 ? 'There are no tasks yet.' : '<svg role="img" aria-label="Stacked bars')
  expect(statSync(result.path).mode & 0o777).toBe(0o600)
})

test('every chart has a table that says the same', async () => {
  const { db } = makeMirror(...ordinaryRows(10))
  const html = await sectionsHtml(readStatus(db), readFigures(db, NOW), NOW)
  expect(html.match(/<svg /g)?.length).toBe(html.match(/<table>/g)?.length)
  expect(html).toContain('<th scope="row">example.com</th><td class="n">10</td>')
})

test('a hostile host comes out as text, in table and drawing', async () => {
  const { db } = makeMirror(...ordinaryRows(2))
  // No URL has such a host; but whoever can write the file can write anything.
  db.exec("UPDATE tasks SET host = '<script>alert(1)</script>'")
  const html = await sectionsHtml(readStatus(db), readFigures(db, NOW), NOW)
  expect(html).not.toContain('<script')
  // In the drawing it is cut.
  expect(html.match(/&lt;script&gt;al/g)).toHaveLength(2)
})

test('--out - prints the page', async () => {
  const { path, folder } = makeMirror(...ordinaryRows(1))
  const { code, stdout } = await runCli(['report', '--db', path, '--out', '-'], { cwd: folder })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/)
})

test('without a mirror there is no report: exit 3, and what was there before stays', async () => {
  const { folder } = makeMirror()
  writeFileSync(`${folder}/report.html`, 'before')
  const { code, stderr } = await runCli(['report', '--db', 'missing.sqlite'], { cwd: folder })
  expect({ code, known: stderr.includes('mirror-missing') }).toEqual({ code: 3, known: true })
  expect(readFileSync(`${folder}/report.html`, 'utf8')).toBe('before')
})

test('the status page says how the mirror and the jobs are; its script is the one its policy allows', async () => {
  const facts = { baseUrl: 'https://t.example', toolVersion: '1', now: NOW, figuresAt: null }
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
  const html = statusPage('<section>figures</section>', { ...facts, health, jobs })
  expect(html).toContain('Not well: The mirror is older than it should be.')
  expect(html).toContain('<th scope="row">sync</th><td>running</td>')
  const [, script = ''] = /<script>([\s\S]*)<\/script>/.exec(html) ?? []
  const hash = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(script))).toString('base64')
  expect(STATUS_POLICY).toContain(`'sha256-${hash}'`)
  expect(reportPage('', facts)).not.toContain('<script')
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
