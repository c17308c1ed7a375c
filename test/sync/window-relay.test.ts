// The main thread's side of windows, against a writer that only notes what it is asked.
import { expect, test } from 'vitest'
import { windowRelay } from '../../src/sync/window-relay.ts'
import type { TakeIn } from '../../src/sync/windows.ts'

function noted() {
  const calls: string[] = []
  let handles = 0
  const relay = windowRelay(
    async (method, args) => {
      if (method === 'hold') {
        handles += 1
        calls.push(`hold ${handles}`)
        return { handle: handles, count: 1 }
      }
      const [first] = args as [number | TakeIn]
      calls.push(`${method} ${typeof first === 'number' ? first : first.handle}`)
      return method === 'look'
        ? { met: new Uint8Array(1), held: new Uint8Array(1), known: calls.length }
        : { newlyMet: 0 }
    },
    new Set(['DONE']),
  )
  return { relay, calls }
}

const page = (id: string) => Buffer.from(`{"statusCode":200,"body":{"items":[{"id":"${id}","createdAt":5}]}}`)
const step = (handle: number, walkId: number | null = 7): TakeIn => ({ handle, walkId, skip: 0, readAt: 0, now: 0 })

test('the next window is looked up behind the one that is taken in, and not again when the walk wants it', async () => {
  const { relay, calls } = noted()
  await Promise.all([relay.parseList(page('a')), relay.parseList(page('b'))])
  await relay.view(1, 7)
  await relay.takeIn(step(1))
  expect(await relay.view(2, 7)).toMatchObject({ ids: ['b'], moments: [5] })
  expect(calls).toEqual(['hold 1', 'hold 2', 'look 1', 'takeIn 1', 'look 2'])
})

test('a window is looked up anew when anything else was asked of the writer meanwhile', async () => {
  const { relay, calls } = noted()
  await Promise.all([relay.parseList(page('a')), relay.parseList(page('b'))])
  await relay.view(1, 7)
  await relay.takeIn(step(1))
  relay.otherCall()
  await relay.view(2, 7)
  expect(calls.filter((call) => call === 'look 2')).toHaveLength(2)
})

test('what was looked up for one walk is not used for another, nor what was dropped', async () => {
  const { relay, calls } = noted()
  await Promise.all([relay.parseList(page('a')), relay.parseList(page('b')), relay.parseList(page('c'))])
  await relay.takeIn(step(1))
  await relay.view(2, 8)
  await relay.dropWindow(2)
  await relay.takeIn(step(3, null))
  expect(calls).toEqual(['hold 1', 'hold 2', 'hold 3', 'takeIn 1', 'look 2', 'look 2', 'dropWindow 2', 'takeIn 3'])
})

test('windows are prepared in the order they came, also behind one that cannot be read', async () => {
  const { relay } = noted()
  const [bad, good] = await Promise.allSettled([relay.parseList(Buffer.from('<html>')), relay.parseList(page('a'))])
  expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'body-invalid' } })
  expect(good).toMatchObject({ status: 'fulfilled', value: { handle: 1 } })
})
