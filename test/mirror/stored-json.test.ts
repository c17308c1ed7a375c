// A mirror in which text that ought to be JSON is none: whoever comes upon it says that the mirror is damaged, and what to do.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { makeStage } from '../acceptance/stage.ts'

test.each<[string, string, string[]]>([
  ['a fact of the service', "UPDATE service_facts SET value = '{bad' WHERE key = 'total'", ['status']],
  ['a fact of the service', "UPDATE service_facts SET value = '{bad' WHERE key = 'total'", ['sync']],
  [
    'the state of a walk',
    "UPDATE walks SET verdict = NULL, reason = NULL, finished_at = NULL, state = '{bad'",
    ['sync'],
  ],
  ['the filters of a publication', "UPDATE snapshots SET filters = '{bad'", ['export', '--changes']],
  ['what belongs to a task', `UPDATE tasks SET extra = '{bad', list_hash = NULL`, ['sync', '--full']],
  [
    'what the list showed of a task',
    `UPDATE tasks SET detail_at = 1; INSERT INTO open_checks (task_id, reason, owed_at, next_check_at, listed)
     SELECT id, 'detail', 1, 0, '{bad' FROM tasks`,
    ['sync'],
  ],
])('%s: exit 7', async (_, sql, args) => {
  await using stage = await makeStage({ tasks: 20, openFraction: 0 })
  expect((await stage.runHere(['sync'])).code).toBe(0)
  const out = ['--out', `${stage.dir}/lake/`]
  expect((await stage.runHere(['export', ...out])).code).toBe(0)
  const db = new Database(stage.mirrorPath)
  db.exec(sql)
  db.close()
  const { code, stderr } = await stage.runHere([...args, ...(args[0] === 'export' ? out : [])])
  expect({ code, stderr }).toMatchObject({
    code: 7,
    stderr: expect.stringMatching(/mirror-damaged.*task-mirror verify/s),
  })
})
