// A walk over the newest tasks alone notices by the length of the list that something new stands elsewhere.
import { expect, test } from 'vitest'
import { type EndedRun, makeStage, missingFrom, type Stage, type StageOptions } from './stage.ts'

const WINDOW = 50
const TASKS = 300
const stepMs = 100
const env = { TASK_MIRROR_SYNC_WINDOW: `${WINDOW}`, TASK_MIRROR_SERVICE_MAX_RETRIES: '0' }

/** A mirror of a list by `createdAt`, newest first, in which open tasks stand in front, or none are. */
async function makeMirrored(service: StageOptions & { openFraction: number }): Promise<Stage> {
  const stage = await makeStage({ order: 'created_desc', tasks: TASKS, openInserts: 0, stepMs, ...service })
  expect((await next(stage)).code).toBe(0)
  const inFront = "SELECT value FROM service_facts WHERE key = 'open_in_front'"
  expect(stage.rows(inFront)).toHaveLength(service.openFraction > 0 ? 1 : 0)
  return stage
}

function next(stage: Stage, ...command: string[]): Promise<EndedRun> {
  stage.pass(300_000)
  return stage.runJson(command.length === 0 ? ['sync'] : command, env)
}

/** The place of the last known task, and what stands behind it, cannot be read. */
function failAtEnd({ simulator }: Stage): void {
  simulator.setFaults(({ skip, take }) =>
    skip !== null && skip > TASKS - 20 && take! < WINDOW ? { status: 500 } : null,
  )
}

function failAt({ simulator }: Stage, index: number): void {
  simulator.setFaults(({ skip, take }) => (skip! <= index && index < skip! + take! ? { status: 500 } : null))
}

/** Calls `change` once, at the first request from an index on. */
function atRequestFrom(stage: Stage, index: number, change: () => void): void {
  const off = stage.simulator.onBeforeRequest(({ operation, skip }) => {
    if (operation !== 'list' || skip === null || skip < index) return
    off()
    change()
  })
}

const SOME_OPEN = { openFraction: 0.02 }
const NONE_OPEN = { openFraction: 0 }

test.concurrent.each<[string, StageOptions & { openFraction: number }, (stage: Stage) => Promise<unknown> | unknown]>([
  ['nothing else is new', SOME_OPEN, () => {}],
  ['nothing else is new, and none was ever open', NONE_OPEN, () => {}],
  [
    'a new one was taken in by its id',
    SOME_OPEN,
    (stage) => next(stage, 'backfill', '--id', stage.simulator.account.insert(1)[0]!),
  ],
  [
    'some were taken in by a range',
    SOME_OPEN,
    (stage) => {
      stage.simulator.account.insert(3)
      return next(stage, 'backfill', '--since', `${stage.now() - 60_000}`)
    },
  ],
  [
    'one comes to the front while the end is looked at',
    SOME_OPEN,
    (stage) => atRequestFrom(stage, TASKS - 20, () => stage.simulator.account.insert(1)),
  ],
  [
    'as many come to the front after the end was read',
    NONE_OPEN,
    (stage) =>
      atRequestFrom(stage, TASKS - 20, () =>
        setImmediate(() => atRequestFrom(stage, 0, () => stage.simulator.account.insert(5))),
      ),
  ],
  [
    'the front cannot be read once more',
    SOME_OPEN,
    ({ simulator }) => simulator.setFaults(({ skip, take }) => (skip === 0 && take! < WINDOW ? { status: 500 } : null)),
  ],
  [
    'the last ones are so large that an answer holds one of them',
    { ...SOME_OPEN, capBytes: 40_000 },
    async (stage) => {
      const { account } = stage.simulator
      for (const id of account.ids().slice(-8)) {
        const task = { ...JSON.parse(account.get(id) as string), note: 'x'.repeat(30_000) }
        account.replaceText(id, JSON.stringify(task))
      }
      expect((await next(stage, 'sync', '--full')).code).toBe(0)
    },
  ],
  ['the last known place cannot be read', SOME_OPEN, failAtEnd],
  ['the last known task cannot be read', SOME_OPEN, (stage) => failAt(stage, TASKS - 1)],
])('where five came into the middle and %s, a full walk follows', async (_, service, before) => {
  await using stage = await makeMirrored(service)
  await before(stage)
  const imported = stage.simulator.account.insert(5, { where: 'middle' })
  const { code, summary } = await next(stage)
  expect(summary.plan.slice(0, 2)).toEqual(['head', 'full'])
  expect(missingFrom(stage, imported)).toBe(0)
  expect([0, 3]).toContain(code)
})

test.concurrent('where one came into the middle whenever a full walk had passed it, a full walk follows', async () => {
  await using stage = await makeMirrored({ ...SOME_OPEN, order: 'created_asc' })
  const imported: string[] = []
  let isUnderWay = false
  const off = stage.simulator.onBeforeRequest(({ operation, skip }) => {
    if (operation !== 'list' || skip === null) return
    const isFar = skip > TASKS - WINDOW
    if (isUnderWay && isFar) imported.push(...stage.simulator.account.insert(1, { where: 'middle' }))
    isUnderWay = !isFar && (isUnderWay || (skip > 0 && skip < TASKS / 2))
  })
  expect((await next(stage, 'sync', '--full')).summary.lastFullWalk).toMatchObject({ reason: 'not-counted' })
  off()
  expect(missingFrom(stage, imported)).toBeGreaterThan(0)
  const { code, summary } = await next(stage)
  expect({ code, plan: summary.plan.slice(0, 2) }).toEqual({ code: 0, plan: ['tail', 'full'] })
  expect(missingFrom(stage, imported)).toBe(0)
})

test.concurrent.each<[string, number, StageOptions, (stage: Stage) => Promise<unknown> | unknown]>([
  ['whole windows are answered', 3, {}, () => {}],
  ['behind the end come the last 20 again', 4, { capItems: 20, repeatLast: true }, () => {}],
  [
    'one comes to the front while the end is looked at',
    5,
    {},
    (stage) => atRequestFrom(stage, TASKS - 20, () => stage.simulator.account.insert(1)),
  ],
  ['the last known task cannot be read', 3, {}, (stage) => failAt(stage, TASKS)],
  [
    'the last known place cannot be read, and answers leave items out',
    2,
    { hiddenFraction: 0.02 },
    async (stage) => {
      expect((await stage.runHere(['probe'])).code).toBe(0)
      failAtEnd(stage)
    },
  ],
])(
  'where nothing came into the middle and %s, %i windows at the front and at the end are enough',
  async (_, windows, service, before) => {
    await using stage = await makeMirrored({ ...SOME_OPEN, ...service })
    stage.simulator.account.insert(1)
    await before(stage)
    const { code, asked } = await next(stage)
    // Beside these, details of a few tasks somewhere in the list may be compared.
    const outer = asked.filter(({ operation, skip }) => operation === 'list' && !(skip! > 0 && skip! <= TASKS - 20))
    expect(outer).toHaveLength(windows)
    expect(code).toBe(0)
  },
)

test.concurrent('where answers left items out until a full walk met all, what comes into the middle is noticed', async () => {
  await using stage = await makeMirrored({ ...SOME_OPEN, hiddenFraction: 0.3 })
  const leftOut = "SELECT value FROM service_facts WHERE key = 'filtered_pages'"
  expect(stage.rows(leftOut)).toHaveLength(1)
  const { account } = stage.simulator
  Object.assign(account.options, { hiddenFraction: 0 })
  expect((await next(stage, 'sync', '--full')).code).toBe(0)
  expect(stage.rows(leftOut)).toEqual([])
  const imported = account.insert(5, { where: 'middle' })
  expect((await next(stage)).summary.plan.slice(0, 2)).toEqual(['head', 'full'])
  expect(missingFrom(stage, imported)).toBe(0)
})

test.concurrent('to how many items answers were cut is forgotten by a full walk that sees none that was', async () => {
  await using stage = await makeMirrored({ ...SOME_OPEN, capItems: 10 })
  const cap = "SELECT value FROM service_facts WHERE key = 'page_cap'"
  expect(stage.value(cap)).toBe('10')
  Object.assign(stage.simulator.account.options, { capItems: 0 })
  expect((await next(stage, 'sync', '--full')).code).toBe(0)
  expect(stage.rows(cap)).toEqual([])
})
