// The attackers of hostile-sockets.test.ts, on a thread of their own: `port`, `kind` (null for all) and `count` as its data.
// A socket that is thrown out comes again.
import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'

const GET = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'
const AGAIN_MS = 1000
const AT_ONCE = 'comes again at once'

/** What a socket does once it is connected; a timer that goes on is given back. */
const KINDS: Record<string, (socket: Socket) => NodeJS.Timeout | undefined> = {
  silent: () => undefined,
  'half a head': (socket) => {
    socket.write('GET / HTTP/1.1\r\nhost: local')
    return undefined
  },
  'a byte now and then': (socket) => setInterval(() => socket.write('x'), 500),
  'asks and never reads': (socket) => {
    socket.pause()
    socket.write(GET)
    return undefined
  },
  'asks ten times at once and never reads': (socket) => {
    socket.pause()
    socket.write(GET.repeat(10))
    return undefined
  },
  'asks a hundred times at once': (socket) => {
    socket.resume()
    socket.write(GET.replace('/', '/healthz').repeat(100))
    return undefined
  },
  'asks, reads it all and comes again at once': (socket) => {
    socket.resume()
    socket.write(GET)
    return undefined
  },
  'half a head, then a hundred': (socket) => {
    socket.write(GET.slice(0, -2))
    return setTimeout(() => socket.write(`\r\n${GET.repeat(100)}`), 200)
  },
  'a body without end': (socket) => {
    socket.write('POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n')
    return setInterval(() => socket.write('1\r\nx\r\n'), 500)
  },
}

const { port, kind, count } = workerData as { port: number; kind: string | null; count: number }
const names = kind === null ? Object.keys(KINDS) : [kind]
let connected = 0

function attack(n: number): void {
  const name = names[n % names.length]!
  const socket = connect(port, '127.0.0.1')
  let timer: NodeJS.Timeout | undefined
  socket.on('connect', () => {
    timer = KINDS[name]!(socket)
    connected += 1
    if (connected === count) parentPort?.postMessage('all are connected')
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    clearInterval(timer)
    setTimeout(() => attack(n), name.endsWith(AT_ONCE) ? 0 : AGAIN_MS)
  })
}

for (let n = 0; n < count; n += 1) attack(n)
