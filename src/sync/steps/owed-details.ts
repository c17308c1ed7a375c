// The details that are owed. Where one shows another state than the list did, the list is asked again: only both together
// tell which of them is behind.
import { isCreatedOrder } from '../../walk/order.ts'
import type { Run } from '../context.ts'
import { askForAll, dueBy } from './details.ts'
import { readWindows, windowsOf } from './open-tasks.ts'

/** Windows that are read again for details in doubt, at most. */
const MOST_WINDOWS = 5

export async function askOwedDetails(run: Run): Promise<void> {
  const { writer } = run
  const owed = await writer.due('detail', dueBy(run), Number.MAX_SAFE_INTEGER)
  const seqs = new Map(owed.map(({ taskId, seq }) => [taskId, seq]))
  const { taken } = await askForAll(run, [...seqs.keys()], 'detail', 'details')
  const inDoubt = taken.flatMap(({ taskId, outcome }) => (outcome === 'unsettled' ? [taskId] : []))
  if (inDoubt.length === 0 || !isCreatedOrder(run.facts.order ?? null)) return
  const windows = await windowsOf(
    run,
    inDoubt.map((id) => seqs.get(id) as number),
  )
  await readWindows(run, windows.slice(0, MOST_WINDOWS))
  await askForAll(run, inDoubt, 'detail', 'details')
}
