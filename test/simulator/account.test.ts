// The account as pure state: orders, operations, determinism. No HTTP.
import { describe, expect, it, vi } from 'vitest'
import { type Account, createAccount } from '../../src/simulator/account.ts'
import type { Carries, ListOrderName } from '../../src/simulator/options.ts'
import { SimulatedTasks } from '../../src/simulator/task-table.ts'
import type { Task } from '../../src/task.ts'
import { expectedTexts, recordHistory } from '../support/account-history.ts'

const NOW = Date.UTC(2026, 10, 20)
const MINUTE = 60_000

type Options = NonNullable<Parameters<typeof createAccount>[0]>

/** An account of 200 tasks whose clock stands still. */
function account(options: Options = {}): Account {
  return createAccount({ tasks: 200, now: () => NOW, ...options })
}

function texts(from: Account, skip = 0, take = 1000): string[] {
  const answer = from.list(skip, take)
  if (answer.kind !== 'window') throw new Error(`refused: ${answer.status} ${answer.message}`)
  return answer.texts
}

function tasks(from: Account, skip = 0, take = 1000): Task[] {
  return texts(from, skip, take).map((text) => JSON.parse(text))
}

const ids = (from: Account, skip = 0, take = 1000) => tasks(from, skip, take).map(({ id }) => id)
const moments = (from: Account) => tasks(from).map(({ createdAt }) => createdAt as number)

describe('an account', () => {
  it('is the same for the same seed and calls, and another for another seed', () => {
    const lived = (seed: number) => {
      const it = account({ seed, oddities: 0.2, lateFraction: 0.1, futureFraction: 0.1 })
      it.insert(5)
      it.finish(2)
      it.update(3)
      it.remove(4)
      return texts(it)
    }
    expect(lived(7)).toEqual(lived(7))
    expect(new Set(lived(7)).intersection(new Set(lived(8))).size).toBe(0)
  })

  it('keeps its texts when the clock moves but `newest` stays', () => {
    const at = (now: number) => texts(account({ newest: NOW, now: () => now }))
    expect(at(NOW)).toEqual(at(NOW + 999_999))
  })

  it('holds tasks with the fields of the interface document', () => {
    const all = tasks(account({ tasks: 2000 }))
    const done = all.filter(({ systemStatus }) => systemStatus === 'DONE')
    expect(done.length).toBeGreaterThan(800)
    for (const task of done) {
      expect(task).toEqual({
        id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
        userId: all[0]!.userId,
        data: {
          method: expect.any(String),
          url: expect.stringMatching(/^https:/),
          body: expect.any(String),
          header: expect.any(Object),
        },
        timeframe: expect.any(Number),
        accuracy: 'MINUTE',
        systemStatus: 'DONE',
        createdAt: expect.any(Number),
        completedAt: expect.any(Number),
        result: {
          body: expect.any(Object),
          header: expect.any(Object),
          statusCode: expect.any(Number),
          statusText: expect.any(String),
        },
      })
    }
    const open = all.filter((task) => !('completedAt' in task))
    expect(open.every((task) => !('result' in task) && task.systemStatus !== 'DONE')).toBe(true)
  })

  it('has no two tasks with one id among 20,000', () => {
    expect(new Set(account({ tasks: 20_000 }).ids()).size).toBe(20_000)
  })

  it('has the wanted share of open tasks and the wanted mean size', () => {
    const it = account({ tasks: 5000, openFraction: 0.1, taskBytes: 1500 })
    expect(it.openCount).toBeGreaterThan(400)
    expect(it.openCount).toBeLessThan(600)
    const bytes = [...expectedTexts(it).values()].map((text) => Buffer.byteLength(text))
    const mean = bytes.reduce((sum, each) => sum + each, 0) / bytes.length
    expect(mean).toBeGreaterThan(1200)
    expect(mean).toBeLessThan(1800)
    expect(Math.max(...bytes)).toBeGreaterThan(4 * mean)
  })

  it('finds a window at the far end of a million tasks without making the others', () => {
    const it = account({ tasks: 1_000_000 })
    const made = vi.spyOn(SimulatedTasks.prototype, 'text')
    expect(ids(it, 999_990, 1000)).toHaveLength(10)
    expect(made).toHaveBeenCalledTimes(10)
    made.mockRestore()
  })

  it('gives at least `tieGroup` neighbours one createdAt', () => {
    expect(new Set(moments(account({ tieGroup: 20 }))).size).toBe(10)
  })

  it('dates shares of its tasks late and in the future', () => {
    const created = moments(
      account({ order: 'insertion', lateFraction: 0.2, lateMs: 30 * 86_400_000, futureFraction: 0.1 }),
    )
    const ahead = created.filter((moment) => moment > NOW).length
    expect(ahead).toBeGreaterThan(5)
    expect(ahead).toBeLessThan(50)
    const past = created.filter((moment) => moment <= NOW)
    expect(past.filter((moment, i) => i > 0 && moment < past[i - 1]!).length).toBeGreaterThan(10)
  })

  it('sprinkles texts that JSON.parse and JSON.stringify do not bring back', () => {
    const all = texts(account({ tasks: 1000, oddities: 0.5, openFraction: 0.5 })).join('\n')
    for (const odd of [
      '12345678901234567',
      '1.0',
      '1e400',
      '"completedAt":null',
      '\\ud83d here',
      '"__proto__"',
      '"tags"',
    ]) {
      expect(all).toContain(odd)
    }
    for (const text of all.split('\n')) expect(() => JSON.parse(text)).not.toThrow()
  })
})

describe('the order of the list', () => {
  const key: Partial<Record<ListOrderName, (task: Task) => number | string>> = {
    created_desc: (task) => -(task.createdAt as number),
    created_asc: (task) => task.createdAt as number,
    id_asc: (task) => task.id,
  }
  it.each(Object.keys(key) as ListOrderName[])('%s holds at the start and after changes', (order) => {
    const it = account({ order, futureFraction: 0.05 })
    it.insert(3)
    it.insert(50, { where: 'late' })
    it.insert(2, { where: 'middle' })
    it.finish(5)
    it.remove(40)
    const keys = tasks(it).map(key[order]!)
    expect(keys).toHaveLength(215)
    expect(keys).toEqual([...keys].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
  })

  it('id_desc is id_asc backwards', () => {
    expect(ids(account({ order: 'id_desc' }))).toEqual(ids(account({ order: 'id_asc' })).reverse())
  })

  it('insertion puts new tasks last, whatever their createdAt', () => {
    const it = account({ order: 'insertion' })
    const [late] = it.insert(1, { where: NOW - 365 * 86_400_000 })
    expect(ids(it).at(-1)).toBe(late)
  })

  it('updated_desc brings what is finished, changed or moved to the front', () => {
    const it = account({ order: 'updated_desc', openFraction: 0.1 })
    const [moved] = it.move(1)
    expect(ids(it)[0]).toBe(moved)
    const [finished] = it.finish(1)
    const [updated] = it.update([it.idAt(100)])
    expect(ids(it).slice(0, 3)).toEqual([updated, finished, moved])
    expect([ids(it).length, new Set(ids(it)).size]).toEqual([200, 200])
  })

  it('shuffled shows the same tasks in another sequence at every read', () => {
    const it = account({ order: 'shuffled' })
    const [first, second] = [ids(it), ids(it)]
    expect(first).not.toEqual(second)
    expect([...first].sort()).toEqual([...second].sort())
  })

  it('shuffleTies changes places only among tasks with equal createdAt, also across the edge of a window', () => {
    const it = account({ shuffleTies: true, tieGroup: 10 })
    const before = moments(it)
    expect(moments(it)).toEqual(before)
    const reads = Array.from({ length: 20 }, () => ids(it, 5, 10).join())
    expect(new Set(reads).size).toBeGreaterThan(15)
    const seen = new Set(Array.from({ length: 60 }, () => ids(it, 5, 5)).flat())
    expect(seen).toEqual(new Set(it.ids().slice(0, 10)))
    const second = new Set(it.ids().slice(10, 20))
    expect(ids(it, 5, 10).map((id) => second.has(id))).toEqual([...Array(5).fill(false), ...Array(5).fill(true)])
  })

  it('without shuffleTies equal createdAt keep their places', () => {
    const it = account({ tieGroup: 10 })
    expect(ids(it)).toEqual(ids(it))
  })
})

describe('changes', () => {
  it.each([
    ['created_desc', 'front', 0],
    ['created_desc', 'behind', 200],
    ['created_asc', 'front', 0],
    ['created_asc', 'behind', 200],
  ] as const)('in %s an insert %s lands at index %i', (order, where, index) => {
    const it = account({ order })
    const [id] = it.insert(1, { where })
    expect(it.idAt(index)).toBe(id)
  })

  it('an insert in the middle lands in the middle half', () => {
    const it = account()
    const [id] = it.insert(1, { where: 'middle' })
    const index = it.ids().indexOf(id!)
    expect(index).toBeGreaterThanOrEqual(49)
    expect(index).toBeLessThanOrEqual(151)
  })

  it.each([
    ['now', NOW, NOW],
    ['late', NOW - 30_000, NOW - 1],
    ['future', NOW + 1, NOW + 86_400_000],
    [NOW - MINUTE, NOW - MINUTE, NOW - MINUTE],
  ] as const)('an insert dated %s has that createdAt', (where, from, to) => {
    const it = account({ order: 'insertion' })
    for (const id of it.insert(20, { where })) {
      const { createdAt } = JSON.parse(it.get(id)!)
      expect(createdAt).toBeGreaterThanOrEqual(from)
      expect(createdAt).toBeLessThanOrEqual(to)
    }
  })

  it('a finished task has completedAt and result, and was open before', () => {
    const it = account()
    const [id] = it.insert(1)
    expect(JSON.parse(it.get(id!)!)).not.toHaveProperty('completedAt')
    expect(it.finish([id!])).toEqual([id])
    expect(JSON.parse(it.get(id!)!)).toMatchObject({ completedAt: NOW, result: { body: {} } })
    expect(it.finish([id!])).toEqual([])
  })

  it('finishes no more tasks than are open', () => {
    const it = account({ openFraction: 0.5 })
    const open = it.openCount
    expect(it.finish(1000)).toHaveLength(open)
    expect(it.openCount).toBe(0)
  })

  it.each([
    ['front', 0],
    ['behind', 199],
  ] as const)('removes at the %s', (where, index) => {
    const it = account()
    const doomed = it.idAt(index)
    expect(it.remove(1, { where })).toEqual([doomed])
    expect(it.get(doomed)).toBeNull()
    expect(it.ids()).not.toContain(doomed)
  })

  it('removes more than there are by removing all', () => {
    const it = account()
    expect(it.remove(500, { where: 'middle' })).toHaveLength(200)
    expect(it.list(0, 10)).toEqual({ kind: 'window', texts: [] })
  })

  it('delisted tasks are answered by id, removed ones are not, restored ones are listed again at their place', () => {
    const it = account()
    const before = ids(it)
    const text = it.get(before[3]!)
    it.delist([before[3]!])
    it.remove([before[5]!])
    expect(ids(it)).toHaveLength(198)
    expect(it.get(before[3]!)).toBe(text)
    expect(it.get(before[5]!)).toBeNull()
    it.restore([before[3]!, before[5]!])
    expect(ids(it)).toEqual(before)
  })

  it('a restored open task can be finished', () => {
    const it = account({ openFraction: 0 })
    const [id] = it.insert(1)
    it.remove([id!])
    expect(it.finish(1)).toEqual([])
    it.restore([id!])
    expect(it.finish(1)).toEqual([id])
  })

  it('shows a replaced text as it was given', () => {
    const it = account()
    it.replaceText(it.idAt(1), '"no task"', '{"id":1}')
    expect(texts(it, 1, 1)).toEqual(['"no task"'])
    expect(it.get(it.idAt(1))).toBe('{"id":1}')
  })

  it('names an id that never was', () => {
    expect(() => account().finish(['nobody'])).toThrow(/nobody/)
  })

  it('records every state a task has had', () => {
    let now = NOW
    const it = account({ now: () => now })
    const history = recordHistory(it)
    const [id] = it.insert(1)
    const open = it.get(id!)
    now += MINUTE
    it.finish([id!])
    const done = it.get(id!)
    it.move([id!])
    it.remove([id!])
    expect(history.of(id!)).toEqual([open, done, null])
    expect(history.of(it.idAt(0))).toEqual([it.get(it.idAt(0))])
    history.stop()
    it.insert(1)
    expect(history.ids()).toHaveLength(201)
  })
})

describe('what listed tasks carry', () => {
  it.each<[Carries, boolean, boolean]>([
    ['whole', true, true],
    ['noResult', true, false],
    ['noData', false, true],
    ['bare', false, false],
  ])('%s: data %s, result %s; the detail has both, and all else is equal', (listCarries, data, result) => {
    const it = account({ listCarries, openFraction: 0, oddities: 0.2 })
    for (const item of tasks(it)) {
      expect('data' in item).toBe(data)
      expect('result' in item).toBe(result)
      const detail = JSON.parse(it.get(item.id)!)
      expect({ ...detail, ...item }).toEqual(detail)
      expect(detail).toHaveProperty('data')
      expect(detail).toHaveProperty('result')
    }
  })

  it('a change shows in the list even where data and result do not', () => {
    const it = account({ listCarries: 'bare' })
    const before = texts(it, 0, 1)
    it.update([it.idAt(0)])
    expect(texts(it, 0, 1)).not.toEqual(before)
  })

  it('hidden tasks leave holes in the windows and are refused by id', () => {
    const it = account({ hiddenFraction: 0.3 })
    const shown = it.ids()
    expect(it.listed).toBe(200)
    expect(shown.length).toBeLessThan(170)
    expect([...ids(it, 0, 100), ...ids(it, 100, 100)]).toEqual(shown)
    expect(ids(it, 0, 100).length).toBeLessThan(100)
    const hidden = Array.from({ length: 200 }, (_, i) => it.idAt(i)).filter((id) => !shown.includes(id))
    expect(hidden.map((id) => it.get(id))).toEqual(hidden.map(() => null))
    expect([...expectedTexts(it).keys()]).toEqual(shown)
  })

  it('capBytes ends a window before the task that would exceed it, and after the first at the earliest', () => {
    const it = account({ capBytes: 5000 })
    const window = texts(it)
    const bytes = window.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    expect(bytes).toBeLessThanOrEqual(5000)
    const next = expectedTexts(it).get(it.idAt(window.length))!
    expect(bytes + Buffer.byteLength(next)).toBeGreaterThan(5000)
    expect(texts(account({ capBytes: 10 }))).toHaveLength(1)
  })

  it('windows with a poisoned index or id are answered with 500, others are not', () => {
    const poisonedId = account().idAt(50)
    const it = account({ poison: ['7', poisonedId] })
    const status = (skip: number, take: number) => {
      const answer = it.list(skip, take)
      return answer.kind === 'window' ? 200 : answer.status
    }
    expect([status(0, 7), status(0, 8), status(7, 1), status(8, 42), status(8, 43), status(51, 100)]).toEqual([
      200, 500, 500, 200, 500, 200,
    ])
    it.remove(1, { where: 'front' })
    expect([status(49, 1), status(50, 1), status(7, 1)]).toEqual([500, 200, 500])
  })
})

it('a window never holds a task twice, whatever the sizes', () => {
  for (const order of ['created_desc', 'insertion', 'shuffled'] as const) {
    const it = account({ order, tieGroup: 7, shuffleTies: true })
    it.insert(40)
    const window = ids(it, 13, 57)
    expect(new Set(window).size).toBe(57)
    expect(new Set(ids(it)).size).toBe(240)
  }
})
