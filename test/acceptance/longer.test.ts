// A walk over the newest tasks alone notices by the length of the list that something new stands elsewhere.
import { expect, test } from 'vitest'
import { type EndedRun, makeStage, missingFrom, type Stage } from './stage.ts'

const WINDOW = 50
const TASKS = 300
const stepMs = 100
const env = { TASK_MIRROR_SYNC_WINDOW: `${WINDOW}`, TASK_MIRROR_SERVICE_MAX_RETRIES: '0' }

/** A mirror of a list by `createdAt`, newest first, in which open tasks stand in front, or none are. */
async function makeMirrored(openFraction: number): Promise<Stage> {
  const stage = await makeStage({ order: 'created_desc', tasks: TASKS, openFraction, openInserts: 0, stepMs })
  expect((await next(stage)).code).toBe(0)
  const inFront = "SELECT value FROM service_facts WHERE key = 'open_in_front'"
  expect(stage.rows(inFront)).toHaveLength(openFraction > 0 ? 1 : 0)
  return stage
}

function next(stage: Stage, ...command: string[]): Promise<EndedRun> {
  stage.pass(300_000)
  return stage.runJson(command.length === 0 ? ['sync'] : command, env)
}

/** Calls `change` once, at the first request from an index on. */
function atRequestFrom(stage: Stage, index: number, change: () => void): void {
  const off = stage.simulator.onBeforeRequest(({ operation, skip }) => {
    if (operation !== 'list' || skip === null || skip < index) return
    off()
    change()
  })
}

test.concurrent.each<[string, number, (stage: Stage) => Promise<unknown> | unknown]>([
  ['nothing else is new', 0.02, () => {}],
  ['nothing else is new, and none was ever open', 0, () => {}],
  [
    'a new one was taken in by its id',
    0.02,
    (stage) => next(stage, 'backfill', '--id', stage.simulator.account.insert(1)[0]!),
  ],
  [
    'some were taken in by a range',
    0.02,
    (stage) => {
      stage.simulator.account.insert(3)
      return next(stage, 'backfill', '--since', `${stage.now() - 60_000}`)
    },
  ],
  [
    'one comes to the front while the end is looked at',
    0.02,
    (stage) => atRequestFrom(stage, TASKS - 20, () => stage.simulator.account.insert(1)),
  ],
  [
    'as many come to the front after the end was read',
    0,
    (stage) =>
      atRequestFrom(stage, TASKS - 20, () =>
        setImmediate(() => atRequestFrom(stage, 0, () => stage.simulator.account.insert(5))),
      ),
  ],
  [
    'the last known place cannot be read',
    0.02,
    (stage) =>
      stage.simulator.setFaults(({ skip, take }) =>
        skip !== null && skip > TASKS - 20 && take! < WINDOW ? { status: 500 } : null,
      ),
  ],
])('where five came into the middle and %s, a full walk follows', async (_, openFraction, before) => {
  await using stage = await makeMirrored(openFraction)
  await before(stage)
  const imported = stage.simulator.account.insert(5, { where: 'middle' })
  const { code, summary } = await next(stage)
  expect(summary.plan.slice(0, 2)).toEqual(['head', 'full'])
  expect(missingFrom(stage, imported)).toBe(0)
  expect([0, 3]).toContain(code)
})
