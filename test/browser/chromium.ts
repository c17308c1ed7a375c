// Opens pages in a headless Chromium and notes what they must not do: talk on the console, ask for anything but
// themselves, break rules of accessibility.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executablePath = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path))
export const isThere = executablePath !== undefined
if (!isThere) console.log(`skipped: no browser at ${PLACES.join(', ')}; name one with CHROMIUM`)

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface Opened {
  page: Page
  /** What the page said on the console, or threw. */
  said: string[]
  /** Requests that went anywhere but to the page's own address or origin. */
  strayed: string[]
}

export function launch(): Promise<Browser> {
  // Root, as in a container, cannot have Chromium's sandbox; only own pages are opened.
  return chromium.launch({ executablePath: executablePath as string, args: ['--no-sandbox'] })
}

export interface Look {
  colorScheme?: 'light' | 'dark'
  width?: number
  height?: number
  /** A screen that is touched. */
  touch?: boolean
  /** false: none runs. */
  script?: boolean
  /** Stands still and is moved on by `page.clock`. */
  clock?: boolean
}

export async function open(browser: Browser, url: string, look: Look = {}): Promise<Opened> {
  const { colorScheme = 'light', width = 1000, height = 900, clock = false, script = true, touch = false } = look
  const context = await browser.newContext({
    colorScheme,
    viewport: { width, height },
    javaScriptEnabled: script,
    hasTouch: touch,
  })
  const page = await context.newPage()
  const said: string[] = []
  const strayed: string[] = []
  const home = url.startsWith('file:') ? url : new URL(url).origin
  page.on('console', (message) => said.push(message.text()))
  page.on('pageerror', (error) => said.push(String(error)))
  page.on('dialog', (dialog) => said.push(`dialog: ${dialog.message()}`))
  page.on('request', (request) => {
    if (!request.url().startsWith(home)) strayed.push(request.url())
  })
  if (clock) await page.clock.install()
  await page.goto(url)
  return { page, said, strayed }
}

/** Violations found by axe-core, in a few words each. */
export async function violations(page: Page): Promise<string[]> {
  const found = await page.evaluate(`${AXE}; axe.run()`)
  const { violations: all } = found as { violations: { id: string; nodes: { html: string }[] }[] }
  return all.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}

/** What every page of this project must be. */
export async function expectCalm({ page, said, strayed }: Opened): Promise<void> {
  expect(await violations(page)).toEqual([])
  expect(said).toEqual([])
  expect(strayed).toEqual([])
}
