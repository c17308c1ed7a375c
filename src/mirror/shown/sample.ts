// A random sample of live tasks.
import type { Db } from '../connect.ts'

const MOST_TRIES = 50

/** At most `count` live ids, by row number and `random` (0 to 1); fewer in a mirror that is mostly tombstones. */
export function sampleLiveIds(db: Db, count: number, random: () => number): string[] {
  const one = (sql: string) => db.prepare(sql).pluck().get() as number
  const live = one('SELECT (SELECT count(*) FROM tasks) - (SELECT count(*) FROM tasks WHERE deleted_at IS NOT NULL)')
  if (live <= count)
    return db.prepare('SELECT id FROM tasks WHERE deleted_at IS NULL ORDER BY seq').pluck().all() as string[]
  const highest = one('SELECT max(seq) FROM tasks')
  const byRow = db.prepare('SELECT id FROM tasks WHERE seq = ? AND deleted_at IS NULL').pluck()
  const ids = new Set<string>()
  for (let tries = 0; ids.size < count && tries < count * MOST_TRIES; tries += 1) {
    const id = byRow.get(1 + Math.floor(random() * highest)) as string | undefined
    if (id !== undefined) ids.add(id)
  }
  return [...ids]
}
