// Servers of node:http, node:https or node:net on a free port of 127.0.0.1.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

export interface Listening extends AsyncDisposable {
  port: number
  /** By http. */
  url: string
}

/** `await using` closes the server at the end of the test, and every connection that is open. */
export async function listening(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  await using server = await listening(createServer())
  return server.port
}
