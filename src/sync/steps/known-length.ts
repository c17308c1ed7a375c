// How long the list is as far as it is known: no walk has come to its end since that was proven last.
import type { Run } from '../context.ts'

/** How many tasks this run took in that the list did not hold before. Hidden or unreadable ones have no row. */
export async function takenIn({ writer }: Run): Promise<number> {
  const { inserted, restored } = await writer.counts()
  return inserted + restored
}

/** How many items the list held when its end was proven last, and what the mirror has taken in since. */
export async function knownLength(run: Run): Promise<number> {
  const { total = 0, total_rows: rows = total } = run.facts
  const { liveTasks } = run.opened
  // Tasks that are found by id alone may be many: they are counted only where that can matter.
  const more = liveTasks <= rows ? 0 : Math.max(0, liveTasks - (await run.writer.unlistedCount()) - rows)
  return total + more + (await takenIn(run))
}
