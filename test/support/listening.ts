// Servers of node:http, node:https or node:net on a free port of 127.0.0.1.
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'

export interface Listening extends AsyncDisposable {
  port: number
  /** By http. */
  url: string
}

/** `await using` closes the server at the end of the test, and the connections of one that speaks HTTP. */
export async function listening(server: Server & { closeAllConnections?(): void }): Promise<Listening> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections?.()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
