// Reading ahead: how many windows are asked for before the walk wants them.
import { expect, test } from 'vitest'
import type { Service } from '../../src/service/service.ts'
import { type ListSource, listSource } from '../../src/sync/list-source.ts'
import type { Writer } from '../../src/sync/thread.ts'

/** A service that answers when it is told to, and what it was asked. */
function started(concurrency: number) {
  const asked: number[] = []
  const dropped: number[] = []
  const answers: (() => void)[] = []
  const service = {
    async list({ skip }: { skip: number }) {
      asked.push(skip)
      await new Promise<void>((resolve) => answers.push(resolve))
      return { kind: 'ok', value: { handle: skip }, startedAt: 0, serviceDate: null }
    },
  } as unknown as Service
  const writer = {
    view: async () => ({ ids: [], moments: [], met: new Uint8Array(0), held: new Uint8Array(0), known: 0 }),
    dropWindow: async (handle: number) => void dropped.push(handle),
  } as unknown as Writer
  const source = listSource({ service, writer, walkId: 1, concurrency, total: null })
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
  return { source, asked, dropped, answerAll, read, waitFor }
}

test('as many windows are under way as may be, in their order, and each is asked for once', async () => {
  const { source, asked, read } = started(4)
  source.expect(0, 10, 10)
  expect(asked).toEqual([0, 10, 20, 30])
  await read(source, 0)
  source.expect(10, 10, 10)
  expect(asked).toEqual([0, 10, 20, 30, 40])
})

test('no more are asked for while many that have come wait', async () => {
  const { source, asked, answerAll, read, waitFor } = started(8)
  for (let skip = 0; skip < 1_000; skip += 10) {
    source.expect(skip, 10, 10)
    await waitFor(source, skip)
  }
  source.expect(1_000, 10, 10)
  await answerAll()
  asked.length = 0
  source.expect(1_000, 10, 10)
  expect(asked).toEqual([])
  for (let skip = 1_000; skip < 1_060; skip += 10) await read(source, skip)
  source.expect(1_060, 10, 10)
  expect(asked.length).toBeGreaterThan(3)
})

test('where the walk wants other windows, those read ahead are dropped, and fewer are read ahead until it wants them', async () => {
  const { source, asked, dropped, answerAll, read, waitFor } = started(8)
  source.expect(0, 10, 10)
  expect(asked).toHaveLength(4)
  await read(source, 5)
  expect(dropped).toHaveLength(4)
  asked.length = 0
  source.expect(15, 10, 10)
  expect(asked).toHaveLength(2)
  // What comes before it is wanted calls for no more.
  for (let skip = 15; skip < 500; skip += 10) {
    source.expect(skip, 10, 10)
    await read(source, skip)
  }
  await answerAll()
  for (let skip = 500; skip < 1_000; skip += 10) {
    source.expect(skip, 10, 10)
    await waitFor(source, skip)
  }
  asked.length = 0
  await read(source, 3)
  asked.length = 0
  source.expect(13, 10, 10)
  expect(asked).toHaveLength(4)
})
