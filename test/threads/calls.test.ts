// What two threads can say to each other: results, moved memory, output, progress, stops, errors, and the end.
import { Writable } from 'node:stream'
import type { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isMirrorError } from '../../src/errors.ts'
import { Calls, callsOf, startWorker } from '../../src/threads/calls.ts'

const ENTRY = new URL('./echo.ts', import.meta.url)
let worker: Worker
let calls: Calls

beforeAll(() => {
  worker = startWorker(ENTRY)
  calls = callsOf(worker, 'echo')
})
afterAll(async () => void (await worker.terminate()))

test('several calls under way get each its own result', async () => {
  const all = Array.from({ length: 20 }, (_, index) => calls.ask('echo', [index, { index }]))
  expect(await Promise.all(all)).toEqual(all.map((_, index) => [index, { index }]))
})

test('memory is handed over, there and back', async () => {
  const bytes = new Uint8Array(4).fill(1)
  expect(await calls.ask('echo', [bytes], {}, [bytes.buffer])).toEqual([new Uint8Array([1, 1, 1, 1])])
  expect(bytes.byteLength).toBe(0)
  expect(await calls.ask('move', [])).toEqual(new Uint8Array(8).fill(7))
})

test('output comes in pieces, each when the one before has left', async () => {
  const sizes: number[] = []
  let underWay = 0
  const out = new Writable({
    highWaterMark: 1,
    write(piece: Buffer, _, done) {
      expect(++underWay).toBe(1)
      sizes.push(piece.length)
      setImmediate(() => {
        underWay -= 1
        done()
      })
    },
  })
  expect(await calls.ask('write', [2.5 * 1024 * 1024], { out })).toBe('written')
  expect(sizes).toEqual([1024 * 1024, 1024 * 1024, 512 * 1024])
})

test('output that nobody wants holds nobody up', async () => {
  expect(await calls.ask('write', [2.5 * 1024 * 1024])).toBe('written')
})

test('a call that cannot be sent is over', async () => {
  const told: unknown[] = []
  const unsent = new Calls(() => {
    throw new Error('cannot be sent')
  })
  await expect(unsent.ask('echo', [], { onProgress: (...progress) => told.push(progress) })).rejects.toThrow(
    'cannot be sent',
  )
  unsent.receive({ id: 1, progress: [1] })
  expect(told).toEqual([])
})

test('what cannot be written is told with its code', async () => {
  const out = new Writable({
    write: (_piece, _encoding, done) => done(Object.assign(new Error('gone'), { code: 'EPIPE' })),
  })
  await expect(calls.ask('write', [1], { out })).rejects.toThrow('cannot write: EPIPE')
})

test.for([true, false])('a call can be stopped, before it has begun: %s', async (isEarly) => {
  const stop = new AbortController()
  const progress: unknown[] = []
  const onProgress = (...told: unknown[]) => {
    progress.push(told)
    stop.abort()
  }
  if (isEarly) stop.abort()
  await expect(calls.ask('wait', [], { signal: stop.signal, onProgress })).rejects.toMatchObject({
    code: 'interrupted',
  })
  expect(progress).toEqual([['waiting', 1]])
})

test('errors come with code, facts, hint and cause; those that nobody foresaw with their stack', async () => {
  const refused = await calls.ask('refuse', []).catch((error: unknown) => error)
  expect(isMirrorError(refused, 'disk-full')).toBe(true)
  expect(refused).toMatchObject({ message: 'No room', facts: { path: 'x' }, hint: 'Make some.' })
  expect((refused as Error).cause).toMatchObject({ message: 'the reason' })
  const crash = await calls.ask('whatever', []).catch((error: unknown) => error)
  expect(crash).toMatchObject({ message: 'nobody foresaw this', stack: expect.stringContaining('echo.ts') })
})

test('once the thread has ended, all calls fail, those under way too', async () => {
  const other = startWorker(ENTRY)
  const some = callsOf(other, 'other thread')
  const waiting = some.ask('wait', [])
  await Promise.all([
    expect(waiting).rejects.toThrow('The other thread has ended'),
    expect(some.ask('leave', [])).rejects.toThrow('The other thread has ended'),
  ])
  await expect(some.ask('echo', [])).rejects.toThrow('The other thread has ended')
})
