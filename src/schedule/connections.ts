// Keeps a server reachable however many sockets others hold open: those that came first go first. Knows sockets, not HTTP.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** So many stay open. */
const MOST = 256
/** So many at any moment: memory and descriptors are bounded. */
const MOST_AT_ONCE = 2048
/** What has just come can be read and answered before it has to go. */
const GRACE_MS = 100

/** Ends the oldest connections of `server` beyond the bounds. A new one is never refused: it may be a health check. */
export function boundConnections(server: Server): void {
  const open = new Set<Socket>()
  let sweep: NodeJS.Timeout | null = null

  const endOldest = (most: number): void => {
    for (const socket of open) {
      if (open.size <= most) break
      open.delete(socket)
      socket.destroy()
    }
  }
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    endOldest(MOST_AT_ONCE)
    if (open.size <= MOST || sweep !== null) return
    sweep = setTimeout(() => {
      const come = open.size
      // After the sockets were read once more: on a busy machine that is the first time for those that came last.
      setImmediate(() => {
        sweep = null
        endOldest(Math.max(MOST, open.size - come))
      })
    }, GRACE_MS).unref()
  })
}
