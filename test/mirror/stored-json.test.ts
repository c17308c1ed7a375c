// A mirror in which text that ought to be JSON is none: whoever comes upon it says that the mirror is damaged, and what to do.
import { expect, test } from 'vitest'
import { makeStage } from '../acceptance/stage.ts'
import { changeMirror } from '../support/change-mirror.ts'

const EXTRA = `UPDATE tasks SET extra = '{bad', list_hash = NULL`
const HEADER = `UPDATE tasks SET data_header = '{bad', list_hash = NULL`

test.each<[string, string, string[]]>([
  ['a fact of the service', "UPDATE service_facts SET value = '{bad' WHERE key = 'total'", ['status']],
  ['a fact of the service', "UPDATE service_facts SET value = '{bad' WHERE key = 'total'", ['sync']],
  [
    'the state of a walk',
    "UPDATE walks SET verdict = NULL, reason = NULL, finished_at = NULL, state = '{bad'",
    ['sync'],
  ],
  [
    'the filters of a publication',
    "UPDATE snapshots SET filters = '{bad'",
    ['export', '--changes', 'last', '--out', 'LAKE'],
  ],
  ['what belongs to a task', EXTRA, ['sync', '--full']],
  ['the header of a task', HEADER, ['sync', '--full']],
  ['what belongs to a task', EXTRA, ['get', 'ID']],
  ['what belongs to a task', EXTRA, ['export', '--out', '-', '--format', 'ndjson']],
  ['what belongs to a task', EXTRA, ['export', '--out', '-', '--format', 'ndjson', '--no-redact']],
  [
    'what the list showed of a task',
    `UPDATE tasks SET detail_at = 1; INSERT INTO open_checks (task_id, reason, owed_at, next_check_at, listed)
     SELECT id, 'detail', 1, 0, '{bad' FROM tasks`,
    ['sync'],
  ],
])('%s: exit 7', async (_, sql, args) => {
  await using stage = await makeStage({ tasks: 20, openFraction: 0 })
  expect((await stage.runHere(['sync'])).code).toBe(0)
  const meant: Record<string, string> = { ID: stage.simulator.account.idAt(0), LAKE: `${stage.dir}/lake/` }
  const run = (...words: string[]) => stage.runHere(words.map((word) => meant[word] ?? word))
  expect((await run('export', '--out', 'LAKE')).code).toBe(0)
  changeMirror(stage.mirrorPath, sql)
  const { code, stderr } = await run(...args)
  expect(stderr).not.toContain('{bad')
  expect({ code, stderr }).toMatchObject({
    code: 7,
    stderr: expect.stringMatching(/mirror-damaged.*task-mirror verify/s),
  })
})

test('the error of a run that is no JSON hides nothing else: only verify calls it damage', async () => {
  await using stage = await makeStage({ tasks: 20, openFraction: 0 })
  expect((await stage.runHere(['sync'])).code).toBe(0)
  changeMirror(stage.mirrorPath, "UPDATE runs SET outcome = 'failed', exit_code = 7, error = '{bad'")
  const { code, stdout } = await stage.runHere(['status', '--json'])
  expect(code).toBe(0)
  expect(JSON.parse(stdout).runs[0]).toMatchObject({ error: expect.stringContaining('task-mirror verify') })
  for (const args of [['report', '--out', `${stage.dir}/report.html`], ['sync']])
    expect(await stage.runHere(args)).toMatchObject({ code: 0 })
  expect((await stage.runHere(['doctor'])).stderr).not.toContain('malformed')
  expect(await stage.runHere(['verify'])).toMatchObject({ code: 7 })
})
