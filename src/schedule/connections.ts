// Keeps a server reachable whatever sockets of others do. Those that came first go first where there are too many, and a
// socket has one request: its head is awaited here, and HTTP is given nothing else of what comes. So a socket costs no more
// than one answer, however much it sends. Knows heads, not what is asked.
import type { Server, Socket } from 'node:net'
import { Duplex } from 'node:stream'

/** So many stay open. */
const MOST = 256
/** So many at any moment: memory and descriptors are bounded. */
const MOST_AT_ONCE = 2048
/** What has just come can be read and answered before it has to go. */
const GRACE_MS = 100
/** A head has so long to come, and so many bytes. */
const HEAD_MS = 5000
const MOST_HEAD = 8192
/** A request waits so long for those who come in front of it. */
const PATIENCE_MS = 100
/** Nobody keeps a connection by not reading. */
const IDLE_MS = 10_000
const END_OF_HEAD = '\r\n\r\n'

/**
 * Hands every socket of `server` to `take` as a stream that begins and ends with the head of one request; what is written
 * to it goes to the socket. Ends the oldest beyond the bounds. A new one is never refused: it may be a health check. A request
 * that is not `urgent` waits until nobody comes. What is returned ends all.
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
    // Whoever hangs up is gone.
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
      // After the sockets were read once more: on a busy machine that is the first time for those that came last.
      setImmediate(() => {
        sweep = null
        endOldest(Math.max(MOST, open.size - come))
      })
    }, GRACE_MS).unref()
  })
  return () => endOldest(0)
}

/**
 * Puts work off until nobody comes, one piece a turn of the event loop. Node accepts one connection a turn, so a health check
 * waits as many turns as connections have come before it: a thousand that each are given a large page
 * take a second, a thousand that are only accepted a part of it.
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

/** Reads until the head is there, and nothing afterwards. */
function awaitHead(socket: Socket, done: (head: Buffer) => void): void {
  let head = Buffer.alloc(0)
  const late = setTimeout(() => socket.destroy(), HEAD_MS).unref()
  socket.once('close', () => clearTimeout(late))
  socket.on('data', function more(chunk: Buffer) {
    head = Buffer.concat([head, chunk.subarray(0, MOST_HEAD)])
    const end = head.indexOf(END_OF_HEAD)
    // An empty line in front would be the whole of it.
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
      // What was written is still to leave.
      socket.destroySoon()
      done(error)
    },
  })
  stream.on('error', () => undefined)
  socket.once('close', () => stream.destroy())
  stream.push(head)
  return stream
}
