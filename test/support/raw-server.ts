// A TCP server on port 0 of 127.0.0.1 that answers request after request from a script, byte for byte: it can break
// every rule of HTTP. Records what it was asked.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

export interface RawRequest {
  method: string
  path: string
  /** Lower-case names; the last of several values. */
  headers: Record<string, string>
  body: string
  /** Number of the connection it came by, from 1. */
  connection: number
}

/** What is done when a request has come in whole. */
export type Behaviour = (socket: Socket, request: RawRequest) => void

export interface RawServer {
  url: string
  requests: RawRequest[]
  /** Connections accepted so far. */
  connections(): number
  /** Resolves when `count` requests have come in. */
  asked(count: number): Promise<void>
  /** Resolves when no connection is open. */
  idle(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Answers the n-th request with the n-th behaviour; the last one goes on for all later requests. */
export async function rawServer(script: Behaviour[], tls?: { key: string; cert: string }): Promise<RawServer> {
  const requests: RawRequest[] = []
  const sockets = new Set<Socket>()
  const waiting: { count: number; resolve(): void }[] = []
  let connections = 0

  const onConnection = (socket: Socket) => {
    connections += 1
    const connection = connections
    let pending = Buffer.alloc(0)
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      for (let taken = takeRequest(pending, connection); taken !== null; taken = takeRequest(pending, connection)) {
        pending = pending.subarray(taken.length)
        requests.push(taken.request)
        const behaviour = script[Math.min(requests.length, script.length) - 1]!
        behaviour(socket, taken.request)
        for (const { count, resolve } of waiting) if (requests.length >= count) resolve()
      }
    })
  }
  const server: Server = tls ? createTlsServer(tls, onConnection) : createServer(onConnection)
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    asked: (count) =>
      new Promise((resolve) => (requests.length >= count ? resolve() : waiting.push({ count, resolve }))),
    idle: async () => {
      for (const socket of sockets) if (!socket.closed) await once(socket, 'close')
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function takeRequest(bytes: Buffer, connection: number): { request: RawRequest; length: number } | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [first, ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const [method, path] = first!.split(' ') as [string, string]
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const length = end + 4 + Number(headers['content-length'] ?? 0)
  if (bytes.length < length) return null
  return { request: { method, path, headers, body: bytes.toString('utf8', end + 4, length), connection }, length }
}

/** One whole answer with a Content-Length of its own unless `headers` has one. */
export function answer(
  status: number,
  body: string | Uint8Array = '',
  headers: Record<string, string | string[]> = {},
): Buffer {
  const bytes = Buffer.from(body)
  const all: Record<string, string | string[]> = { 'content-length': String(bytes.byteLength), ...headers }
  const lines = Object.entries(all).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Said\r\n${lines.join('')}\r\n`, 'latin1'), bytes])
}

/** Answers with `answer(...)` and keeps the connection. */
export function says(...given: Parameters<typeof answer>): Behaviour {
  return (socket) => void socket.write(answer(...given))
}

/** Answers with JSON. */
export function saysJson(status: number, value: unknown, headers: Record<string, string | string[]> = {}): Behaviour {
  return says(status, JSON.stringify(value), headers)
}

/** Writes `bytes` and resets the connection once they are out. */
export function resetsAfter(bytes: string | Uint8Array): Behaviour {
  return (socket) =>
    void (bytes.length === 0 ? socket.resetAndDestroy() : socket.write(bytes, () => socket.resetAndDestroy()))
}

/** Writes `bytes` and closes the connection in good order. */
export function closesAfter(bytes: string | Uint8Array): Behaviour {
  return (socket) => void socket.end(bytes)
}

/** Writes `head`, then calls `next` for a piece every `ms` until the other side is gone or there is none. */
export function drips(head: string | Uint8Array, next: () => string | Uint8Array | null, ms: number): Behaviour {
  return (socket) => {
    socket.write(head)
    const timer = setInterval(() => {
      const piece = next()
      if (piece !== null && !socket.destroyed) socket.write(piece)
      else clearInterval(timer)
    }, ms)
    socket.on('close', () => clearInterval(timer))
  }
}

/** Writes `head`, then `piece` as fast as the other side takes it, for ever. */
export function pours(head: string | Uint8Array, piece: Uint8Array): Behaviour {
  return (socket) => {
    const pour = () => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', pour)
    socket.write(head)
    pour()
  }
}

/** Never answers. */
export const silent: Behaviour = () => {}
