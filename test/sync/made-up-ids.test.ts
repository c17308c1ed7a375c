// What `probe` takes for an unknown id where ids are counted: any with as many digits may be in use.
import { expect, test } from 'vitest'
import { seeded } from '../../src/simulator/random.ts'
import type { Run } from '../../src/sync/context.ts'
import type { Asker } from '../../src/sync/probe/asker.ts'
import { askAboutDetails } from '../../src/sync/probe/details.ts'
import type { ParsedList } from '../../src/sync/writer/writing.ts'

async function notFoundOf(listed: string, isThere: (id: string) => boolean) {
  const asked: string[] = []
  const random = seeded(1, 0x1d)
  const run = {
    random: () => random.next(),
    now: () => 0,
    facts: {},
    writer: {
      compareListed: async () => [listed],
      endSample: async () => ({ tasks: 0, hasFinal: false, missing: [], differing: [] }),
    },
  } as unknown as Run
  const asker = {
    async get(id: string) {
      asked.push(id)
      if (!isThere(id)) return { kind: 'refused', httpStatus: 404, statusCode: 404, message: 'Not found' }
      return { kind: 'ok', value: { statusCode: 200, message: null, hasPayload: true } }
    },
    compare: async () => null,
  } as unknown as Asker
  const { notFound } = await askAboutDetails(run, asker, {} as ParsedList, false)
  return { ...notFound, asked: asked.filter((id) => id !== 'not-an-id') }
}

test.each(['437', 'task-437'])('ids like %s that are all in use with three digits are made longer', async (listed) => {
  const { value, asked } = await notFoundOf(listed, (id) => id.length <= listed.length)
  expect(value).toBe('HTTP 404')
  expect(asked.map(({ length }) => length - listed.length)).toEqual([0, 0, 2])
})

test('an id with no digit at its end is made up once, and a service that knows all of them cannot be told', async () => {
  expect(await notFoundOf('437-a', () => true)).toMatchObject({ value: null, asked: { length: 1 } })
  expect(await notFoundOf('437', () => true)).toMatchObject({ value: null, asked: { length: 5 } })
})
