// Issue 12: lists that show less than details, results that come late, details that lag behind the list, and fields that
// differ without meaning anything.
import { describe, expect, test } from 'vitest'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { changeMirror } from '../support/change-mirror.ts'
import { few, SOAK } from '../support/soak.ts'
import { expectExactCopy } from './copy.ts'
import { makeStage, type Stage } from './stage.ts'

const detailsOf = ({ asked }: Awaited<ReturnType<Stage['sync']>>) =>
  asked.filter(({ operation }) => operation === 'get').length
const statusOf = async (stage: Stage) => JSON.parse((await stage.runHere(['status', '--json'])).stdout)
/** Details that failed before are due at once. */
function makeDue(stage: Stage): void {
  changeMirror(stage.mirrorPath, "UPDATE open_checks SET next_check_at = 0 WHERE reason = 'detail'")
}

describe.concurrent('a list that is a summary', () => {
  const CASES: [Partial<SimulatorOptions>, string[]][] = [
    [{ listOmits: ['result.body'] }, ['result.body']],
    [{ listOmits: ['data.body', 'result.header'], order: 'created_asc' }, ['data.body', 'result.header']],
    [{ listOmits: ['result.header.x-request-id'], order: 'id_asc' }, ['result.header.x-request-id']],
    [{ listOmits: ['accuracy'], openFraction: 0.2 }, ['accuracy']],
    [{ listCarries: 'noResult', listOmits: ['data.url'] }, ['data.url', 'result']],
    [{ listNulls: ['result'] }, ['result']],
  ]
  test.for(few(CASES, (_, n) => n === 1 || n > 3))(
    '%j: every task is whole when the run ends with 0, and a quiet run asks for no detail',
    async ([options, fields]) => {
      await using stage = await makeStage({ tasks: 60, openFraction: 0, oddities: 0.2, ...options })
      const first = await stage.sync('--full')
      expect({ code: first.code, verdict: first.summary.verdict }).toEqual({ code: 0, verdict: 'complete' })
      await expectExactCopy(stage)
      const { forms } = await statusOf(stage)
      expect(forms.summary.map(({ field }: { field: string }) => field).sort()).toEqual(fields)
      const quiet = await stage.sync()
      expect({ code: quiet.code }).toEqual({ code: 0 })
      if (options.openFraction === undefined) expect(detailsOf(quiet)).toBe(0)
      const full = await stage.sync('--full')
      expect({ code: full.code, updated: full.summary.updated }).toEqual({ code: 0, updated: 0 })
      // The sample, and again for those that differ from the list.
      if (options.openFraction === undefined) expect(detailsOf(full)).toBeLessThanOrEqual(14)
      // New ones are whole at once.
      stage.simulator.account.insert(5, { openShare: 0 })
      const next = await stage.sync()
      expect(next.code).toBe(0)
      await expectExactCopy(stage)
    },
  )

  test.for(['created_desc', 'id_asc'] as const)(
    '%s: --refetch takes in a change that no list shows, and nothing stays owed',
    async (order) => {
      await using stage = await makeStage({ tasks: 60, openFraction: 0, listCarries: 'noResult', order })
      const { account } = stage.simulator
      expect((await stage.sync()).code).toBe(0)
      for (const id of [account.idAt(10), account.idAt(50)]) {
        const task = JSON.parse(account.get(id)!)
        const { result, ...listed } = task
        const edited = { ...task, result: { ...result, body: 'another' } }
        account.replaceText(id, JSON.stringify(listed), JSON.stringify(edited))
      }
      const refetched = await stage.runJson(['backfill', '--since', '2000-01-01', '--refetch'])
      expect({ code: refetched.code, updated: refetched.summary.updated }).toEqual({ code: 0, updated: 2 })
      expect((await stage.sync('--full')).code).toBe(0)
      await expectExactCopy(stage)
    },
  )

  test('where single tasks cannot be looked up at first, every run ends with 3 until one could compare', async () => {
    await using stage = await makeStage({ tasks: 60, openFraction: 0, listOmits: ['result.body'] })
    stage.simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 404 } : null))
    const first = await stage.sync()
    expect({ code: first.code, verdict: first.summary.verdict }).toEqual({ code: 3, verdict: 'complete' })
    expect(first.stderr).toContain('could not be compared with what the service shows of them by id')
    expect((await stage.sync()).code).toBe(3)
    stage.simulator.setFaults(undefined)
    expect((await stage.sync()).code).toBe(0)
    await expectExactCopy(stage)
  })

  test('as long as details are owed the run ends with 3, its walk complete', async () => {
    await using stage = await makeStage({ tasks: 60, openFraction: 0, listOmits: ['result.body'] })
    let asked = 0
    stage.simulator.setFaults(({ operation }) => {
      if (operation === 'get') asked += 1
      return operation === 'get' && asked > 20 ? { status: 500 } : null
    })
    const first = await stage.runJson(['sync'], { TASK_MIRROR_SERVICE_MAX_RETRIES: '0' })
    expect({ code: first.code, verdict: first.summary.verdict }).toEqual({ code: 3, verdict: 'complete' })
    expect(first.stderr).toContain('still owed')
    stage.simulator.setFaults(undefined)
    const next = await stage.sync()
    expect(next.code).toBe(0)
    await expectExactCopy(stage)
  })

  const TASKS = SOAK ? 1500 : 1000
  test.for(['cut', 'omit', 'mark'] as const)(
    'only of what is long (%s): found, and few others are asked for',
    async (how) => {
      await using stage = await makeStage({
        tasks: TASKS,
        openFraction: 0,
        taskBytes: 1200,
        listBodyBytes: 3000,
        listLongBodies: how,
      })
      const { account } = stage.simulator
      const long = account.ids().filter((id) => {
        const { data, result } = JSON.parse(account.get(id) as string)
        const bytes = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body)).length
        return bytes(data.body) > 3000 || bytes(result.body) > 3000
      }).length
      expect(long).toBeGreaterThan(3)
      const first = await stage.sync()
      expect(first.code).toBe(0)
      await expectExactCopy(stage)
      expect(detailsOf(first)).toBeGreaterThanOrEqual(long)
      expect(detailsOf(first)).toBeLessThan(TASKS / 3)
    },
  )

  test('where the key is refused for single tasks nothing is known of it: exit 3, unless no details are wanted', async () => {
    await using stage = await makeStage({ tasks: 30, openFraction: 0 })
    stage.simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 401 } : null))
    const { code, stderr, asked } = await stage.sync()
    expect({ code, details: asked.filter(({ operation }) => operation === 'get').length }).toEqual({
      code: 3,
      details: 1,
    })
    expect(stderr).toContain('for single tasks')
    expect((await statusOf(stage)).forms).toMatchObject({ compared: 0, summary: [] })
    for (const flags of [[], ['--full']]) expect((await stage.sync(...flags)).code).toBe(3)
    expect((await stage.sync('--full', '--details', 'never')).code).toBe(0)
  })

  test('two late details look like a rule for all tasks; once they have caught up, nothing is passed over by it', async () => {
    await using stage = await makeStage({ tasks: 40, openFraction: 0 })
    const { account } = stage.simulator
    const show = (id: string, listed: number, detail: number) => {
      const task = JSON.parse(account.get(id) as string)
      const { body: _, ...result } = task.result
      account.replaceText(
        id,
        JSON.stringify({ ...task, result, progress: listed }),
        JSON.stringify({ ...task, progress: detail }),
      )
    }
    const ids = account.ids()
    for (const id of [ids[0], ids.at(-1)]) show(id as string, 2, 1)
    expect((await stage.sync()).code).toBe(0)
    const learned = () => stage.value("SELECT count(*) FROM service_facts WHERE key = 'uneven_fields'")
    expect(learned()).toBe(1)
    for (const id of ids) show(id, 3, 3)
    const { code, summary } = await stage.sync('--full')
    expect({ code, plan: summary.plan.filter((kind) => kind === 'full') }).toEqual({ code: 0, plan: ['full', 'full'] })
    expect(learned()).toBe(0)
    await expectExactCopy(stage)
  })

  test.each(['********', '*'])(
    'that shows a mask (%s) in place of a value: every task is whole, and stays so where the list shows something new beside it',
    async (mask) => {
      await using stage = await makeStage({ tasks: 40, openFraction: 0 })
      const { account } = stage.simulator
      // Some values are longer than the mask, some are not.
      const show = (id: string, n: number, progress: number) => {
        const task = JSON.parse(account.get(id) as string)
        const shown = (trace: string) => ({
          ...{ ...task, progress },
          data: { ...task.data, header: { ...task.data.header, trace } },
        })
        account.replaceText(id, JSON.stringify(shown(mask)), JSON.stringify(shown(`${n}`)))
      }
      for (const [n, id] of account.ids().entries()) show(id, n, 1)
      expect((await stage.sync()).code).toBe(0)
      await expectExactCopy(stage)
      const { forms } = await statusOf(stage)
      expect(forms.summary).toContainEqual({ field: 'data.header.trace', how: 'replaced' })
      const text = (await stage.runHere(['status'])).stdout
      expect(text).toContain('shows something else in place of data.header.trace: details are asked for')
      for (const [n, id] of account.ids().entries()) show(id, n, 2)
      await stage.sync('--full', '--details', 'never')
      expect(stage.value("SELECT count(*) FROM tasks WHERE data_header LIKE '%*%'")).toBe(0)
      expect((await stage.sync('--full')).code).toBe(0)
      await expectExactCopy(stage)
    },
  )

  test('tasks that came while no details were asked for are whole after the next run', async () => {
    await using stage = await makeStage({ tasks: 40, openFraction: 0, listOmits: ['result.body'] })
    expect((await stage.sync()).code).toBe(0)
    stage.simulator.account.insert(5, { openShare: 0 })
    await stage.sync('--details', 'never')
    expect((await stage.sync()).code).toBe(0)
    await expectExactCopy(stage)
  })

  test('or what is gone of a task: where a run asks for no details, the next one finds out which', async () => {
    await using stage = await makeStage({ tasks: 40, openFraction: 0 })
    const { account } = stage.simulator
    expect((await stage.sync()).code).toBe(0)
    for (const id of account.ids().slice(0, 5)) {
      const { data, ...task } = JSON.parse(account.get(id) as string)
      const { body: _, ...kept } = data
      account.replaceText(id, JSON.stringify({ ...task, data: kept }))
    }
    await stage.sync('--full', '--details', 'never')
    expect((await stage.sync('--full')).code).toBe(0)
    await expectExactCopy(stage)
  })

  test('and whole where details are cut: what they have only the beginning of replaces nothing', async () => {
    await using stage = await makeStage({ tasks: 40, openFraction: 0 })
    const { account } = stage.simulator
    for (const id of account.ids()) {
      const task = JSON.parse(account.get(id) as string)
      const shown = (body: string) => JSON.stringify({ ...task, data: { ...task.data, body } })
      account.replaceText(id, shown('whole '.repeat(9)), shown('whole who'))
    }
    const cut = () => stage.value("SELECT count(*) FROM tasks WHERE data_body NOT LIKE '%whole whole %'")
    expect((await stage.sync()).code).toBe(0)
    expect(cut()).toBe(0)
    expect((await stage.runHere(['get', account.ids()[0] as string, '--refresh'])).code).toBe(0)
    await stage.sync('--full', '--details', 'always')
    expect(cut()).toBe(0)
    expect((await stage.runHere(['status'])).stdout).toContain('details have only the beginning of data.body')
  })

  test('becomes one later: nothing that is stored is cut or emptied', async () => {
    await using stage = await makeStage({ tasks: 60, openFraction: 0, spanDays: 5 })
    await stage.sync()
    const { account } = stage.simulator
    for (const id of account.ids()) {
      const text = account.get(id) as string
      const task = JSON.parse(text)
      task.result.body = JSON.stringify(task.result.body).slice(0, 20)
      account.replaceText(id, JSON.stringify(task), text)
    }
    const full = await stage.sync('--full')
    expect({ code: full.code, updated: full.summary.updated }).toEqual({ code: 0, updated: 0 })
    await expectExactCopy(stage)
    expect((await stage.sync('--full')).summary.details).toBeLessThanOrEqual(7)
  })

  test('becomes one later: a run that sees less than is stored compares, and what is new is whole', async () => {
    await using stage = await makeStage({ tasks: 60, openFraction: 0, spanDays: 5 })
    await stage.sync()
    const { account } = stage.simulator
    account.insert(5, { openShare: 0 })
    for (const id of account.ids()) {
      const text = account.get(id) as string
      const { result, ...task } = JSON.parse(text)
      account.replaceText(id, JSON.stringify({ ...task, result: { ...result, body: undefined } }), text)
    }
    const { code, summary } = await stage.sync()
    expect({ code, plan: summary.plan.includes('full') }).toEqual({ code: 0, plan: false })
    await expectExactCopy(stage)
  })
})

test('a final task without a result stays owed until it has one', async () => {
  await using stage = await makeStage({ tasks: 30, openFraction: 0, resultAfterReads: 3 })
  const codes: number[] = []
  for (let run = 0; run < 4 && codes.at(-1) !== 0; run += 1) {
    codes.push((await stage.sync()).code as number)
    expect((await statusOf(stage)).owed.details > 0).toBe(codes.at(-1) === 3)
    makeDue(stage)
  }
  expect(codes.slice(0, 2)).toEqual([3, 3])
  expect(codes.at(-1)).toBe(0)
  await expectExactCopy(stage)
})

test('a result that the list shows at last owes no detail any more', async () => {
  await using stage = await makeStage({ tasks: 30, openFraction: 0 })
  const { account } = stage.simulator
  const id = account.idAt(3)
  const text = account.get(id) as string
  const { result: _, ...rest } = JSON.parse(text)
  account.replaceText(id, JSON.stringify(rest))
  for (const _ of [1, 2, 3]) expect((await stage.sync()).code).toBe(3)
  account.replaceText(id, text)
  const { code, summary } = await stage.sync()
  expect({ code, updated: summary.updated }).toEqual({ code: 0, updated: 1 })
  await expectExactCopy(stage)
})

test('nor does it where no result was compared before: the list may show less of one', async () => {
  await using stage = await makeStage({ tasks: 30, openFraction: 0, listOmits: ['result.body'], resultAfterReads: 1 })
  expect((await stage.sync()).code).toBe(3)
  const never = await stage.sync('--full', '--details', 'never')
  const { owed } = await statusOf(stage)
  expect({ details: detailsOf(never), owed }).toMatchObject({ details: 0, owed: { details: 30 } })
  for (let run = 0; run < 2; run += 1) {
    makeDue(stage)
    await stage.sync()
  }
  await expectExactCopy(stage)
})

test('an account whose final tasks never have a result is complete, and every sync compares a few of them', async () => {
  await using stage = await makeStage({ tasks: 30, openFraction: 0 })
  const { account } = stage.simulator
  for (let slot = 0; slot < 30; slot += 1) {
    const id = account.idAt(slot)
    const task = JSON.parse(account.get(id) as string)
    account.replaceText(id, JSON.stringify({ ...task, result: null }))
  }
  const [first, second] = [await stage.sync(), await stage.sync()]
  expect([first.code, second.code]).toEqual([0, 0])
  expect(detailsOf(second)).toBeGreaterThan(0)
  expect(detailsOf(second)).toBeLessThan(9)
  await expectExactCopy(stage)
})

test('one that never has a result is asked for more and more rarely, and alarms for a day', async () => {
  await using stage = await makeStage({ tasks: 10, openFraction: 0 })
  const { account } = stage.simulator
  const id = account.idAt(3)
  const { result: _, ...rest } = JSON.parse(account.get(id) as string)
  account.replaceText(id, JSON.stringify(rest))
  const [first, second] = [await stage.sync(), await stage.sync()]
  expect([first.code, second.code]).toEqual([3, 3])
  // Twice soon: where chance compares it with the list, in the first run already.
  const times = [...first.asked, ...second.asked].filter((request) => request.id === id).length
  expect(times).toBe(2)
  const third = await stage.sync()
  expect({ code: third.code, details: detailsOf(third) }).toEqual({ code: 3, details: 0 })
  changeMirror(stage.mirrorPath, 'UPDATE open_checks SET owed_at = owed_at - 90000000, attempts = 5')
  expect((await stage.sync()).code).toBe(0)
  const { owed } = await statusOf(stage)
  expect(owed).toMatchObject({ details: 1, withoutResult: 1 })
  expect((await stage.runHere(['status'])).stdout).toContain('1 final task without a result')
})

describe.concurrent('details that lag behind the list', () => {
  test.for(few(['id_asc', 'created_desc', 'created_asc'] as const, (_, n) => n === 0))(
    'are not believed, %s: DONE stays DONE, and is whole in the end',
    async (order) => {
      await using stage = await makeStage({
        tasks: 40,
        order,
        openFraction: 0.5,
        listCarries: 'noResult',
        detailLag: 60,
      })
      await stage.sync()
      stage.simulator.account.finish(10)
      const behind = await stage.sync('--full')
      const open = () => stage.value<number>("SELECT count(*) FROM tasks WHERE system_status NOT IN ('DONE', 'FAILED')")
      const owed = () => stage.value<number>("SELECT count(*) FROM open_checks WHERE reason = 'detail'")
      expect(behind.code === 3).toBe(owed() > 0)
      for (let run = 0; run < 8 && owed() > 0; run += 1) {
        makeDue(stage)
        await stage.sync('--full')
      }
      expect(owed()).toBe(0)
      expect(open()).toBe(stage.simulator.account.openCount)
      expect((await stage.sync('--full')).code).toBe(0)
      await expectExactCopy(stage)
    },
  )
})

describe.concurrent('what differs without meaning anything owes nothing for ever', () => {
  /** What is changed in the form that an answer shows; `n` grows with every request. */
  type Show = (task: Record<string, unknown>, n: number) => void
  const as =
    (members: (n: number) => Record<string, unknown>): Show =>
    (task, n) =>
      void Object.assign(task, members(n))
  const asItIs: Show = () => undefined
  const bodiless = ({ result }: Record<string, unknown>): void => void Reflect.deleteProperty(result as object, 'body')

  async function run(list: Show, detail: Show): Promise<Stage> {
    const stage = await makeStage({ tasks: 40, openFraction: 0 })
    const { account } = stage.simulator
    const texts = new Map(account.ids().map((id) => [id, account.get(id) as string]))
    const shown = (text: string, show: Show, n: number): string => {
      const task = JSON.parse(text)
      show(task, n)
      return JSON.stringify(task)
    }
    stage.simulator.onBeforeRequest(({ n }) => {
      for (const [id, text] of texts) account.replaceText(id, shown(text, list, n), shown(text, detail, n))
    })
    return stage
  }

  const DIFFERENCES: [string, Show, Show][] = [
    ['the detail has less', as(() => ({ tags: ['a'] })), asItIs],
    ['a moment of reading in both', as((n) => ({ servedAt: n })), as((n) => ({ servedAt: n }))],
    ['a counter of the list', as((n) => ({ views: n })), asItIs],
    ['a moment of reading in the detail alone', asItIs, as((n) => ({ servedAt: `${n}` }))],
    ['another form of a value', as(() => ({ link: '/a/b' })), as(() => ({ link: 'https://x/a/b?long' }))],
    ['a null', as(() => ({ note: null })), asItIs],
    [
      'a summary with a counter',
      (task, n) => {
        bodiless(task)
        task.views = n
      },
      as((n) => ({ servedAt: n })),
    ],
  ]
  // What the detail alone has is in the last one too, and what it lacks in the last test.
  test.for(few(DIFFERENCES, (_, n) => n === 2 || n === 4 || n === 6))('%s', async ([, list, detail]) => {
    await using stage = await run(list, detail)
    expect((await stage.sync()).code).toBe(0)
    for (let round = 0; round < (SOAK ? 2 : 1); round += 1) {
      const again = await stage.sync('--full')
      expect(again.code).toBe(0)
      expect(detailsOf(again)).toBeLessThanOrEqual(14)
    }
    const { code, stdout } = await stage.runHere(['verify', '--service', '--sample', '20', '--json'])
    expect({ code, stdout }).toMatchObject({ code: 0 })
  })

  test('numbers spelled otherwise', async () => {
    await using stage = await makeStage({ tasks: 30, openFraction: 0 })
    const { account } = stage.simulator
    for (const id of account.ids()) {
      const text = account.get(id) as string
      account.replaceText(id, text.replace(/"timeframe":(\d+)/, '"timeframe":$1.0'), text)
    }
    expect((await stage.sync()).code).toBe(0)
    expect((await stage.sync('--full')).code).toBe(0)
    expect((await statusOf(stage)).forms.summary).toEqual([])
  })

  test('fields that only the list has are kept', async () => {
    await using stage = await run((task) => {
      bodiless(task)
      task.tags = ['a']
    }, asItIs)
    expect((await stage.sync()).code).toBe(0)
    const rows = stage.rows<{ extra: string; body: string | null }>('SELECT extra, result_body AS body FROM tasks')
    expect(rows.filter(({ extra, body }) => extra !== '{"tags":["a"]}' || body === null)).toEqual([])
  })
})

describe.concurrent('a state that a look-up has shown, and no list', () => {
  const FINAL = (text: string) => JSON.stringify({ ...JSON.parse(text), timeframe: 1, completedAt: Date.now() })
  const ENDED = (text: string) =>
    JSON.stringify({ ...JSON.parse(text), systemStatus: 'DONE', completedAt: 1, result: { statusCode: 200 } })
  const CHANGES = [
    ['a final task', 0, FINAL],
    ['an open task that ended', 1, ENDED],
  ] as const

  /** A mirror of a task, which is another one now as its look-up shows it, and `listed` in the list. */
  async function makeLookedUp(openFraction: number, change: (text: string) => string, isListed: boolean) {
    const stage = await makeStage({ tasks: 60, openFraction, compression: 'none' })
    expect((await stage.sync('--full')).code).toBe(0)
    const { account } = stage.simulator
    const id = account.ids()[30] as string
    const before = account.get(id) as string
    const after = change(before)
    account.replaceText(id, isListed ? after : before, after)
    expect((await stage.runJson(['backfill', '--id', id])).summary.updated).toBe(1)
    return { stage, account, id, before, after }
  }

  test.each(CHANGES)('%s: where it is taken back, the next full walk shows it', async (_, openFraction, change) => {
    const { stage, account, id, before } = await makeLookedUp(openFraction, change, true)
    await using _stage = stage
    account.replaceText(id, before)
    const full = await stage.sync('--full')
    expect([full.code, full.summary.updated]).toEqual([0, 1])
    await expectExactCopy(stage)
  })

  test.each(CHANGES)(
    '%s: where the list lags, it is asked for once more by each full walk, and stays',
    async (_, openFraction, change) => {
      const { stage, account, id, after } = await makeLookedUp(openFraction, change, false)
      await using _stage = stage
      const contested = () => stage.value('SELECT count(*) FROM tasks WHERE list_hash IS NULL')
      expect(contested()).toBe(1)
      const sync = async (lags: number) => {
        const { code, summary } = await stage.sync('--full')
        expect([code, summary.updated, contested()]).toEqual([0, 0, lags])
      }
      await sync(1)
      await sync(1)
      account.replaceText(id, after)
      await sync(0)
      await expectExactCopy(stage)
    },
  )
})

test.each([
  ['nobody', '1 of 2 ids brought no task: "nobody".\n'],
  ['a,b', '1 of 2 ids brought no task: "a,b". Several are written --id a b.\n'],
])('backfill --id %j names the ids that brought no task, and how several are written', async (id, words) => {
  await using stage = await makeStage({ tasks: 3, openFraction: 0 })
  const { code, stdout } = await stage.runHere(['backfill', '--id', id, stage.simulator.account.idAt(0)])
  expect(code).toBe(3)
  expect(stdout).toContain(words)
})

test('an id whose look-up brings another task is short in every run that asks for just this one', async () => {
  await using stage = await makeStage({ tasks: 30, openFraction: 0 })
  const { account } = stage.simulator
  await stage.sync()
  account.insert(1, { openShare: 0 })
  const id = account.idAt(0)
  account.replaceText(id, account.get(id) as string, account.get(account.idAt(5)) as string)
  for (let run = 0; run < 2; run += 1) {
    const { code, stdout } = await stage.runHere(['backfill', '--id', id])
    expect({ code, stdout }).toEqual({
      code: 3,
      stdout: expect.stringContaining(`1 of 1 ids brought no task that could be taken in: "${id}".`),
    })
  }
})

describe('a service that lists tasks and does not answer for single ones', () => {
  const ONCE = { TASK_MIRROR_SERVICE_MAX_RETRIES: '0' }
  const LACKING = { tasks: 60, openFraction: 0, listCarries: 'noResult' } as const

  test('is not asked for all that are owed: exit 3, and the next run has them', async () => {
    await using stage = await makeStage(LACKING)
    stage.simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 500 } : null))
    for (const flags of [[], ['--full']]) {
      const run = await stage.runJson(['sync', ...flags], ONCE)
      expect({ code: run.code, gaveUp: run.stderr.includes('no more tasks') }).toEqual({ code: 3, gaveUp: true })
      expect(detailsOf(run)).toBeLessThan(25)
    }
    // The others wait no longer for having failed.
    expect(stage.value('SELECT count(*) FROM open_checks WHERE attempts = 0')).toBeGreaterThan(20)
    stage.simulator.setFaults(undefined)
    expect((await stage.sync('--full')).code).toBe(0)
    await expectExactCopy(stage)
  })

  const nextOf = (stage: Stage) => async (ms: number) => {
    stage.pass(ms)
    const { code, summary } = await stage.runJson(['sync'], ONCE)
    return [code, summary.plan.includes('full'), summary.deleted]
  }

  test('for one that is deleted before its detail came: within the hour a full walk tells', async () => {
    await using stage = await makeStage({ ...LACKING, stepMs: 100 })
    const { account } = stage.simulator
    const gone = account.idAt(20)
    const next = nextOf(stage)
    stage.simulator.onBeforeRequest(({ operation }) => {
      if (operation === 'get' && account.get(gone) !== null) account.remove([gone])
    })
    expect(await next(0)).toEqual([3, true, 0])
    expect(await next(300_000)).toEqual([3, false, 0])
    expect(await next(3_600_000)).toEqual([0, true, 1])
    await expectExactCopy(stage)
  })

  test('for one that it lists all the same: a full walk is brought forward once', async () => {
    await using stage = await makeStage({ ...LACKING, stepMs: 100 })
    const hidden = stage.simulator.account.idAt(20)
    const next = nextOf(stage)
    stage.simulator.setFaults(({ operation, id }) => (operation === 'get' && id === hidden ? { status: 404 } : null))
    expect(await next(0)).toEqual([3, true, 0])
    stage.pass(3_900_000)
    // What is asked for is a range.
    const { summary } = await stage.runJson(['backfill', '--since', '2000-01-01', '--refetch'], ONCE)
    expect(summary.plan).toEqual(['range', 'refetch', 'details'])
    expect(await next(600_000)).toEqual([3, true, 0])
    expect(await next(7_200_000)).toEqual([3, false, 0])
    stage.simulator.setFaults(undefined)
    expect(await next(7_200_000)).toEqual([0, false, 0])
    await expectExactCopy(stage)
  })

  test('is not asked by any later step either, nor again for those that are compared', async () => {
    await using stage = await makeStage({ tasks: 200, openFraction: 0 })
    stage.simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 500 } : null))
    const run = await stage.runJson(['sync'], ONCE)
    expect({ code: run.code, times: run.stderr.split('no more tasks').length - 1 }).toEqual({ code: 3, times: 1 })
    // The sample, one of them first, and others by chance.
    expect(detailsOf(run)).toBeLessThanOrEqual(7 + 3)
  })

  test('is asked for all others where many side by side cannot be read', async () => {
    await using stage = await makeStage(LACKING)
    const broken = new Set(stage.simulator.account.ids().slice(-20))
    stage.simulator.setFaults(({ operation, id }) =>
      operation === 'get' && broken.has(id ?? '') ? { status: 500 } : null,
    )
    const { code } = await stage.runJson(['sync'], { ...ONCE, TASK_MIRROR_SERVICE_CONCURRENCY: '1' })
    expect({ code, owed: stage.value("SELECT count(*) FROM open_checks WHERE reason = 'detail'") }).toEqual({
      code: 3,
      owed: broken.size,
    })
  })

  test('leaves open tasks unknown: exit 3', async () => {
    await using stage = await makeStage({ tasks: 300, openFraction: 0, window: 50 })
    stage.simulator.account.insert(12, { where: 'middle', openShare: 1 })
    expect((await stage.sync()).code).toBe(0)
    stage.simulator.account.finish(12)
    stage.simulator.setFaults(({ operation }) => (operation === 'get' ? { status: 500 } : null))
    const { code, stderr } = await stage.runJson(['sync'], ONCE)
    expect({ code, said: stderr.includes('open tasks not answered for') }).toEqual({ code: 3, said: true })
  })
})
