// The HTTP face of `schedule`: /healthz, /metrics and the status page. Answers from what is known already and never
// waits for the mirror. Knows nothing of runs.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MirrorError } from '../errors.ts'
import { isLoopback } from '../http-policy.ts'
import { METRICS_CONTENT_TYPE } from '../notify/metrics.ts'

export interface Health {
  ok: boolean
  /** Why not, one sentence; null where all is well. */
  reason: string | null
}

export interface Pages {
  health(): Health
  metrics(): Promise<string>
  /** A whole HTML document and the policy it needs. */
  page(): { html: string; policy: string }
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

/** Throws `config-invalid` where the address cannot be listened on. */
export async function startServer(listen: string, pages: Pages): Promise<StatusServer> {
  const { host, port } = parseListen(listen)
  const isLocal = isLoopback(host) || host === '::1'
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    response.setHeader('cache-control', 'no-store')
    response.setHeader('x-content-type-options', 'nosniff')
    // A web page elsewhere must not reach a local server by a name of its own (DNS rebinding).
    if (isLocal && !isLocalName(request.headers.host)) return send(response, 403, 'text/plain', 'Not here.\n')
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return send(response, 405, 'text/plain', 'Only GET and HEAD.\n')
    }
    answer(request.url ?? '/', pages, response).catch(() => {
      if (!response.headersSent) send(response, 500, 'text/plain', 'The answer could not be made.\n')
    })
  })
  server.maxConnections = 256
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refused(listen, error)))
    server.listen({ host, port }, resolve)
  })
  const bound = server.address() as AddressInfo
  return {
    url: `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(url: string, pages: Pages, response: ServerResponse): Promise<void> {
  const path = url.replace(/\?.*$/, '')
  if (path === '/healthz') {
    const health = pages.health()
    // No figures: anybody may ask.
    const { ok, reason } = health
    send(response, ok ? 200 : 503, 'application/json', `${JSON.stringify({ ok, reason })}\n`)
  } else if (path === '/metrics') {
    send(response, 200, METRICS_CONTENT_TYPE, await pages.metrics())
  } else if (path === '/') {
    const { html, policy } = pages.page()
    response.setHeader('content-security-policy', policy)
    response.setHeader('referrer-policy', 'no-referrer')
    send(response, 200, 'text/html', html)
  } else {
    send(response, 404, 'text/plain', 'There are /, /healthz and /metrics.\n')
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  const content = type.includes('charset') ? type : `${type}; charset=utf-8`
  response.writeHead(status, { 'content-type': content, 'content-length': Buffer.byteLength(body) }).end(body)
}

function isLocalName(host: string | undefined): boolean {
  const url = `http://${host ?? ''}`
  return URL.canParse(url) && isLoopback(new URL(url).hostname)
}

function refused(listen: string, error: NodeJS.ErrnoException): MirrorError {
  return new MirrorError('config-invalid', `schedule.listen: ${listen} cannot be listened on (${error.code})`, {
    hint: 'Choose another address with --listen, or none with schedule.listen null.',
    cause: error,
  })
}
