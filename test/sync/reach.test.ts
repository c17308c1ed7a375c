// Two questions to a service, each asked once and within a bound of its own.
import { expect, test } from 'vitest'
import { reachService } from '../../src/sync/one-off/reach.ts'
import { type Behaviour, drips, rawServer, saysJson, silent } from '../support/raw-server.ts'
import { makeRunContext } from '../support/run-context.ts'

const task = (id: unknown) => ({ statusCode: 200, message: 'OK', body: { items: [{ id }] } })
const item = { statusCode: 200, message: 'OK', body: { item: { id: 'a' } } }

async function reach(script: Behaviour[], mostMs?: number) {
  await using server = await rawServer(script)
  // Its own patience is five minutes, and it would try again.
  const reached = await reachService(makeRunContext(server.url, '/nowhere', { service: { maxRetries: 5 } }), mostMs)
  return { ...reached, asked: server.requests.map(({ method, path, body }) => `${method} ${path} ${body}`) }
}

test('it asks for one task of the list, then for that task', async () => {
  const date = new Date(Date.now() - 3_600_000).toUTCString()
  const { list, get, skew, asked } = await reach([saysJson(200, task('a/b'), { date }), saysJson(200, item)])
  expect({ list, get }).toMatchObject({ list: { kind: 'ok', items: 1, firstId: 'a/b' }, get: { kind: 'ok' } })
  expect(asked).toEqual(['POST /tasks/list {"take":1,"skip":0}', 'GET /tasks/a%2Fb '])
  expect(Math.abs(skew!.aheadMs + 3_600_000)).toBeLessThan(60_000)
})

test.each<[string, unknown]>([
  ['no task', { statusCode: 200, body: { items: [] } }],
  ['an id that is none', task({ toString: 1 })],
  ['an item that is none', { statusCode: 200, body: { items: [null] } }],
])('where the list has %s, an id is made up', async (_, answer) => {
  const { get, asked } = await reach([saysJson(200, answer), saysJson(404, { statusCode: 404, message: 'none' })])
  expect(get).toMatchObject({ kind: 'refused', httpStatus: 404 })
  expect(asked[1]).toMatch(/^GET \/tasks\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} $/)
})

test.each<[string, Behaviour]>([
  ['says nothing', silent],
  ['never ends', drips('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{', () => ' ', 20)],
])('a service that %s is given up by the bound, and asked once', async (_, behaviour) => {
  const { list, get, asked } = await reach([behaviour], 200)
  expect(list).toMatchObject({ kind: 'failed', message: expect.stringContaining('within 200 ms') })
  expect({ get, asked: asked.length }).toEqual({ get: null, asked: 1 })
})

test('a service that asks for peace is not waited for', async () => {
  const { list, asked } = await reach([saysJson(429, {}, { 'retry-after': '60' })])
  expect(list).toMatchObject({ kind: 'error', error: { code: 'wait-too-long' } })
  expect(asked).toHaveLength(1)
})
