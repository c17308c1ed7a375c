// Asks for the details that are owed. Where one shows another state than the list did, the list is asked again: only
// both together tell which of them is behind.
import { isCreatedOrder } from '../../walk/order.ts'
import type { Run } from '../context.ts'
import { itemBytesOf, windowCapacity, windowSizeOf } from '../window-size.ts'
import { readWindows } from './beside.ts'
import { notFoundShape } from './deletions.ts'
import { askForAll, countedAs, dueBy } from './details.ts'
import { marginOf } from './open-plan.ts'

/** Windows that are read again for details in doubt, at most. */
const MOST_WINDOWS = 5
/** So many ids are held at once: every task of a list that is a summary may owe its detail. */
const ROUND = 20_000

/** Returns the ids that brought no task, though the service answered: only a full walk tells which are deleted. */
export async function askOwedDetails(run: Run, round = ROUND): Promise<string[]> {
  const { writer, now } = run
  const since = now()
  const all = await writer.owedCount('detail')
  const tell = countedAs(run, 'details', all)
  const absent: string[] = []
  const unsettled: string[] = []
  for (let asked = 0, isMore = true; isMore && asked < all; ) {
    const ids = await writer.due('detail', dueBy(run), { since, now: now(), most: round })
    // The last of them: what is not due yet is not counted any more.
    if (ids.length < round) tell(0, asked + ids.length)
    const answered = await askForAll(run, { ids, reason: 'detail' }, tell)
    for (const { taskId, answer } of answered.missing) if (notFoundShape(answer) !== null) absent.push(taskId)
    for (const id of answered.unsettled) unsettled.push(id)
    asked += answered.asked
    isMore = answered.asked === round
  }
  if (unsettled.length === 0) return absent
  if (isCreatedOrder(run.facts.order ?? null)) {
    const windows = await windowsAround(run, unsettled)
    await readWindows(run, windows.slice(0, MOST_WINDOWS), itemBytesOf(run) ?? 0)
  }
  await askForAll(run, { ids: unsettled, reason: 'detail' }, countedAs(run, 'details', unsettled.length))
  return absent
}

/** The windows around the tasks, by what the mirror holds. */
async function windowsAround(run: Run, ids: string[]) {
  const { writer, facts } = run
  const { window, overlap } = windowSizeOf(run)
  const indexes = await writer.listIndexes(ids, facts.order === 'created_desc')
  const size = windowCapacity(run)
  const places = indexes.filter((index) => !Number.isNaN(index))
  return coveringWindows(places, size, marginOf(size, overlap)).map((skip) => ({ skip, take: window }))
}

/**
 * Where windows begin that cover all `places` (indexes in the list), each reaching `margin` further on both sides.
 * Pure. `places` need no order; the result is ascending.
 */
export function coveringWindows(places: number[], window: number, margin: number): number[] {
  const starts: number[] = []
  let covered = -1
  for (const place of [...places].sort((a, b) => a - b)) {
    if (place + margin <= covered) continue
    const start = Math.max(0, place - margin)
    starts.push(start)
    covered = start + window - 1
  }
  return starts
}
