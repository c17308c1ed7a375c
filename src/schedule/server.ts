// The HTTP server of `schedule`: /healthz, /metrics, status page. Answers from what it knows, never waits to read.
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { MirrorError, systemWords } from '../errors.ts'
import { METRICS_CONTENT_TYPE } from '../notify/metrics.ts'
import { bearsToken, isAnswered } from './access.ts'
import { boundConnections } from './connections.ts'

export interface Health {
  ok: boolean
  /** The reason where not ok, one sentence; null where all is well. */
  reason: string | null
}

export interface Pages {
  health(): Health
  metrics(): Promise<string>
  /** A whole HTML document, and the content security policy it needs. */
  page(): { html: string; policy: string }
}

interface Access {
  /** Names this server answers to, beside addresses and the names of this machine. */
  hosts: readonly string[]
  /** The token needed for everything but /healthz; null where none is needed. */
  token: string | null
}

export interface StatusServer {
  /** Such as `http://127.0.0.1:8080`. */
  url: string
  close(): Promise<void>
}

/** Host and port of `127.0.0.1:8080`, `[::1]:8080` or, on this machine only, `8080`. */
export function parseListen(listen: string): { host: string; port: number } {
  const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d+)$/.exec(listen) ?? []
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
}

/** Throws `config-invalid` that names `key` where the address cannot be listened on. */
export async function startServer(
  listen: string,
  access: Access,
  pages: Pages,
  key = 'schedule.listen',
): Promise<StatusServer> {
  const { host, port } = parseListen(listen)
  const kept = keepAWhile(pages)
  const reply = (request: IncomingMessage, response: ServerResponse) => {
    // One request per connection: see connections.ts.
    response.setHeader('connection', 'close')
    response.setHeader('cache-control', 'no-store')
    response.setHeader('x-content-type-options', 'nosniff')
    if (!isAnswered(request.headers.host, access.hosts)) {
      return send(response, 403, 'text/plain', 'Not under this name: see schedule.hosts.\n')
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return send(response, 405, 'text/plain', 'Only GET and HEAD.\n')
    }
    const path = (request.url ?? '/').replace(/\?.*$/, '')
    if (access.token !== null && path !== '/healthz' && !bearsToken(request.headers.authorization, access.token)) {
      response.setHeader('www-authenticate', ['Bearer realm="task-mirror"', 'Basic realm="task-mirror"'])
      return send(response, 401, 'text/plain', 'The token of schedule.tokenFile is wanted.\n')
    }
    answer(path, kept, response).catch(() => {
      if (!response.headersSent) send(response, 500, 'text/plain', 'The answer could not be made.\n')
    })
  }
  const http = createHttpServer(reply)
  // Without these, Node answers such requests itself.
  http.on('checkExpectation', reply).on('checkContinue', reply)
  const server = createServer()
  const endAll = boundConnections(server, (stream) => http.emit('connection', stream), isHealthCheck)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refused(`${key}: ${listen}`, error)))
    server.listen({ host, port, backlog: 4096 }, resolve)
  })
  const bound = server.address() as AddressInfo
  return {
    url: `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        endAll()
      }),
  }
}

/** Whether this is the head of a request for /healthz. */
function isHealthCheck(head: string): boolean {
  return /^(GET|HEAD) \/healthz[ ?]/.test(head)
}

/** Pages are kept for this long, so that many requests cost no more than one. */
const KEPT_MS = 1000

function keepAWhile(pages: Pages) {
  const keep = <T>(make: () => Promise<T>): (() => Promise<T>) => {
    let kept: { value: Promise<T>; at: number } | null = null
    return () => {
      const now = performance.now()
      if (kept === null || now - kept.at >= KEPT_MS) kept = { value: make(), at: now }
      return kept.value
    }
  }
  return {
    health: pages.health,
    metrics: keep(async () => Buffer.from(await pages.metrics())),
    page: keep(async () => {
      const { html, policy } = pages.page()
      return { body: Buffer.from(html), policy }
    }),
  }
}

async function answer(path: string, pages: ReturnType<typeof keepAWhile>, response: ServerResponse): Promise<void> {
  if (path === '/healthz') {
    // No figures here: anybody may ask.
    const { ok, reason } = pages.health()
    send(response, ok ? 200 : 503, 'application/json', `${JSON.stringify({ ok, reason })}\n`)
  } else if (path === '/metrics') {
    send(response, 200, METRICS_CONTENT_TYPE, await pages.metrics())
  } else if (path === '/') {
    const { body, policy } = await pages.page()
    // Sent as a header because `frame-ancestors` has no effect in a document.
    response.setHeader('content-security-policy', `${policy}; frame-ancestors 'none'`)
    response.setHeader('referrer-policy', 'no-referrer')
    send(response, 200, 'text/html', body)
  } else {
    send(response, 404, 'text/plain', 'There are /, /healthz and /metrics.\n')
  }
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  const content = type.includes('charset') ? type : `${type}; charset=utf-8`
  response.writeHead(status, { 'content-type': content, 'content-length': Buffer.byteLength(body) }).end(body)
}

function refused(what: string, error: NodeJS.ErrnoException): MirrorError {
  return new MirrorError('config-invalid', `${what} cannot be listened on: ${systemWords(error)}`, {
    hint: 'Choose another address with --listen, or null for none.',
    cause: error,
  })
}
