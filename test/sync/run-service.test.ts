// The service as a run asks it: what the writer holds of answers, and what requests cost.
import { expect, test } from 'vitest'
import { MirrorError } from '../../src/errors.ts'
import type { Decode, Decoded, RequestOptions, Service } from '../../src/service/service.ts'
import { runService } from '../../src/sync/run-service.ts'
import type { Writer } from '../../src/sync/writer/thread.ts'

const failed = { kind: 'failed', reason: 'status', message: 'no', httpStatus: 200 } as const
const REFUSED = new MirrorError('key-refused', 'no')

test.each([
  ['is none', async () => failed, failed],
  ['refuses the key', () => Promise.reject(REFUSED), REFUSED],
])('the writer keeps nothing of an answer that %s, of a window or of a task', async (_, answer, expected) => {
  const dropped: string[] = []
  const writer = {
    parseList: async () => ({ handle: 7, hasPayload: true }),
    parseDetail: async () => ({ handle: 8, hasPayload: true }),
    dropWindow: async (handle: number) => void dropped.push(`window ${handle}`),
    dropDetail: async (handle: number) => void dropped.push(`detail ${handle}`),
  } as unknown as Writer
  async function ask<T extends Decoded>(_asked: unknown, decode: Decode<T>, options?: RequestOptions<T>) {
    options?.discard?.(await decode(new Uint8Array()))
    return answer()
  }
  const service = runService({ list: ask, get: ask } as unknown as Service, writer, () => 0)
  const told = (error: unknown) => error
  expect(await service.list({ skip: 0, take: 10 }).catch(told)).toBe(expected)
  expect(await service.get('a').catch(told)).toBe(expected)
  expect(dropped).toEqual(['window 7', 'detail 8'])
  expect(service.costs()).toMatchObject({ requestMs: null, windows: { count: 0 } })
})
