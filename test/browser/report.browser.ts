// The report in a real browser, for no task, ten and a million.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWriter } from '../../src/mirror/open.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { runCli } from '../support/cli.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'
import { expectCalm, isThere, launch, open } from './chromium.ts'

const IMAGES = process.env.IMAGES === '1' ? join(import.meta.dirname, '../../docs/images') : null
let browser: Browser
let scratch: Scratch

beforeAll(async () => {
  scratch = makeScratch()
  if (isThere) browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  scratch[Symbol.dispose]()
})

/** A mirror with `count` tasks of the last ninety days, made by SQLite alone. */
function fillMirror(name: string, count: number): string {
  const path = scratch.path(name)
  const db = openWriter(path, { busyTimeoutMs: 1000, fileMode: 0o600 })
  db.exec(`INSERT INTO tasks (id, system_status, created_at, completed_at, data_url, result_status_code, first_seen_at,
      changed_at, read_at, change_seq, host)
    WITH RECURSIVE n (i) AS (SELECT 1 WHERE ${count} > 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    SELECT printf('task-%08d', i), 'DONE', ${Date.now()} - (i * 7776000000) / ${Math.max(1, count)},
      ${Date.now()} - (i * 7776000000) / ${Math.max(1, count)} + (i * 7919) % 60000,
      'https://' || CASE i % 5 WHEN 0 THEN '<script>alert(1)</script>' ELSE 'host-' || (i % 40) END || '.example/' || i,
      CASE i % 9 WHEN 0 THEN 500 WHEN 1 THEN 404 ELSE 200 END, 1, 1, 1, i,
      CASE i % 5 WHEN 0 THEN '<script>alert(1)</script>' ELSE 'host-' || (i % 40) END || '.example' FROM n`)
  db.close()
  return path
}

async function makeReport(mirror: string): Promise<string> {
  const out = `${mirror}.html`
  const { code, stderr } = await runCli(['report', '--db', mirror, '--out', out], {
    cwd: scratch.dir,
    timeoutMs: 90_000,
  })
  expect({ code, stderr: stderr.includes('error') }).toEqual({ code: 0, stderr: false })
  return pathToFileURL(out).href
}

describe.skipIf(!isThere).each([0, 10, 1_000_000])('the report of %d tasks', (count) => {
  let url: string
  beforeAll(async () => {
    url = await makeReport(fillMirror(`tasks-${count}.sqlite`, count))
  })

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('is calm and accessible, %s, %d wide', async (colorScheme, width) => {
    const opened = await open(browser, url, { colorScheme, width })
    await expectCalm(opened)
    const { page } = opened
    // Only charts and tables scroll sideways, never the page.
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    // Of time the newest is what is seen first, without a script that scrolls.
    for (const svg of await page.locator('.wide svg').all()) {
      const { x, width: drawn } = (await svg.boundingBox()) as { x: number; width: number }
      expect(Math.abs(x + drawn - (width - 16))).toBeLessThan(width === 390 ? 20 : 50)
    }
    await page.context().close()
  })

  test('says what is in the mirror', async () => {
    const { page } = await open(browser, url)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Report of the mirror')
    expect(await page.locator('.tiles').textContent()).toContain(`Live tasks${count.toLocaleString('en-US')}`)
    expect(await page.getByRole('img').count()).toBe(count === 0 ? 0 : 4)
    if (count > 0) {
      const colour = await page.evaluate(
        `getComputedStyle(document.querySelector('.mark rect[fill="var(--c2xx)"]')).fill`,
      )
      expect(colour).toBe('rgb(7, 70, 228)')
      expect(await page.getByRole('row', { name: /^<script>/, includeHidden: true }).count()).toBe(1)
    }
    await page.context().close()
  })

  test.skipIf(count === 0)('a host and a period can be chosen', async () => {
    const opened = await open(browser, url)
    const { page } = opened
    const bins = await page.locator('#from option').allTextContents()
    await page.getByRole('combobox', { name: 'Host' }).selectOption('<script>alert(1)</script>.example')
    await page.getByRole('combobox', { name: 'From' }).selectOption(bins.at(-1) as string)
    const rows = page.locator('#tasks ~ details tbody tr')
    expect(await rows.count()).toBe(1)
    const [tasks = ''] = await rows.locator('td').allTextContents()
    await page.getByText(`${tasks} tasks of <script>alert(1)</script>.example, ${bins.at(-1)}`).waitFor()
    expect(await page.locator('#hosts ~ details tbody tr').count()).toBe(1)
    await expectCalm(opened)
    await page.getByRole('combobox', { name: 'Host' }).selectOption('all hosts')
    await page.getByRole('combobox', { name: 'From' }).selectOption(bins[0] as string)
    expect(await rows.count()).toBe(bins.length)
    await page.context().close()
  })

  test.skipIf(count === 0)('a mark says at once what it stands for, and keeps within the page', async () => {
    const { page } = await open(browser, url, { width: 390 })
    const [first, last] = [page.locator('.mark').nth(0), page.locator('.rows .row').last()]
    for (const mark of [first, last]) {
      await mark.scrollIntoViewIfNeeded()
      await mark.hover()
      const tip = page.getByRole('tooltip')
      expect((await tip.textContent())?.length).toBeGreaterThan(5)
      const { x, width } = (await tip.boundingBox()) as { x: number; width: number }
      expect(x >= 0 && x + width <= 390).toBe(true)
    }
    await page.context().close()
    // By touch: it stays when the finger is lifted.
    const touched = await open(browser, url, { width: 390, touch: true })
    await touched.page.locator('.rows .row').first().tap()
    expect(await touched.page.getByRole('tooltip').isVisible()).toBe(true)
    await touched.page.getByRole('heading', { level: 1 }).tap()
    expect(await touched.page.getByRole('tooltip').isVisible()).toBe(false)
    await touched.page.context().close()
  })

  test('all of it can be read without script', async () => {
    const { page, said } = await open(browser, url, { script: false })
    expect(await page.locator('#filter').isVisible()).toBe(false)
    expect(await page.getByRole('img').count()).toBe(count === 0 ? 0 : 4)
    expect(said).toEqual([])
    await page.context().close()
  })

  test('is complete on paper: folded tables are printed', async () => {
    const { page } = await open(browser, url)
    await page.emulateMedia({ media: 'print' })
    for (const table of await page.locator('details table').all()) {
      expect((await table.boundingBox())?.height).toBeGreaterThan(20)
    }
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)')
    await page.context().close()
  })
})

test.skipIf(!isThere)('the table of runs is whole at 1,280 pixels, with the longest of what it holds', async () => {
  const mirror = fillMirror('runs.sqlite', 10)
  const db = openWriter(mirror, { busyTimeoutMs: 1000, fileMode: 0o600 })
  for (let run = 0; run < 8; run += 1) {
    const isWell = run !== 2
    db.prepare(
      `INSERT INTO runs (command, outcome, verdict, exit_code, requests, inserted, updated, deleted, started_at, finished_at,
         error, tool_version) VALUES (?, ?, 'complete', ?, 123456, 1234567, 1234567, 1234567, ?, ?, ?, '0')`,
    ).run(
      ...['backfill', isWell ? 'ok' : 'interrupted', isWell ? 0n : 143n, BigInt(Date.now() - run * 100_000)],
      ...[BigInt(Date.now() - run * 100_000 + 47_000)],
      isWell
        ? null
        : JSON.stringify({ message: `The service keeps failing (HTTP 503): ${'Service Unavailable '.repeat(9)}` }),
    )
  }
  const put = db.prepare(
    `INSERT INTO snapshots (id, cut, path, format, files, rows, bytes, filters, published_at)
     VALUES (?, 1, '/srv/lake/tasks', 'parquet', 1, 1234567, 987654321, '{}', ?)`,
  )
  const at = Date.now() - 150_000
  put.run(`${new Date(at).toISOString().replace(/[-:.]/g, '')}-1-abcdef`, BigInt(at + 9000))
  db.close()
  const { page } = await open(browser, await makeReport(mirror), { width: 1280 })
  const [table, frame] = [page.locator('#runs ~ details table'), page.locator('#runs ~ details .table')]
  await page.locator('#runs ~ details').evaluate((part) => part.setAttribute('open', ''))
  expect(await frame.evaluate((part) => part.scrollWidth <= part.clientWidth)).toBe(true)
  expect(await table.getByRole('row', { name: /export/ }).count()).toBe(1)
  await page.setViewportSize({ width: 390, height: 844 })
  // No word of it breaks inside: every cell but those with sentences is one line high.
  const broken = await page.evaluate(`
    [...document.querySelectorAll('#runs ~ details tbody th, #runs ~ details tbody td:not(.text)')].filter((cell) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
      return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1
    }).map((cell) => cell.textContent)`)
  expect(broken).toEqual([])
  await page.context().close()
})

test.skipIf(!isThere || IMAGES === null)('its pictures for the documents', async () => {
  await using simulator = await startSimulator({ tasks: 20_000, seed: 7 })
  const db = scratch.path('account.sqlite')
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_DB: db }
  for (let run = 0; run < 12; run += 1) {
    await runCli(['sync'], { cwd: scratch.dir, env })
    simulator.account.insert(4)
    simulator.account.finish(4)
  }
  await runCli(['export', '--out', scratch.path('lake/')], { cwd: scratch.dir, env })
  const url = await makeReport(db)
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page } = await open(browser, url, { colorScheme, width: 1200, height: 1000 })
    await page.screenshot({ path: join(IMAGES as string, `report-${colorScheme}.png`) })
    await page.context().close()
  }
})
