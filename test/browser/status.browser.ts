// The status page of `schedule` in a real browser: the built program behind it.
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { type RunningCli, startCli } from '../support/cli.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'
import { expectCalm, isThere, launch, open } from './chromium.ts'

const IMAGES = process.env.IMAGES === '1' ? join(import.meta.dirname, '../../docs/images') : null
let browser: Browser
let scratch: Scratch
let simulator: Awaited<ReturnType<typeof startSimulator>>
let running: RunningCli
let url: string

beforeAll(async () => {
  scratch = makeScratch()
  simulator = await startSimulator({ tasks: 2000 })
  if (!isThere) return
  browser = await launch()
  running = startCli(['schedule', '--json'], {
    cwd: scratch.dir,
    env: {
      TASK_MIRROR_BASE_URL: simulator.url,
      TASK_MIRROR_SCHEDULE_SYNC: '*/2 * * * * *',
      TASK_MIRROR_SCHEDULE_EXPORT: '0 3 * * *',
      TASK_MIRROR_SCHEDULE_LISTEN: '127.0.0.1:0',
    },
    timeoutMs: 300_000,
  })
  url = JSON.parse(await running.untilStdout(/\n/)).url
})
afterAll(async () => {
  await browser?.close()
  if (isThere) {
    running.process.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  }
  await simulator.close()
  scratch[Symbol.dispose]()
})

test.skipIf(!isThere)(
  'keeps itself up to date, without a new page and without forgetting what was opened',
  async () => {
    const opened = await open(browser, url, { clock: true })
    const { page } = opened
    /** Lets the page's own clock run until it shows `text`. */
    const untilShown = async (text: string) => {
      while (!(await page.locator('#content').textContent())?.includes(text)) {
        await page.clock.runFor(15_000)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
    await untilShown('Live tasks2,000')
    await untilShown('The mirror is fresh')
    // By the keyboard: what is open or chosen is told by its name, and stays over a new copy.
    const table = page.getByText('Hosts as a table')
    await table.click()
    const host = (await page.locator('#host option').nth(1).textContent()) as string
    await page.getByRole('combobox', { name: 'Host' }).selectOption(host)
    await page.getByRole('combobox', { name: 'Host' }).blur()
    simulator.account.insert(34)
    await untilShown('Live tasks2,034')
    expect(await page.evaluate(`document.querySelector('#hosts ~ details').open`)).toBe(false)
    expect(await page.locator('#hosts ~ details tbody th').allTextContents()).toEqual([host])
    expect(await page.title()).toBe('Fresh: status of the mirror')
    await expectCalm(opened)

    await page.getByLabel('Keep this page up to date').uncheck()
    const before = await page.locator('#content').innerHTML()
    await page.clock.runFor(60_000)
    expect(await page.locator('#content').innerHTML()).toBe(before)
    await page.context().close()
  },
)

test.skipIf(!isThere).each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const)('is calm and accessible, %s, %d wide', async (colorScheme, width) => {
  const opened = await open(browser, url, { colorScheme, width })
  expect(await opened.page.locator('#jobs').locator('..').getByRole('row', { name: /^sync/ }).count()).toBe(1)
  expect(await opened.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await expectCalm(opened)
  if (IMAGES !== null && colorScheme === 'light' && width === 1280) {
    await opened.page.setViewportSize({ width: 960, height: 760 })
    await opened.page.screenshot({ path: join(IMAGES, 'status.png') })
  }
  await opened.page.context().close()
})

test.skipIf(!isThere)('says so when the scheduler is gone', async () => {
  const { page } = await open(browser, url, { clock: true })
  await page.context().setOffline(true)
  await page.clock.runFor(16_000)
  await page.getByText('The scheduler does not answer').waitFor()
  await page.context().close()
})
