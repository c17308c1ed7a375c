// The main thread's side of windows, against a writer that notes what it is asked and answers when it is told to.
import { expect, test } from 'vitest'
import { prepareWindow } from '../../src/sync/writer/prepare.ts'
import type { TakeIn } from '../../src/sync/writer/take-window.ts'
import { type Prepare, WindowRelay } from '../../src/sync/writer/window-relay.ts'
import type { Looked } from '../../src/sync/writer/windows.ts'

/** Every look says of every item that it is not met and that the mirror holds it. */
function noted({
  takeIn = async () => ({ newlyMet: -1 }),
  flush = async () => undefined,
  held = async () => undefined,
  prepare = async (raw) => prepareWindow(raw, new Set(['DONE'])),
}: {
  takeIn?: () => Promise<unknown>
  flush?: () => Promise<unknown>
  /** What an answer about a window that was handed over waits for. */
  held?: (handle: number) => Promise<unknown>
  prepare?: Prepare
} = {}) {
  const calls: string[] = []
  const hashed: boolean[] = []
  const sizes = new Map<number, number>()
  const looked = (handle: number): Looked => {
    const size = sizes.get(handle) as number
    return { met: new Uint8Array(size), held: new Uint8Array(size).fill(1), known: size, others: 0 }
  }
  const relay = new WindowRelay(async (method, args) => {
    if (method === 'flush') return flush()
    const [first] = args as [number | TakeIn]
    const handle = typeof first === 'number' ? first : first.handle
    if (method === 'hold') {
      const [, window, walkId] = args as [number, { ids: string[]; hashes?: Uint8Array }, number | null]
      sizes.set(handle, window.ids.length)
      hashed.push('hashes' in window)
      calls.push(walkId === null ? `hold ${handle}` : `hold ${handle} for ${walkId}`)
      await held(handle)
      return walkId === null ? null : looked(handle)
    }
    calls.push(`${method} ${handle}`)
    return method === 'look' ? looked(handle) : method === 'takeIn' ? takeIn() : undefined
  }, prepare)
  return { relay, calls, hashed }
}

const page = (...ids: string[]) =>
  Buffer.from(`{"statusCode":200,"body":{"items":[${ids.map((id) => `{"id":"${id}","createdAt":5}`).join()}]}}`)
const step = (handle: number, walkId: number | null = 7): TakeIn => ({ handle, walkId, skip: 0, readAt: 0, now: 0 })

test('once a walk is known, a window is looked up for it as it is handed over, and not again', async () => {
  const { relay, calls } = noted()
  await relay.parseList(page('a'))
  await relay.view(1, 7)
  await relay.parseList(page('b'))
  await relay.takeIn(step(1))
  expect(await relay.view(2, 7)).toMatchObject({ ids: ['b'], moments: [5] })
  expect(calls).toEqual(['hold 1', 'look 1', 'hold 2 for 7', 'takeIn 1'])
})

test('what was taken in since a window was looked up is met in it, and only by the walk that took it in', async () => {
  const { relay } = noted()
  await relay.parseList(page('a', 'b'))
  await relay.view(1, 7)
  await relay.parseList(page('b', 'c'))
  await relay.parseList(page('c', 'd'))
  expect(await relay.takeIn(step(1))).toEqual({ newlyMet: 2 })
  expect((await relay.view(2, 7)).met).toEqual(Uint8Array.of(1, 0))
  expect(await relay.takeIn(step(2))).toEqual({ newlyMet: 1 })
  expect((await relay.view(3, 8)).met).toEqual(Uint8Array.of(0, 0))
})

test('an item that a window lists twice is newly met once', async () => {
  const { relay } = noted()
  await relay.parseList(page('a', 'a', 'b'))
  await relay.view(1, 7)
  expect(await relay.takeIn(step(1))).toEqual({ newlyMet: 2 })
})

test('what another window brought between the view and the taking in is not newly met', async () => {
  const { relay } = noted()
  await relay.parseList(page('a', 'b'))
  await relay.parseList(page('b', 'c'))
  await relay.view(1, 7)
  await relay.view(2, 7)
  await relay.takeIn(step(1))
  expect(await relay.takeIn(step(2))).toEqual({ newlyMet: 1 })
})

test('windows outside of a walk wait until they are taken in, and nothing is met by them', async () => {
  const { relay } = noted()
  await relay.parseList(page('a'))
  await relay.view(1, 7)
  await relay.parseList(page('a'))
  expect(await relay.takeIn(step(1, null))).toEqual({ newlyMet: -1 })
  expect((await relay.view(2, 7)).met).toEqual(Uint8Array.of(0))
})

test('what a walk took in before a view is met in it, whatever else is taken in while the view waits', async () => {
  const answer = Promise.withResolvers<void>()
  const { relay } = noted({ held: async (handle) => (handle === 2 ? answer.promise : undefined) })
  await relay.parseList(page('a', 'b'))
  await relay.view(1, 7)
  await relay.parseList(page('b', 'c'))
  await relay.parseList(page('x'))
  await relay.takeIn(step(1))
  const viewed = relay.view(2, 7)
  await relay.takeIn(step(3, null))
  answer.resolve()
  expect((await viewed).met).toEqual(Uint8Array.of(1, 0))
})

test('a window is looked up anew when anything else was asked of the writer meanwhile', async () => {
  const { relay, calls } = noted()
  await relay.parseList(page('a'))
  await relay.view(1, 7)
  await relay.parseList(page('b'))
  relay.otherCall()
  await relay.view(2, 7)
  expect(calls).toEqual(['hold 1', 'look 1', 'hold 2 for 7', 'look 2'])
})

test('a writer that has other things to do is given the hashes, and one that waits makes them itself', async () => {
  let commit = () => {}
  const taken = new Promise<void>((resolve) => {
    commit = resolve
  })
  const { relay, hashed } = noted({ takeIn: () => taken })
  for (const id of ['a', 'b', 'c', 'd']) await relay.parseList(page(id))
  for (const handle of [1, 2, 3]) {
    await relay.view(handle, 7)
    await relay.takeIn(step(handle))
  }
  await relay.parseList(page('e'))
  commit()
  await relay.drain()
  await relay.parseList(page('f'))
  expect(hashed).toEqual([false, false, false, false, true, false])
})

test.each([
  ['the next view', ({ relay }: ReturnType<typeof noted>) => relay.view(2, 7)],
  ['the next window that is to be taken in', ({ relay }: ReturnType<typeof noted>) => relay.takeIn(step(2))],
  ['settling', ({ relay }: ReturnType<typeof noted>) => relay.drain()],
  ['any other call', async ({ relay }: ReturnType<typeof noted>) => relay.otherCall()],
])('a window that could not be taken in is told by %s, once', async (_, next) => {
  const full = new Error('the disk is full')
  const given = noted({ takeIn: () => Promise.reject(full) })
  const { relay } = given
  await relay.parseList(page('a'))
  await relay.parseList(page('b'))
  await relay.view(1, 7)
  await relay.view(2, 7)
  await relay.takeIn(step(1))
  await new Promise(setImmediate)
  await expect(next(given)).rejects.toBe(full)
  expect(() => relay.otherCall()).not.toThrow()
})

test('a window that could not be looked up is told by its view, and by nothing else', async () => {
  const broken = new Error('rolled back')
  const { relay } = noted({ held: (handle) => (handle === 2 ? Promise.reject(broken) : Promise.resolve()) })
  await relay.parseList(page('a'))
  await relay.view(1, 7)
  await relay.parseList(page('b'))
  await expect(relay.view(2, 7)).rejects.toBe(broken)
  expect(() => relay.otherCall()).not.toThrow()
})

test('settling waits until everything is taken in', async () => {
  let finish: () => void = () => undefined
  const { relay } = noted({ takeIn: () => new Promise((resolve) => (finish = () => resolve(undefined))) })
  await relay.parseList(page('a'))
  await relay.view(1, 7)
  await relay.takeIn(step(1))
  let settled = false
  const settling = relay.drain().then(() => {
    settled = true
  })
  await new Promise(setImmediate)
  expect(settled).toBe(false)
  finish()
  await settling
})

test('windows are prepared in the order they came, also behind one that cannot be read; a look waits for none', async () => {
  const order: number[] = []
  const prepare: Prepare = async (raw) => {
    order.push(raw.length)
    for (let turns = 0; turns < raw.length % 10; turns += 1) await new Promise(setImmediate)
    return prepareWindow(raw, new Set(['DONE']))
  }
  const { relay } = noted({ prepare })
  const padded = (length: number, from: Buffer) => Buffer.concat([from, Buffer.alloc(length - from.length, ' ')])
  const [bad, good, look] = await Promise.allSettled([
    relay.parseList(padded(309, Buffer.from('<html>'))),
    relay.parseList(padded(200, page('a'))),
    relay.parseList(padded(100, page('b')), true),
  ])
  expect(order).toEqual([100, 309, 200])
  expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'body-invalid' } })
  expect(look).toMatchObject({ status: 'fulfilled', value: { handle: 1, ids: ['b'] } })
  expect(good).toMatchObject({ status: 'fulfilled', value: { handle: 2, ids: ['a'] } })
})

test('a window that was taken in and then not committed is told of when all is settled', async () => {
  const { relay } = noted({ flush: () => Promise.reject(new Error('no room')) })
  await relay.parseList(page('a'))
  await relay.view(1, 7)
  await relay.takeIn(step(1))
  await expect(relay.drain()).rejects.toThrow('no room')
})
