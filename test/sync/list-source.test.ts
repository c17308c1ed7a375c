// Reading ahead: how many windows are asked for before the walk wants them.
import { expect, test } from 'vitest'
import type { Run } from '../../src/sync/context.ts'
import { ListSource } from '../../src/sync/list-source.ts'
import { WalkWindow } from '../../src/sync/window-size.ts'
import type { ItemsWindow } from '../../src/walk/source.ts'

/** The length of the list is known, so that there is no slow start. */
const KNOWN = { total: 10_000 }

const MOST_BYTES = 32 * 1024 * 1024

function runOf(parts: { service: object; writer?: object }): Run {
  return { ...parts, account: { saw: async () => undefined }, now: () => 0 } as unknown as Run
}

/** A service that answers when it is told to, and what it was asked. */
function started(
  concurrency: number,
  { count = 10, total = null as number | null, itemBytes = 1, takenIn = Promise.resolve() } = {},
) {
  const asked: number[] = []
  /** Windows taken in without the walk, and for which walk. */
  const kept: [handle: number, walkId: number | null][] = []
  const answers: (() => void)[] = []
  let end = Number.POSITIVE_INFINITY
  const service = {
    async list({ skip, take }: { skip: number; take: number }) {
      asked.push(skip)
      if (take > count) return { kind: 'failed', reason: 'too-large', message: 'no', httpStatus: null }
      await new Promise<void>((resolve) => answers.push(resolve))
      const held = Math.max(0, Math.min(count, end - skip))
      return {
        kind: 'ok',
        value: { handle: skip, count: held },
        startedAt: 0,
        serviceDate: null,
        bytes: held * itemBytes,
      }
    },
  }
  const writer = {
    view: async () => ({ ids: [], moments: [], met: new Uint8Array(0), held: new Uint8Array(0), known: 0 }),
    dropWindow: async () => undefined,
    async takeIn({ handle, walkId }: { handle: number; walkId: number | null }) {
      await takenIn
      kept.push([handle, walkId])
    },
  }
  const source = new ListSource({
    run: runOf({ service, writer }),
    walkId: 1,
    concurrency,
    total,
    size: new WalkWindow({ window: 10, overlap: 2 }, MOST_BYTES, null),
  })
  const answerAll = async () => {
    for (const answer of answers.splice(0)) answer()
    await new Promise(setImmediate)
  }
  const read = async (from: ListSource, skip: number) => {
    const window = from.read(skip, 10)
    await answerAll()
    await window
  }
  /** The walk waits: what was asked for first is answered, nothing else. */
  const waitFor = async (from: ListSource, skip: number) => {
    const window = from.read(skip, 10)
    answers.shift()?.()
    await window
  }
  /** After the first window, from which on windows are read ahead. */
  const under = async () => {
    await read(source, -10)
    asked.length = 0
  }
  const endsAt = (index: number) => {
    end = index
  }
  return { source, asked, kept, answerAll, read, waitFor, under, endsAt }
}

test('as many windows are under way as may be, in their order, and each is asked for once', async () => {
  const { source, asked, read, under } = started(4, KNOWN)
  await under()
  source.readAhead(0, 10, 10)
  expect(asked).toEqual([0, 10, 20, 30])
  await read(source, 0)
  source.readAhead(10, 10, 10)
  expect(asked).toEqual([0, 10, 20, 30, 40])
})

test('no more are asked for while many that have come wait', async () => {
  const { source, asked, answerAll, read, waitFor, under } = started(8)
  await under()
  for (let skip = 0; skip < 1_000; skip += 10) {
    source.readAhead(skip, 10, 10)
    await waitFor(source, skip)
  }
  source.readAhead(1_000, 10, 10)
  await answerAll()
  asked.length = 0
  source.readAhead(1_000, 10, 10)
  expect(asked).toEqual([])
  for (let skip = 1_000; skip < 1_060; skip += 10) await read(source, skip)
  source.readAhead(1_060, 10, 10)
  expect(asked.length).toBeGreaterThan(3)
})

test.each([
  ['an eighth of what may be under way', MOST_BYTES / 80, 7],
  ['a third', MOST_BYTES / 30, 2],
  ['more than all of it', MOST_BYTES, 1],
])('where a window weighs %s, so many are read ahead that all weigh no more', async (_, itemBytes, ahead) => {
  const { source, asked, under } = started(8, { ...KNOWN, itemBytes })
  await under()
  source.readAhead(0, 10, 10)
  expect(asked).toHaveLength(ahead)
})

test('a window asked for before the walk begins is the one it reads first', async () => {
  const { source, asked, answerAll, kept } = started(8)
  const came = source.askAhead(0, 10)
  await answerAll()
  expect(await came).toBe('parsed')
  expect(await source.read(0, 10)).toMatchObject({ kind: 'items', skip: 0, asked: 10 })
  expect(asked).toEqual([0])
  const other = source.askAhead(10, 10)
  await answerAll()
  await other
  const read = source.read(10, 5)
  await answerAll()
  await read
  expect(kept).toEqual([[10, null]])
  expect(await source.askAhead(0, 100)).toBe('too-large')
})

test('where the walk wants other windows, those read ahead are taken in for their items alone, and fewer are read ahead until it wants them', async () => {
  const { source, asked, kept, answerAll, read, waitFor, under } = started(4, KNOWN)
  await under()
  await read(source, 0)
  await read(source, 0)
  asked.length = 0
  source.readAhead(0, 10, 10)
  expect(asked).toHaveLength(4)
  await read(source, 5)
  expect(kept.map(([, walkId]) => walkId)).toEqual([null, null, null, null])
  asked.length = 0
  source.readAhead(15, 10, 10)
  expect(asked).toHaveLength(2)
  // What comes before it is wanted calls for no more.
  for (let skip = 15; skip < 500; skip += 10) {
    source.readAhead(skip, 10, 10)
    await read(source, skip)
  }
  await answerAll()
  for (let skip = 500; skip < 1_000; skip += 10) {
    source.readAhead(skip, 10, 10)
    await waitFor(source, skip)
  }
  asked.length = 0
  await read(source, 3)
  asked.length = 0
  source.readAhead(13, 10, 10)
  expect(asked).toHaveLength(2)
})

test('what lies behind the first window is asked for once that has come, and is full', async () => {
  const { source, asked, kept, answerAll, read } = started(8, KNOWN)
  source.readAhead(0, 10, 10)
  expect(asked).toEqual([])
  const first = source.read(0, 10)
  expect(asked).toEqual([0])
  await answerAll()
  await first
  expect(asked.slice(0, 5)).toEqual([0, 10, 20, 30, 40])
  // It was a guess: where the walk wants something else, that is no reason to read less ahead.
  await read(source, 5)
  expect(kept.slice(0, 4).map(([handle]) => handle)).toEqual([10, 20, 30, 40])
  asked.length = 0
  source.readAhead(15, 10, 10)
  expect(asked.length).toBeGreaterThanOrEqual(4)
})

test('in a list of unknown length no more is read ahead than was read, and nothing behind a short answer', async () => {
  const { source, asked, read, waitFor, endsAt } = started(8)
  source.readAhead(0, 10, 10)
  await read(source, 0)
  expect(asked).toEqual([0, 10])
  source.readAhead(10, 10, 10)
  await waitFor(source, 10)
  source.readAhead(20, 10, 10)
  expect(asked).toEqual([0, 10, 20, 30])
  endsAt(35)
  await read(source, 20)
  source.readAhead(30, 10, 10)
  expect(asked).toEqual([0, 10, 20, 30])
  // The list goes on there all the same.
  endsAt(1_000)
  await read(source, 30)
  source.readAhead(40, 10, 10)
  expect(asked.length).toBeGreaterThan(5)
})

test('nothing is asked for behind a first window that is short', async () => {
  const { source, asked, read } = started(8, { count: 9 })
  source.readAhead(0, 10, 10)
  await read(source, 0)
  expect(asked).toEqual([0])
})

test('what is prefetched is asked for at once, and is all that will do for a walk that wants it fresh', async () => {
  const { source, asked, kept, answerAll, under } = started(4, KNOWN)
  await under()
  source.readAhead(100, 10, 10)
  source.prefetch([
    { skip: 100, take: 10 },
    { skip: 200, take: 10 },
    { skip: 300, take: 10 },
  ])
  expect(asked).toEqual([100, 110, 120, 130, 100, 200, 300])
  asked.length = 0
  const first = source.read(100, 10, { fresh: true })
  await answerAll()
  expect((await first).kind).toBe('items')
  // Another one does not take back what is still to come.
  const other = source.read(99, 10, { fresh: true })
  await answerAll()
  await other
  await source.read(200, 10, { fresh: true })
  expect(asked).toEqual([99])
  expect(kept.map(([handle]) => handle)).toEqual([100, 110, 120, 130])
  source.prefetch([])
  await answerAll()
  expect(kept.at(-1)).toEqual([300, null])
  const again = source.read(300, 10, { fresh: true })
  await answerAll()
  await again
  expect(asked).toEqual([99, 300])
})

test('a service that is asked one thing at a time is asked nothing that may not be wanted', async () => {
  const { source, asked, under } = started(1)
  await under()
  source.prefetch([{ skip: 100, take: 10 }])
  expect(asked).toEqual([])
})

test('a walk that is over waits for no answer that it does not want', async () => {
  const service = {
    list: (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true })),
  }
  const source = new ListSource({
    run: runOf({ service }),
    walkId: 1,
    concurrency: 8,
    total: null,
    size: new WalkWindow({ window: 10, overlap: 2 }, MOST_BYTES, null),
  })
  source.readAhead(0, 10, 10)
  source.prefetch([{ skip: 100, take: 10 }])
  const wanted = source.read(0, 10)
  await Promise.all([expect(wanted).rejects.toMatchObject({ code: 'interrupted' }), source.end()])
})

test.each(['read ahead', 'dropped'])(
  'the end of a walk waits for what was %s, and tells what it could not be taken in for',
  async (how) => {
    const taking = Promise.withResolvers<void>()
    const { source, read, under } = started(4, { ...KNOWN, takenIn: taking.promise })
    await under()
    if (how === 'read ahead') {
      source.readAhead(0, 10, 10)
      await read(source, 500)
    } else {
      const isNew = { met: Uint8Array.of(0), held: Uint8Array.of(0) }
      source.drop({ handle: 1, skip: 0, startedAt: 0, ...isNew } as unknown as ItemsWindow)
      expect(source.tookNew()).toBe(true)
    }
    const full = new Error('The disk is full')
    const ended = expect(source.end()).rejects.toBe(full)
    await new Promise(setImmediate)
    taking.reject(full)
    await ended
  },
)

test('what is read ahead may weigh little more than expected, and is asked for by itself where it weighs more', async () => {
  const bounds: unknown[] = []
  const service = {
    async list(_: unknown, { maxBytes }: { maxBytes?: number }) {
      bounds.push(maxBytes)
      if (maxBytes !== undefined) return { kind: 'failed', reason: 'too-large', message: 'no', httpStatus: 200 }
      return { kind: 'ok', value: { handle: 1, count: 10 }, startedAt: 0, serviceDate: null, bytes: 10 * 1024 * 1024 }
    },
  }
  const writer = { view: async () => ({ ids: [], moments: [], known: 0, others: 0 }) }
  const size = new WalkWindow({ window: 10, overlap: 2 }, MOST_BYTES, 1)
  const source = new ListSource({ run: runOf({ service, writer }), walkId: 1, concurrency: 2, total: 100, size })
  expect(await source.read(0, 10)).toMatchObject({ kind: 'items' })
  // Ten of 1 MB are known by now.
  source.readAhead(10, 10, 10)
  const ahead = 20 * 1024 * 1024
  expect(bounds).toEqual([undefined, ahead, ahead])
  expect(await source.read(10, 10)).toMatchObject({ kind: 'items', skip: 10 })
  expect(bounds).toEqual([undefined, ahead, ahead, undefined])
})

test.each<[string, number | undefined, [sent: number, isStale: boolean]]>([
  ['came from the service', undefined, [1, false]],
  ['came from a cache', 5_000, [0, true]],
])('a refusal that %s: it may be as old as that', async (_, ageMs, [sent, isStale]) => {
  const value = { handle: 1, count: 10 }
  const service = {
    async list({ skip }: { skip: number }) {
      if (skip === 0) return { kind: 'ok', value, startedAt: 0, serviceDate: null, bytes: 10 }
      return {
        kind: 'refused',
        httpStatus: 404,
        statusCode: null,
        message: 'no',
        ...(ageMs !== undefined && { ageMs }),
      }
    },
  }
  const writer = { view: async () => ({ ids: [], moments: [], known: 0, others: 0 }) }
  const size = new WalkWindow({ window: 10, overlap: 2 }, MOST_BYTES, 1)
  const source = new ListSource({ run: runOf({ service, writer }), walkId: 1, concurrency: 1, total: 100, size })
  await source.read(0, 10)
  expect(await source.read(10, 10, { fresh: true })).toMatchObject({ kind: 'refused', sent, received: 2 })
  expect(source.wasStale()).toBe(isStale)
})
