// Tasks that have ended, which the list goes on showing as open: look-ups find them, a few in each run.
import { expect, test } from 'vitest'
import { seeded } from '../../src/simulator/random.ts'
import { UNBOUND } from '../../src/sync/account.ts'
import type { Run } from '../../src/sync/context.ts'
import { LookUpHealth } from '../../src/sync/look-up-health.ts'
import { NO_LIMIT } from '../../src/sync/steps/open-plan.ts'
import { askOpenTasks } from '../../src/sync/steps/open-tasks.ts'
import { prepareWindow } from '../../src/sync/writer/prepare.ts'
import { makeScratch } from '../support/scratch.ts'
import { openRun } from '../support/session.ts'

const DAY = 86_400_000
const NOW = 20_000 * DAY
const TASKS = 300
const FINAL = new Set(['DONE'])

const chance = seeded(1)

test.each([
  ['random places', () => chance.next()],
  ['places by the largest number below 1', () => 1 - 2 ** -53],
])('where windows are cheaper than look-ups, each run looks up open tasks at %s', async (_places, random) => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const found = new Set<string>()
  const listed = Array.from({ length: TASKS }, (_, at) => ({
    id: `t${at}`,
    systemStatus: 'PENDING',
    createdAt: NOW - (1_000 + at) * DAY,
    data: { url: 'u' },
  }))
  const bytesOf = (body: object) => Buffer.from(JSON.stringify({ statusCode: 200, body }))

  /** One run, of which nothing but its open tasks matters. */
  async function askOnce(now: number): Promise<void> {
    const session = openRun(path, now, { asksDetails: false })
    let handles = 0
    let [windows, items] = [0, 0]
    const hold = (part: object[]) => {
      handles += 1
      const window = prepareWindow(bytesOf({ items: part }), FINAL)
      session.hold(handles, window, null)
      return { handle: handles, ids: window.ids, window }
    }
    if (now === NOW) session.takeIn({ handle: hold(listed).handle, walkId: null, skip: 0, readAt: now, now })
    const run = {
      now: () => now,
      random,
      log: { warn: () => undefined, debug: () => undefined },
      progress: { set: () => undefined },
      request: {},
      facts: { order: 'created_desc', total: TASKS },
      opened: { liveTasks: TASKS },
      account: UNBOUND,
      config: {
        service: { concurrency: 2, requestsPerSecond: null, maxBytesInFlight: 1e9 },
        sync: { details: 'auto', window: 100, overlap: 10 },
      },
      lookUps: new LookUpHealth(),
      service: {
        traffic: () => ({ requests: 0, inFlight: 0 }),
        costs: () => ({
          requestMs: 100,
          detailBytes: 200,
          windows: { count: windows, items, ms: 100 * windows, bytes: 200 * items },
        }),
        async list({ skip, take }: { skip: number; take: number }) {
          const { window, ...held } = hold(listed.slice(skip, skip + take))
          windows += 1
          items += held.ids.length
          return { kind: 'ok', value: { ...held, ...window }, startedAt: now }
        },
        async get(id: string) {
          expect(id).toMatch(/^t\d+$/)
          found.add(id)
          const shown = { ...listed[Number(id.slice(1))], systemStatus: 'DONE', completedAt: NOW, result: {} }
          return { kind: 'ok', value: session.parseDetail(bytesOf({ item: shown })), startedAt: now }
        },
      },
      writer: { ...session, view: async () => ({ ids: [] }) },
    } as unknown as Run
    await askOpenTasks(run, NO_LIMIT)
    expect(windows > 0).toBe(now > NOW)
    session.close()
  }

  for (let turn = 0; turn < 5; turn += 1) await askOnce(NOW + 2 * turn * DAY)
  expect(found.size).toBe(4 * 8)
  // Of each eighth of all, some.
  const eighths = new Set([...found].map((id) => Math.floor((8 * Number(id.slice(1))) / TASKS)))
  expect(eighths.size).toBe(8)
})
