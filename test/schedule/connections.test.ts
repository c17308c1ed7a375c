import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { boundConnections } from '../../src/schedule/connections.ts'

test('beyond 256 connections the oldest go, and none that comes is refused', async () => {
  const server = createServer((_, response) => response.end('here'))
  boundConnections(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  for (let n = 0; n < 300; n += 1) {
    sockets.push(connect(port, '127.0.0.1'))
    sockets[n]!.on('error', () => undefined)
    await once(sockets[n]!, 'connect')
  }
  const held = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
  await expect.poll(held, { timeout: 10_000 }).toBe(256)
  await expect.poll(() => sockets[0]!.closed, { timeout: 10_000 }).toBe(true)
  sockets.at(-1)!.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const [answer] = await once(sockets.at(-1)!, 'data')
  expect(String(answer)).toContain('here')
})
