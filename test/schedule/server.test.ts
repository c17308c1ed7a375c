import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { readToken } from '../../src/schedule/access.ts'
import { healthOf } from '../../src/schedule/schedule.ts'
import { type Pages, parseListen, type StatusServer, startServer } from '../../src/schedule/server.ts'
import { makeScratch } from '../support/scratch.ts'

let server: StatusServer | null = null
afterEach(async () => {
  await server?.close()
  server = null
})

const well = { ok: true, reason: null }
const OPEN = { hosts: [], token: null }
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
  server = await startServer('127.0.0.1:0', OPEN, pages())
  const good = await fetch(`${server.url}/healthz`)
  expect([good.status, await good.json()]).toEqual([200, well])
  await server.close()
  const bad = { ok: false, reason: 'old', ageMs: 77 }
  server = await startServer('127.0.0.1:0', OPEN, pages({ health: () => bad }))
  const answer = await fetch(`${server.url}/healthz`)
  expect([answer.status, await answer.json()]).toEqual([503, { ok: false, reason: 'old' }])
})

test('only GET and HEAD of three paths are answered', async () => {
  server = await startServer('127.0.0.1:0', OPEN, pages())
  const status = async (path: string, method = 'GET') => (await fetch(`${server?.url}${path}`, { method })).status
  expect(await status('/?refresh=1')).toBe(200)
  expect(await status('/metrics', 'HEAD')).toBe(200)
  expect(await status('/metrics', 'POST')).toBe(405)
  expect(await status('/etc/passwd')).toBe(404)
})

test('the page goes out with its own policy, and no other page may frame it', async () => {
  server = await startServer('127.0.0.1:0', OPEN, pages())
  const { headers } = await fetch(server.url)
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
})

test('a page that cannot be made is a 500, and the server goes on', async () => {
  const metrics = () => Promise.reject(new Error('no'))
  server = await startServer('127.0.0.1:0', OPEN, pages({ metrics }))
  expect((await fetch(`${server.url}/metrics`)).status).toBe(500)
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

/** The status of `path`, asked with these headers. */
function asked(path: string, headers: Record<string, string>): Promise<number | undefined> {
  const { port } = new URL(server!.url)
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

test.each(['127.0.0.1:0', '0.0.0.0:0'])('a server on %s is not reached under a name from elsewhere', async (listen) => {
  server = await startServer(listen, { hosts: ['status.example.com'], token: null }, pages())
  for (const host of ['localhost', 'LOCALHOST:9', '127.0.0.1:80', '[::1]', '10.2.3.4', 'status.example.com:8080']) {
    expect(await asked('/', { host }), host).toBe(200)
  }
  for (const host of ['rebound.example.com', 'a@127.0.0.1', 'xstatus.example.com', '127.0.0.1.example.com', '[::1']) {
    expect(await asked('/healthz', { host }), host).toBe(403)
  }
})

test('a health check by HTTP/1.0, which names no host, is answered', async () => {
  server = await startServer('127.0.0.1:0', OPEN, pages())
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.end('GET /healthz HTTP/1.0\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
})

test('with a token the pages are for those who show it; /healthz is for all', async () => {
  const token = 'a-token-of-some-length'
  server = await startServer('127.0.0.1:0', { hosts: [], token }, pages())
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  for (const path of ['/', '/metrics', '/nothing']) {
    const wanted = path === '/nothing' ? 404 : 200
    expect(await asked(path, {})).toBe(401)
    for (const authorization of [token, `Bearer ${token}x`, 'Bearer ', `Basic ${token}`, basic(`${token}:x`)]) {
      expect(await asked(path, { authorization }), authorization).toBe(401)
    }
    for (const authorization of [`Bearer ${token}`, `bearer ${token}`, basic(`:${token}`), basic(`anybody:${token}`)]) {
      expect(await asked(path, { authorization }), authorization).toBe(wanted)
    }
  }
  expect(await asked('/healthz', {})).toBe(200)
})

test.each([
  ['0123456789abcdef\n', null],
  ['0123456789abcde', 'too short'],
  ['', 'no token'],
  ['two lines\nof text', 'no token'],
  ['x'.repeat(5000), 'holds more than'],
])('a token file with %j: %s', (text, problem) => {
  using scratch = makeScratch()
  writeFileSync(scratch.path('token'), text)
  if (problem === null) expect(readToken(scratch.path('token')).token).toBe(text.trim())
  else expect(() => readToken(scratch.path('token'))).toThrow(problem)
})

test.each([
  [0o600, null],
  [0o640, null],
  [0o644, /^Every user of this machine can read the token of the pages: chmod o-r \//],
])('a token file of mode %o: %s', (mode, warning) => {
  using scratch = makeScratch()
  writeFileSync(scratch.path('token'), '0123456789abcdef')
  chmodSync(scratch.path('token'), mode)
  const told = readToken(scratch.path('token')).warning
  if (warning === null) expect(told).toBe(null)
  else expect(told).toMatch(warning)
})

test('a token "file" that is a folder, a pipe, a device or missing is refused at once', () => {
  using scratch = makeScratch()
  execFileSync('mkfifo', [scratch.path('pipe')])
  for (const path of [scratch.dir, scratch.path('pipe'), '/dev/zero', scratch.path('missing')]) {
    expect(() => readToken(path)).toThrow(/is no file|cannot be read/)
  }
})

test('a page is made once for all who ask within a second', async () => {
  let made = 0
  const page = () => ({ html: `${++made}`, policy: '' })
  server = await startServer('127.0.0.1:0', OPEN, pages({ page }))
  await Promise.all(Array.from({ length: 20 }, () => asked('/', {})))
  expect(made).toBe(1)
})

test('an address that is taken is a wrong configuration', async () => {
  server = await startServer('127.0.0.1:0', OPEN, pages())
  const taken = new URL(server.url).host
  await expect(startServer(taken, OPEN, pages())).rejects.toMatchObject({
    code: 'config-invalid',
    message: `schedule.listen: ${taken} cannot be listened on: address already in use`,
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
