import { request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { healthOf } from '../../src/schedule/schedule.ts'
import { type Pages, parseListen, type StatusServer, startServer } from '../../src/schedule/server.ts'

let server: StatusServer | null = null
afterEach(async () => {
  await server?.close()
  server = null
})

const well = { ok: true, reason: null }
const pages = (more: Partial<Pages> = {}): Pages => ({
  health: () => well,
  metrics: async () => 'up 1\n',
  page: () => ({ html: '<!doctype html><title>status</title>', policy: "default-src 'none'" }),
  ...more,
})

test.each([
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  ['8080', { host: '127.0.0.1', port: 8080 }],
  ['[::1]:9', { host: '::1', port: 9 }],
  ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
  ['metrics.internal:1234', { host: 'metrics.internal', port: 1234 }],
])('%s is %j', (listen, expected) => {
  expect(parseListen(listen)).toEqual(expected)
})

test('/healthz answers 200 or 503 and why, without figures', async () => {
  server = await startServer('127.0.0.1:0', pages())
  const good = await fetch(`${server.url}/healthz`)
  expect([good.status, await good.json()]).toEqual([200, well])
  await server.close()
  const bad = { ok: false, reason: 'old', ageMs: 77 }
  server = await startServer('127.0.0.1:0', pages({ health: () => bad }))
  const answer = await fetch(`${server.url}/healthz`)
  expect([answer.status, await answer.json()]).toEqual([503, { ok: false, reason: 'old' }])
})

test('only GET and HEAD of three paths are answered', async () => {
  server = await startServer('127.0.0.1:0', pages())
  const status = async (path: string, method = 'GET') => (await fetch(`${server?.url}${path}`, { method })).status
  expect(await status('/?refresh=1')).toBe(200)
  expect(await status('/metrics', 'HEAD')).toBe(200)
  expect(await status('/metrics', 'POST')).toBe(405)
  expect(await status('/etc/passwd')).toBe(404)
})

test('a page that cannot be made is a 500, and the server goes on', async () => {
  const metrics = () => Promise.reject(new Error('no'))
  server = await startServer('127.0.0.1:0', pages({ metrics }))
  expect((await fetch(`${server.url}/metrics`)).status).toBe(500)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

test('a server on this machine is not reached under a name from elsewhere', async () => {
  server = await startServer('127.0.0.1:0', pages())
  const { port } = new URL(server.url)
  const status = (host: string) =>
    new Promise((resolve, reject) => {
      const headers = { host }
      request({ host: '127.0.0.1', port, path: '/', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
  expect(await status('rebound.example.com')).toBe(403)
  expect(await status(`localhost:${port}`)).toBe(200)
})

test('an address that is taken is a wrong configuration', async () => {
  server = await startServer('127.0.0.1:0', pages())
  const taken = new URL(server.url).host
  await expect(startServer(taken, pages())).rejects.toMatchObject({
    code: 'config-invalid',
    message: `schedule.listen: ${taken} cannot be listened on (EADDRINUSE)`,
  })
})

test.each([
  [null, null, 1000, 'There is no mirror yet, or it cannot be read.'],
  [{ freshAt: null }, null, 1000, 'No walk has been complete yet.'],
  [{ freshAt: 9000 }, 1000, 1000, null],
  [{ freshAt: 8999 }, 1001, 1000, 'The mirror is older than it should be.'],
  [{ freshAt: 1 }, 1_000_000, null, null],
  [{ freshAt: 9e15 }, null, 1000, 'Nobody knows how old the mirror is: its last walk is dated in the future.'],
])('a mirror that is %j, %s ms old where %s are allowed: %s', (status, ageMs, maxAgeMs, reason) => {
  expect(healthOf(status, ageMs, maxAgeMs)).toEqual({ ok: reason === null, ageMs, reason })
})
