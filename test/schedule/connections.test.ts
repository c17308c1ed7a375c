import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { boundConnections } from '../../src/schedule/connections.ts'
import { listening } from '../support/listening.ts'

test('beyond 256 connections the oldest go, and none that comes is refused', async () => {
  const server = createServer()
  boundConnections(
    server,
    (stream) => stream.end('here'),
    () => false,
  )
  await using listens = await listening(server)
  const sockets: Socket[] = []
  for (let n = 0; n < 300; n += 1) {
    sockets.push(connect(listens.port, '127.0.0.1'))
    sockets[n]!.on('error', () => undefined)
    await once(sockets[n]!, 'connect')
  }
  const held = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
  await expect.poll(held).toBe(256)
  await expect.poll(() => sockets[0]!.closed).toBe(true)
  sockets.at(-1)!.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const [answer] = await once(sockets.at(-1)!, 'data')
  expect(String(answer)).toContain('here')
})

test.each([
  ['a head', ['GET / HTTP/1.1\r\na: b\r\n\r\n'], 'GET / HTTP/1.1\r\na: b\r\n\r\n'],
  ['many at once', ['GET /1\r\n\r\n'.repeat(5000)], 'GET /1\r\n\r\n'],
  ['one in pieces, and many behind it', ['GET /1\r', '\n\r', '\nGET /2\r\n\r\n'], 'GET /1\r\n\r\n'],
  ['one with a body', ['POST / HTTP/1.1\r\n\r\n', 'x'.repeat(100_000)], 'POST / HTTP/1.1\r\n\r\n'],
  ['an empty line in front', ['\r\n\r\nGET / HTTP/1.1\r\n\r\n'], null],
  ['a head without end', ['x'.repeat(100_000)], null],
])('HTTP is given one head of a socket and no more: %s', async (_, pieces, given) => {
  const server = createServer()
  let read = ''
  const take = (stream: Duplex) => {
    stream.on('data', (chunk) => {
      read += chunk
    })
    // Longer than the rest takes to come.
    setTimeout(() => stream.end('answer'), 100)
  }
  boundConnections(server, take, () => false)
  await using listens = await listening(server)
  const socket = connect(listens.port, '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await closed
  expect(read).toBe(given ?? '')
  if (pieces.length === 1 && given === pieces[0]) expect(answer).toBe('answer')
})

test.each([
  ['what is urgent is answered before what came in front of it', 0, 20],
  ['what has waited long is answered although others come', 1000, 200],
])('%s', async (_, passesMs, most) => {
  const server = createServer()
  const answered: string[] = []
  const take = (stream: Duplex) => {
    const [, path = ''] = /^GET (\S+)/.exec(String(stream.read())) ?? []
    answered.push(path)
    stream.end('here')
  }
  // Nobody's patience ends because this machine is slow.
  let clock = 0
  const now = () => {
    clock += passesMs
    return clock
  }
  boundConnections(server, take, (head) => head.startsWith('GET /urgent'), now)
  await using listens = await listening(server)
  const ask = (path: string) => {
    const socket = connect(listens.port, '127.0.0.1').on('error', () => undefined)
    socket.write(`GET ${path} HTTP/1.1\r\n\r\n`)
    return once(socket, 'data')
  }
  for (let n = 0; n < 199; n += 1) void ask('/page').catch(() => undefined)
  await ask('/urgent')
  // One by one all would be in front of it.
  expect(answered.indexOf('/urgent')).toBeLessThan(most)
  if (passesMs > 0) expect(answered.indexOf('/urgent')).toBeGreaterThan(20)
  await expect.poll(() => answered.length).toBe(200)
})
