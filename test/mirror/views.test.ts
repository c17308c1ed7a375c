// The views answer from indexes: on half a million tasks that is the difference between tenths of seconds and seconds.
import { expect, test } from 'vitest'
import { openWriter } from '../../src/mirror/open.ts'
import { makeScratch } from '../support/scratch.ts'

test.each([
  [
    'outcomes per day are counted from one index',
    'SELECT * FROM daily_outcomes',
    /USING COVERING INDEX tasks_outcomes/,
  ],
  ['outcomes per host, too', 'SELECT * FROM host_outcomes', /USING COVERING INDEX tasks_outcomes/],
  [
    'durations per host, too',
    'SELECT host, duration_ms FROM task_overview WHERE duration_ms IS NOT NULL AND NOT is_deleted',
    /USING COVERING INDEX tasks_outcomes/,
  ],
  [
    'what changed last is not sorted',
    'SELECT * FROM task_overview ORDER BY change_seq DESC LIMIT 50',
    /^SCAN tasks USING INDEX tasks_change_seq(?!.*ORDER BY)/,
  ],
  [
    'a filter by time is a search',
    "SELECT * FROM task_overview WHERE created_at_ms >= unixepoch('2026-11-01') * 1000",
    /^SEARCH tasks USING INDEX tasks_created_at \(created_at>\?\)/,
  ],
])('%s', (_, sql, plan) => {
  using scratch = makeScratch()
  const db = openWriter(scratch.path('a.sqlite'), { busyTimeoutMs: 100, fileMode: 0o600 })
  try {
    const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
    expect(steps.map(({ detail }) => detail).join(' | ')).toMatch(plan)
  } finally {
    db.close()
  }
})
