// What the list shows after a look-up has shown another state, in a real mirror: which of the two stays, and what is owed.
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { prepareWindow } from '../../src/sync/writer/prepare.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { makeScratch } from '../support/scratch.ts'
import { openRun } from '../support/session.ts'

const HOUR = 3_600_000
const FINAL = new Set(['DONE'])

/** `by: 'sql'` is what happened to the mirror otherwise; `after`: as the same run has listed it before. */
type Step = { by: 'list' | 'detail'; shows: object; after?: object } | { by: 'sql'; text: string } | { by: 'failure' }
const listed = (shows: object): Step => ({ by: 'list', shows })
const lookedUp = (shows: object, after?: object): Step => ({ by: 'detail', shows, ...(after && { after }) })

type Rules = Parameters<typeof openRun>[2]

/** Carries out each step in a run of its own, an hour after the one before; returns what the mirror holds then. */
function after(steps: Step[], rules: Rules = { asksDetails: true }) {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  let now = 20_000 * 24 * HOUR
  for (const step of steps) {
    now += HOUR
    if (step.by === 'sql') {
      changeMirror(path, step.text)
      continue
    }
    const session = openRun(path, now, rules)
    if (step.by === 'failure') {
      const failed = { kind: 'failed', taskId: 'a', reason: 'detail', error: 'HTTP 503', isOwedFromNow: false } as const
      session.takeDetails([failed], now)
      session.close()
      continue
    }
    const itemOf = (shows: object) => ({ id: 'a', createdAt: 1, ...shows })
    const raw = (body: object) => Buffer.from(JSON.stringify({ statusCode: 200, body }))
    const shown = step.by === 'list' ? step.shows : step.after
    if (shown !== undefined) {
      session.hold(1, prepareWindow(raw({ items: [itemOf(shown)] }), FINAL), null)
      session.takeIn({ handle: 1, walkId: null, skip: 0, readAt: now, now })
    }
    if (step.by === 'detail') {
      const { handle } = session.parseDetail(raw({ item: itemOf(step.shows) }))
      session.takeDetails([{ kind: 'found', taskId: 'a', handle, readAt: now }], now)
    }
    session.close()
  }
  const db = new Database(path, { readonly: true })
  const row = db
    .prepare(
      `SELECT system_status AS status, accuracy, completed_at AS completedAt, deleted_at IS NULL AS live FROM tasks`,
    )
    .get()
  const owed = db.prepare("SELECT count(*) FROM open_checks WHERE reason = 'detail'").pluck().get()
  db.close()
  return { ...(row as { status: string; accuracy: string; completedAt: number | null; live: number }), owed }
}

/** A complete walk has not met the task. */
const unlisted: Step = {
  by: 'sql',
  text: "INSERT INTO open_checks (task_id, reason, next_check_at) VALUES ('a', 'candidate', 0)",
}

/** As `backfill --refetch` owes it. */
const detailOwed: Step = {
  by: 'sql',
  text: "INSERT INTO open_checks (task_id, reason, next_check_at) VALUES ('a', 'detail', 0)",
}

const result = { statusCode: 200 }
const data = { method: 'GET' }
const more = { ...data, url: 'u' }
const DAY = { systemStatus: 'DONE', completedAt: 1, accuracy: 'DAY', data, result }
const MONTH = { systemStatus: 'DONE', completedAt: 2, accuracy: 'MONTH', data, result }
const YEAR = { ...DAY, completedAt: 3, accuracy: 'YEAR' }
const OPEN = { systemStatus: 'NEW', data }
const UNDATED = { ...MONTH, accuracy: 'YEAR' }
const THIRD = { ...MONTH, accuracy: 'WEEK' }

test.each<[string, Step[], object]>([
  ['the list shows the state before it', [listed(DAY), lookedUp(MONTH), listed(DAY)], { accuracy: 'MONTH', owed: 1 }],
  [
    'and a look-up after it, too: it was taken back',
    [listed(DAY), lookedUp(MONTH), listed(DAY), lookedUp(DAY), listed(DAY)],
    { accuracy: 'DAY', owed: 0 },
  ],
  [
    'and a look-up after it does not: one of the two lags, and as long as they differ it is asked again',
    [listed(DAY), lookedUp(MONTH), listed(DAY), lookedUp(MONTH), listed(DAY)],
    { accuracy: 'MONTH', owed: 1 },
  ],
  [
    'which is its end, and the list shows it open, as before it ended: it was run again',
    [listed(OPEN), lookedUp(DAY), listed(OPEN), lookedUp(MONTH), listed(OPEN), lookedUp(OPEN)],
    { status: 'NEW', owed: 0 },
  ],
  [
    'as the list did, which shows the task open then: the look-up came late',
    [listed(DAY), listed(OPEN), lookedUp(DAY), listed(OPEN), lookedUp(OPEN)],
    { status: 'NEW', owed: 0 },
  ],
  [
    'and no look-up is answered: the state stays that a look-up has shown',
    [listed(DAY), lookedUp(MONTH), listed(DAY), listed(DAY)],
    { accuracy: 'MONTH', owed: 1 },
  ],
  [
    'and another one; the list shows the state before both',
    [listed(DAY), lookedUp(MONTH), lookedUp(YEAR), listed(DAY)],
    { accuracy: 'YEAR', owed: 1 },
  ],
  [
    'and a newer one than both; a look-up that lags decides nothing',
    [listed(DAY), lookedUp(MONTH), listed(YEAR), lookedUp(MONTH), listed(YEAR)],
    { accuracy: 'MONTH', owed: 1 },
  ],
  [
    'and one that nothing dates; the look-up counts only when it has shown the same for an hour',
    [listed(DAY), lookedUp(MONTH), listed(UNDATED), lookedUp(MONTH)],
    { accuracy: 'MONTH', owed: 1 },
  ],
  [
    'the same, and the list shows that state before the next look-up does: nothing is owed any more',
    [listed(DAY), lookedUp(MONTH), listed(UNDATED), listed(MONTH), lookedUp(MONTH)],
    { accuracy: 'MONTH', owed: 0 },
  ],
  [
    'the same, three times, and an hour later',
    [
      listed(DAY),
      lookedUp(MONTH),
      listed(UNDATED),
      lookedUp(MONTH),
      lookedUp(MONTH),
      lookedUp(MONTH),
      lookedUp(MONTH),
      listed(UNDATED),
    ],
    { accuracy: 'MONTH', owed: 0 },
  ],
  [
    'that nothing dates, of a task that was not listed; then it is listed as it was',
    [listed(MONTH), unlisted, lookedUp(UNDATED), listed(MONTH)],
    { accuracy: 'YEAR', owed: 1 },
  ],
  [
    'that nothing dates, and the list a third one, which the next look-up shows as well: nothing is owed any more',
    [listed(MONTH), detailOwed, lookedUp(UNDATED), listed(THIRD), lookedUp(THIRD)],
    { accuracy: 'WEEK', owed: 0 },
  ],
  [
    'that nothing dates, though nothing was owed: what the list shows stays, and another look-up tells',
    [listed(MONTH), lookedUp(UNDATED)],
    { accuracy: 'MONTH', owed: 1 },
  ],
  [
    'and the one after it what the list shows, which is no doubt then',
    [listed(MONTH), lookedUp(UNDATED), lookedUp(MONTH)],
    { accuracy: 'MONTH', owed: 0 },
  ],
  [
    'of a field that only the service knows, though nothing was owed: it may just differ',
    [listed({ ...MONTH, views: 1 }), lookedUp({ ...MONTH, views: 2 })],
    { owed: 0 },
  ],
  [
    'that nothing dates, and goes on doing so; an hour and three attempts later it counts',
    [listed(MONTH), detailOwed, ...Array.from({ length: 4 }, () => lookedUp(UNDATED)), listed(MONTH)],
    { accuracy: 'YEAR', owed: 0 },
  ],
  [
    'that nothing dates, and the list a third one; a look-up that shows the first one settles nothing',
    [listed(MONTH), detailOwed, lookedUp(UNDATED), listed(THIRD), lookedUp(MONTH)],
    { owed: 1 },
  ],
  [
    'which is open, of a task that is listed no more, as where a list shows only what has ended: it was run again',
    [listed(DAY), unlisted, lookedUp(OPEN)],
    { status: 'NEW', owed: 0 },
  ],
  [
    'with more in it, of a task that was not listed; then it is listed as it was',
    [listed(MONTH), unlisted, lookedUp({ ...MONTH, data: more }), listed(MONTH)],
    { accuracy: 'MONTH', owed: 0 },
  ],
  [
    'which is open, of a task that was not listed but is again in this run: the look-up came late',
    [listed(DAY), unlisted, lookedUp(OPEN, DAY)],
    { status: 'DONE', accuracy: 'DAY' },
  ],
  [
    'which is open, of a task that was not listed; then it is listed as it was: the look-up came late',
    [listed(DAY), unlisted, lookedUp(OPEN), listed(DAY), lookedUp(DAY)],
    { status: 'DONE', accuracy: 'DAY', owed: 0 },
  ],
  [
    'and then less than that: another look-up tells whether it is gone',
    [listed(DAY), lookedUp({ ...MONTH, data: more }), listed(MONTH)],
    { accuracy: 'MONTH', owed: 1 },
  ],
  ['the list shows the same', [listed(DAY), lookedUp(MONTH), listed(MONTH)], { accuracy: 'MONTH', owed: 0 }],
  [
    'of an open task, the list shows its end',
    [listed({ systemStatus: 'NEW', data }), lookedUp({ systemStatus: 'SENT', data }), listed(DAY)],
    { status: 'DONE', owed: 0 },
  ],
  [
    'of a task that is deleted then, the list shows it again',
    [listed(DAY), lookedUp(MONTH), { by: 'sql', text: 'UPDATE tasks SET deleted_at = 1' }, listed(DAY)],
    { live: 1, accuracy: 'DAY', owed: 0 },
  ],
  [
    'with more than the list shows, and how the list showed it is forgotten',
    [
      listed(DAY),
      lookedUp({ ...DAY, data: more }),
      { by: 'sql', text: 'UPDATE tasks SET list_hash = NULL, detail_at = NULL' },
      listed({ ...MONTH, data: more }),
    ],
    { accuracy: 'MONTH', owed: 0 },
  ],
  [
    'with more than the list shows, which changes then: a look-up that shows the state before it lags',
    [listed(DAY), lookedUp({ ...DAY, data: more }), listed(MONTH), lookedUp({ ...DAY, data: more })],
    { accuracy: 'DAY', owed: 1 },
  ],
])('a look-up has shown another state: %s', (_, steps, expected) => {
  expect(after(steps)).toMatchObject(expected)
})

/** What comparisons have shown of the list. */
const known = (key: 'summary_fields' | 'uneven_fields', fields: object[]): Step => ({
  by: 'sql',
  text: `INSERT INTO service_facts (key, value, observed_at) VALUES ('${key}', '${JSON.stringify(fields)}', 0)`,
})
const listCuts = known('summary_fields', [{ path: ['data', 'body'], how: 'cut', from: 10 }])
const bodyOf = (length: number, accuracy = 'DAY') => ({ ...DAY, accuracy, data: { ...data, body: 'x'.repeat(length) } })

/** `owed`: how many look-ups then. */
test.each<[string, Step[], number]>([
  ['the body as before', [listed(bodyOf(20)), listCuts, lookedUp(bodyOf(99)), listed(bodyOf(20))], 0],
  ['less of the body', [listed(bodyOf(20)), listCuts, lookedUp(bodyOf(99)), listed(bodyOf(15))], 0],
  ['less of it than it leaves', [listed(bodyOf(20)), listCuts, lookedUp(bodyOf(99)), listed(bodyOf(5))], 1],
  ['less of another field', [listed(bodyOf(20)), listCuts, lookedUp(bodyOf(99)), listed(bodyOf(20, 'D'))], 1],
  ['less of a body that it showed whole', [listed(bodyOf(99)), listCuts, lookedUp(bodyOf(99)), listed(bodyOf(20))], 1],
])('a list that cuts bodies shows %s', (_, steps, owed) => {
  expect(after(steps)).toMatchObject({ accuracy: 'DAY', owed })
})

test('where a list that leaves out what is long shows the beginning of it, a look-up is owed', () => {
  const { data: _data, ...without } = bodyOf(99)
  const listLeavesOut = known('summary_fields', [{ path: ['data', 'body'], how: 'absent' }])
  const steps = [listed({ ...without, data }), listLeavesOut, lookedUp(bodyOf(99))]
  expect(after(steps)).toMatchObject({ owed: 0 })
  expect(after([...steps, listed(bodyOf(5))])).toMatchObject({ owed: 1 })
})

test.each([
  ['comes in once the task has ended', 'DAY'],
  ['changes', 'WEEK'],
])('what only the list has is kept where it %s, though the list leaves out the result', (_, accuracy) => {
  const { result: _result, ...summary } = DAY
  const steps = [
    known('summary_fields', [{ path: ['result'], how: 'absent' }]),
    known('uneven_fields', [{ path: ['accuracy'], how: 'only-listed' }]),
    lookedUp({ systemStatus: 'DONE', completedAt: 1, data, result }),
    listed(summary),
  ]
  expect(after([listed(OPEN), ...steps, listed({ ...summary, accuracy })])).toMatchObject({ accuracy, owed: 0 })
})

const deleted: Step = { by: 'sql', text: 'UPDATE tasks SET deleted_at = 1' }
const NEXT = { createdAt: 5_000, systemStatus: 'NEW', accuracy: 'MINUTE', data }

test.each<[string, Step[], Rules]>([
  ['was deleted, by the list', [listed(DAY), deleted, listed(NEXT)], { asksDetails: true }],
  ['was deleted, by the list without details', [listed(DAY), deleted, listed(NEXT)], { asksDetails: false }],
  ['is of the account before, by the list', [listed(DAY), listed(NEXT)], { asksDetails: false, acceptOthers: true }],
  ['is of the account before, by a look-up', [listed(DAY), lookedUp(NEXT)], { asksDetails: true, acceptOthers: true }],
])('another task is shown under the id of one that %s: nothing of the first one stays', (_, steps, rules) => {
  const row = { status: 'NEW', accuracy: 'MINUTE', completedAt: null, live: 1, owed: 0 }
  expect(after(steps, rules)).toEqual(row)
})

test('where no details are asked for, the list that is read later counts', () => {
  expect(after([listed(DAY), lookedUp(MONTH), listed(DAY)], { asksDetails: false })).toMatchObject({
    accuracy: 'DAY',
    owed: 0,
  })
})

test('of two look-ups in one run, the one that was asked for earlier does not replace the other, whichever is taken in last', () => {
  using scratch = makeScratch()
  const session = openRun(scratch.path('mirror.sqlite'), HOUR, { asksDetails: true })
  const lookUp = (systemStatus: string, readAt: number) => {
    const item = { id: 'a', createdAt: 1, systemStatus, data: { url: 'u' } }
    const { handle } = session.parseDetail(Buffer.from(JSON.stringify({ statusCode: 200, body: { item } })))
    return session.takeDetails([{ kind: 'found', taskId: 'a', handle, readAt }], HOUR)[0]?.outcome
  }
  expect([lookUp('RUNNING', HOUR + 2), lookUp('PENDING', HOUR + 1), lookUp('RETRYING', HOUR + 3)]).toEqual([
    'inserted',
    'older',
    'updated',
  ])
  session.close()
})

// A list that leaves out data and result: what is listed dates nothing, as no task has a completedAt.
const brief = (accuracy: string) => listed({ systemStatus: 'DONE', accuracy })
const lookUp = (accuracy: string, more: object = { result }) =>
  lookedUp({ systemStatus: 'DONE', accuracy, data, ...more })
const failure: Step = { by: 'failure' }
const times = <T>(count: number, step: T): T[] => Array.from({ length: count }, () => step)

test.each<[string, Step[], object]>([
  [
    'nothing was owed before',
    [brief('DAY'), lookUp('DAY'), brief('MONTH'), lookUp('HOUR'), brief('MONTH')],
    { owed: 1 },
  ],
  [
    'look-ups had failed for hours',
    [brief('DAY'), lookUp('DAY'), brief('MONTH'), ...times(4, failure), lookUp('HOUR'), brief('MONTH'), brief('MONTH')],
    { owed: 1 },
  ],
  [
    'its result had been waited for for hours',
    [brief('DAY'), ...times(4, lookUp('DAY', {})), brief('MONTH'), lookUp('HOUR'), brief('MONTH'), brief('MONTH')],
    { owed: 1 },
  ],
  [
    'its result had been waited for, and the look-up shows the list behind',
    [brief('DAY'), ...times(4, lookUp('DAY', {})), brief('MONTH'), lookUp('HOUR'), brief('MONTH'), lookUp('MONTH')],
    { accuracy: 'MONTH', owed: 0 },
  ],
])('the first look-up that shows another state than the list is not believed where %s', (_, steps, expected) => {
  expect(after(steps)).toMatchObject(expected)
})
