// `rejected --replay`: asks for set-aside items by id; those without an id, or gone, are read from their text.
import { EXIT } from '../../errors.ts'
import type { WaitingItem } from '../../mirror/tables/set-aside.ts'
import { seeList } from '../account.ts'
import { forEachConcurrently } from '../concurrently.ts'
import type { Run, RunContext } from '../context.ts'
import { askForTask, foundStep, isFound } from '../steps/details.ts'
import { requireMirror, runOneOff } from './one-off-run.ts'

export interface ReplayResult {
  schemaVersion: 1
  /** Items that were waiting; the sum of the three below. */
  tried: number
  /** Taken in, or found to be in the mirror in newer form. */
  taken: number
  /** Items of the list that a complete full walk, begun after they were last met, met whole or did not meet again. */
  settled: number
  /** Still set aside. */
  left: number
}

const BATCH = 100

/** Throws `mirror-missing`, and as `runOneOff`. What was taken in before an error or a signal stays taken in. */
export async function replaySetAside(context: RunContext): Promise<ReplayResult> {
  requireMirror(context)
  return runOneOff(context, 'rejected', async (run) => {
    const value = await replayAll(run)
    return { value, exitCode: value.left > 0 ? EXIT.partial : EXIT.done }
  })
}

async function replayAll(run: Run): Promise<ReplayResult> {
  const { writer, now, progress } = run
  const settled = await writer.settleByWalk(now())
  let tried = settled
  let taken = 0
  for (let after = 0; ; ) {
    const items = await writer.waitingItems(after, BATCH)
    if (items.length === 0) break
    after = (items.at(-1) as WaitingItem).id
    tried += items.length
    const answered = await askFor(run, items)
    const texts = items.filter((item) => !answered.has(item))
    taken += answered.size + (await writer.replayTexts(texts, now()))
    progress.set({ phase: 'replay', done: tried, requests: run.service.traffic().requests })
  }
  return { schemaVersion: 1, tried, taken, settled, left: tried - taken - settled }
}

/** Asks for every item that has a task id; returns those whose task the mirror now holds. */
async function askFor(run: Run, items: WaitingItem[]): Promise<Set<WaitingItem>> {
  const answered = new Set<WaitingItem>()
  const ids = [...new Set(items.flatMap(({ taskId }) => taskId ?? []))]
  if (ids.length === 0) return answered
  // The waiting ids may all belong to other tasks by now, so they cannot identify the account.
  await seeList(run)
  await forEachConcurrently(ids, run.config.service.concurrency, async (taskId) => {
    if (!(await refetch(run, taskId))) return
    for (const item of items) if (item.taskId === taskId) answered.add(item)
  })
  await run.writer.settleReplayed([...answered], run.now())
  return answered
}

/** True where the service answers with the task in a form that can be taken in. */
async function refetch(run: Run, taskId: string): Promise<boolean> {
  const { writer, now } = run
  const detail = await askForTask(run, taskId)
  if (detail.answer.kind !== 'ok') return false
  // An item that does not fit is set aside already: handing it on would set it aside once more.
  if (!isFound(detail) || detail.answer.value.taskId !== taskId) {
    await writer.dropDetail(detail.answer.value.handle)
    return false
  }
  const [taken] = await writer.takeDetails([foundStep(detail)], now())
  return taken?.outcome !== 'set-aside' && taken?.outcome !== 'failed'
}
