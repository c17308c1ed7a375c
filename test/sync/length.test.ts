// The length of a list that is walked for the first time: told while the walk goes on, for a few small requests, and
// without a say in what the walk proves.
import { expect, test } from 'vitest'
import type { ProgressUpdate } from '../../src/progress.ts'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { type LoggedRequest, type SimulatorHooks, startSimulator } from '../../src/simulator/server.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'
import { few } from '../support/soak.ts'

const WINDOW = 100
const isLook = ({ operation, take }: LoggedRequest) => operation === 'list' && take === 10

async function backfill(options: Partial<SimulatorOptions> & SimulatorHooks, walks = 1) {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ openFraction: 0, compression: 'none', ...options })
  const shown: ProgressUpdate[] = []
  const context = makeRunContext(simulator.url, scratch.path('m.sqlite'), {
    sync: { window: WINDOW },
    progress: { set: (facts) => void shown.push(facts), print: () => undefined, finish: () => undefined },
  })
  for (let walk = 1; walk < walks; walk += 1) await runSync(context, { command: 'backfill' })
  const before = simulator.requests
  shown.length = 0
  const { summary, exitCode } = await runSync(context, { command: 'backfill' })
  const asked = simulator.log.filter(({ n }) => n >= before)
  return {
    summary,
    exitCode,
    asked,
    looks: asked.filter(isLook),
    told: shown.filter(({ phase }) => phase === 'full walk'),
  }
}

test.each(few(['created_desc', 'created_asc', 'id_asc', 'insertion'] as const, (_, n) => n === 1))(
  'the total is told while a list of 8,000 is walked for the first time, %s',
  async (order) => {
    const { summary, asked, looks, told } = await backfill({ tasks: 8_000, order })
    const totals = told.map(({ total }) => total ?? null)
    // Not before ten windows, but long before the end.
    expect(totals.slice(0, 10)).toEqual(Array(10).fill(null))
    const first = totals.findIndex((total) => total !== null)
    expect(first).toBeLessThan(60)
    expect(Math.abs((totals[first] as number) / 8_000 - 1)).toBeLessThan(0.1)
    expect(told[first]).toMatchObject({ isEstimate: true })
    expect(looks.length).toBeLessThanOrEqual(8)
    expect(looks.length).toBeGreaterThan(2)
    expect(summary).toMatchObject({ inserted: 8_000, requests: asked.length })
    expect(summary.verdict).toBe('complete')
  },
)

test.each([
  ['fewer than ten windows', 900, 0],
  ['fewer than twenty windows', 1_700, 1],
])('%s are not worth measuring: %i tasks, %i looks', async (_, tasks, most) => {
  const { summary, looks, told } = await backfill({ tasks })
  expect(looks).toHaveLength(most)
  expect(told.every(({ total }) => total == null)).toBe(true)
  expect(summary.verdict).toBe('complete')
})

test('a length that a walk has proven is not searched again', async () => {
  const { looks, told } = await backfill({ tasks: 2_500 }, 2)
  expect(looks).toEqual([])
  expect(told.at(0)).toMatchObject({ total: 2_500, isEstimate: false })
})

const FAULTS = [
  ['500', { status: 500 }],
  ['400', { status: 400 }],
  ['a broken answer', { truncate: true }],
  ['a closed connection', { reset: true }],
] as const

test.each(few(FAULTS, (_, n) => n === 0 || n === 2))(
  'looks that are answered with %s change nothing about the walk',
  async (_, fault) => {
    const faults: SimulatorHooks['faults'] = (request) => (request.take === 10 ? fault : null)
    const { summary, exitCode, looks } = await backfill({ tasks: 2_500, faults })
    expect(looks.length).toBeGreaterThan(0)
    expect(looks.length).toBeLessThan(3)
    expect({ exitCode, verdict: summary.verdict, inserted: summary.inserted }).toEqual({
      exitCode: 0,
      verdict: 'complete',
      inserted: 2_500,
    })
  },
)

const LISTS: [string, Partial<SimulatorOptions>][] = [
  ['that grows', { insertsPerRequest: 2 }],
  ['that shrinks', { deletesPerRequest: 1 }],
  ['whose pages are filtered', { hiddenFraction: 0.3 }],
  ['whose answers are capped', { capItems: 60 }],
]

test.each(few(LISTS, (_, n) => n === 0 || n === 2))(
  'a list %s is walked to the same verdict while it is measured',
  async (_, options) => {
    const { summary, exitCode, looks } = await backfill({ tasks: 3_000, ...options })
    expect(looks.length).toBeGreaterThan(2)
    expect({ exitCode, verdict: summary.verdict }).toEqual({ exitCode: 0, verdict: 'complete' })
  },
)
