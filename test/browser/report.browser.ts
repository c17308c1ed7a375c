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
    ['light', 1000],
    ['dark', 1000],
    ['light', 360],
  ] as const)('is calm and accessible, %s, %d wide', async (colorScheme, width) => {
    const opened = await open(browser, url, { colorScheme, width })
    await expectCalm(opened)
    const { page } = opened
    // Only charts and tables scroll sideways, never the page.
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await page.context().close()
  })

  test('says what is in the mirror', async () => {
    const { page } = await open(browser, url)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Report of the mirror')
    expect(await page.locator('.tiles').textContent()).toContain(`Live tasks${count.toLocaleString('en-US')}`)
    expect(await page.getByRole('img').count()).toBe(count === 0 ? 0 : 4)
    if (count > 0) {
      const colour = await page.evaluate(
        `getComputedStyle(document.querySelector('svg path[fill="var(--good)"]')).fill`,
      )
      expect(colour).toBe('rgb(46, 125, 91)')
      expect(await page.getByRole('row', { name: /^<script>/, includeHidden: true }).count()).toBe(1)
    }
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

test.skipIf(!isThere || IMAGES === null)('its pictures for the documents', async () => {
  const simulator = await startSimulator({ tasks: 20_000, seed: 7 })
  try {
    const db = scratch.path('account.sqlite')
    const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_DB: db }
    for (let run = 0; run < 12; run += 1) {
      await runCli(['sync'], { cwd: scratch.dir, env })
      simulator.account.insert(30)
      simulator.account.finish(20)
    }
    const url = await makeReport(db)
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open(browser, url, { colorScheme, width: 960, height: 1000 })
      await page.screenshot({ path: join(IMAGES as string, `report-${colorScheme}.png`) })
      await page.context().close()
    }
  } finally {
    await simulator.close()
  }
})
