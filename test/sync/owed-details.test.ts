// However many details are owed, few ids are held at once, and each is asked for once in a run.
import { expect, test } from 'vitest'
import type { Run } from '../../src/sync/context.ts'
import { LookUpHealth } from '../../src/sync/look-up-health.ts'
import { askOwedDetails } from '../../src/sync/steps/owed-details.ts'
import { prepareWindow } from '../../src/sync/writer/prepare.ts'
import { makeScratch } from '../support/scratch.ts'
import { openRun } from '../support/session.ts'

const DAY = 86_400_000
const NOW = 20_000 * DAY
const ID = (at: number) => `t${String(at).padStart(3, '0')}`

/** A real mirror in which `count` listed tasks owe their details; `isAnswered` says whether a look-up is, in `tookMs`. */
function makeRun(path: string, count: number, isAnswered: (id: string) => boolean, tookMs = 1) {
  const session = openRun(path, NOW, { asksDetails: true })
  const items = Array.from({ length: count }, (_, at) => ({ id: ID(at), systemStatus: 'DONE', createdAt: NOW - at }))
  session.hold(1, prepareWindow(Buffer.from(JSON.stringify({ body: { items } })), new Set(['DONE'])), null)
  session.takeIn({ handle: 1, walkId: null, skip: 0, readAt: NOW, now: NOW })
  const asked: string[] = []
  const held: number[] = []
  let clock = NOW
  const run = {
    now: () => clock,
    random: () => 0.5,
    log: { warn: () => undefined },
    progress: { set: () => undefined },
    request: {},
    facts: {},
    config: { service: { concurrency: 2 } },
    lookUps: new LookUpHealth(),
    service: {
      traffic: () => ({ requests: 0, inFlight: 0 }),
      async get(id: string) {
        clock += tookMs
        asked.push(id)
        if (!isAnswered(id)) return { kind: 'failed', reason: 'timeout', httpStatus: null, message: 'late' }
        const item = { ...items[Number(id.slice(1))], data: {}, result: { body: 1 } }
        return {
          kind: 'ok',
          value: session.parseDetail(Buffer.from(JSON.stringify({ body: { item } }))),
          startedAt: clock,
        }
      },
    },
    writer: new Proxy(session, {
      get: (_, name: keyof typeof session) => {
        if (name !== 'due') return session[name]
        return (...args: Parameters<typeof session.due>) => {
          const ids = session.due(...args)
          held.push(ids.length)
          return ids
        }
      },
    }),
  } as unknown as Run
  return { run, session, asked, held }
}

test('all that is owed is asked for, a round at a time, and what fails once only', async () => {
  using scratch = makeScratch()
  const { run, session, asked, held } = makeRun(scratch.path('m.sqlite'), 100, (id) => !id.endsWith('7'))
  expect(session.owedCount('detail')).toBe(100)
  await askOwedDetails(run, 30)
  expect(Math.max(...held)).toBe(30)
  expect([...asked].sort()).toEqual(Array.from({ length: 100 }, (_, at) => ID(at)))
  expect(session.owedCount('detail')).toBe(10)
  session.close()
})

test('what fails once is asked for once, also where the run goes on for longer than the clocks may differ', async () => {
  using scratch = makeScratch()
  const isAnswered = (id: string) => !id.endsWith('7')
  const { run, session, asked } = makeRun(scratch.path('m.sqlite'), 100, isAnswered, 10_000)
  await askOwedDetails(run, 30)
  expect([...asked].sort()).toEqual(Array.from({ length: 100 }, (_, at) => ID(at)))
  session.close()
})

test('where look-ups are not answered, no further round begins', async () => {
  using scratch = makeScratch()
  const { run, session, asked, held } = makeRun(scratch.path('m.sqlite'), 100, () => false)
  await askOwedDetails(run, 30)
  expect(held).toEqual([30])
  expect(asked.length).toBeLessThan(12)
  session.close()
})
