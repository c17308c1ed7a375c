// Keeps a server reachable whatever clients do. Where there are too many sockets, the oldest are closed. A socket
// carries one request: this file waits for its head, and passes on nothing else that arrives, so that no socket costs
// more than one answer, however much it sends. Knows heads, not what is asked.
import type { Server, Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** Sockets that may stay open. */
const MOST = 256
/** Sockets at any moment: bounds memory and descriptors. */
const MOST_AT_ONCE = 2048
/** Time to read and answer a new socket before it may be closed. */
const GRACE_MS = 100
/** A head has this long to arrive, and at most this many bytes. */
const HEAD_MS = 5000
const MOST_HEAD = 8192
/** The longest that a request waits while connections keep coming. */
const PATIENCE_MS = 100
/** A client cannot keep a connection by not reading. */
const IDLE_MS = 10_000
const END_OF_HEAD = '\r\n\r\n'

/**
 * Hands every socket of `server` to `take` as a stream that begins and ends with the head of one request; what is
 * written to the stream goes to the socket. Beyond the bounds the oldest sockets are closed. A new one is never
 * refused: it may be a health check. A request that is not `urgent` waits until no new connection comes. Returns a
 * function that closes all.
 */
export function boundConnections(
  server: Server,
  take: (stream: Duplex) => void,
  urgent: (head: string) => boolean,
  now: () => number = () => performance.now(),
): () => void {
  const open = new Set<Socket>()
  const later = whenNobodyComes(server, now)
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
    // An error only means that the client hung up.
    socket.on('error', () => undefined)
    awaitHead(socket, (head) => {
      const answer = () => void (socket.destroyed || take(streamOf(socket, head)))
      if (urgent(head.toString('latin1'))) answer()
      else later(answer)
    })
    endOldest(MOST_AT_ONCE)
    if (open.size <= MOST || sweep !== null) return
    sweep = setTimeout(() => {
      const come = open.size
      // Only after sockets are read once more: on a busy machine the newest have not been read yet.
      setImmediate(() => {
        sweep = null
        endOldest(Math.max(MOST, open.size - come))
      })
    }, GRACE_MS).unref()
  })
  return () => endOldest(0)
}

/**
 * Puts work off until no new connection comes, one piece per turn of the event loop. Node accepts one connection per
 * turn, so a health check waits as many turns as there are connections before it. A thousand that are each sent a large
 * page take a second; a thousand that are only accepted take a part of it.
 */
function whenNobodyComes(server: Server, now: () => number): (work: () => void) => void {
  const waiting: { work: () => void; since: number }[] = []
  let hasCome = false
  let isSet = false
  server.on('connection', () => {
    hasCome = true
  })
  const next = (): void => {
    const [first] = waiting
    if (!hasCome || now() - (first?.since ?? 0) >= PATIENCE_MS) waiting.shift()?.work()
    hasCome = false
    isSet = waiting.length > 0
    if (isSet) setImmediate(next)
  }
  return (work) => {
    waiting.push({ work, since: now() })
    if (!isSet) setImmediate(next)
    isSet = true
  }
}

/** Reads up to the end of the head, and nothing afterwards. */
function awaitHead(socket: Socket, done: (head: Buffer) => void): void {
  let head = Buffer.alloc(0)
  const late = setTimeout(() => socket.destroy(), HEAD_MS).unref()
  socket.once('close', () => clearTimeout(late))
  socket.on('data', function more(chunk: Buffer) {
    head = Buffer.concat([head, chunk.subarray(0, MOST_HEAD)])
    const end = head.indexOf(END_OF_HEAD)
    // A head that begins with an empty line would consist of that line.
    if (end === 0 || (end === -1 && head.length >= MOST_HEAD)) return void socket.destroy()
    if (end === -1) return
    clearTimeout(late)
    socket.off('data', more)
    socket.pause()
    done(head.subarray(0, end + END_OF_HEAD.length))
  })
}

function streamOf(socket: Socket, head: Buffer): Duplex {
  socket.setTimeout(IDLE_MS, () => socket.destroy())
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk, _encoding, done) => void socket.write(chunk, done),
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      // `destroySoon` lets what was written leave first.
      socket.destroySoon()
      done(error)
    },
  })
  stream.on('error', () => undefined)
  socket.once('close', () => stream.destroy())
  stream.push(head)
  return stream
}
