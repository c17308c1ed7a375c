// A range of createdAt in the middle of a list: how much of the list is read for it.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { addBar, addRow, expectCount, type RunCost, run, type Stage } from './stage.ts'

/** One task in so many lies in the range. */
const ONE_IN = 15

export async function benchRange(stage: Stage): Promise<void> {
  const { server, folder, repeats } = stage
  const tasks = Math.min(stage.tasks, 30_000)
  const wanted = Math.floor(tasks / ONE_IN)
  const base = server.base(tasks, 0)
  const whole = join(folder, 'whole.sqlite')
  await run(['backfill'], base, whole)
  const [since, until] = boundsOf(whole, Math.floor(tasks / 2), wanted)
  const costs: RunCost[] = []
  let seen = 0
  for (let turn = 0; turn < repeats; turn += 1) {
    const { cost, summary } = await run(['backfill', '--since', `${since}`, '--until', `${until}`], base, whole)
    expectCount('the range', summary.inserted, 0)
    costs.push(cost)
    seen = Math.max(seen, summary.seen)
  }
  rmSync(whole)
  const row = addRow(stage, `range of ${wanted} among ${tasks}`, 'backfill --since --until', wanted, costs)
  const read = (row.wireBytes?.median ?? 0) / server.taskBytes
  addBar(stage, 'tasks read for a range', read / (1.15 * wanted + 2_000), 'x what is allowed', { atMost: 1 })
}

/** Moments between which `count` tasks lie, from the `from`th newest on. */
function boundsOf(path: string, from: number, count: number): [number, number] {
  const db = new Database(path, { readonly: true })
  const at = db.prepare('SELECT created_at FROM tasks ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?').pluck()
  const [late, early] = [at.get(from) as number, at.get(from + count) as number]
  db.close()
  return [early + 1, late + 1]
}
