// Connections to the one origin, maybe through a proxy. Tells errors of connecting from errors on a connection.
import type { Socket } from 'node:net'
import type { Dispatcher, buildConnector as Undici } from 'undici'
import { MirrorError } from '../errors.ts'
import { TLS } from '../http-policy.ts'
import { buildConnector, Pool, proxyAgent } from './undici.ts'

export interface ConnectionOptions {
  origin: string
  /** Most connections at once. */
  concurrency: number
  connectTimeoutMs: number
  /** URL of an HTTP proxy; none where null or absent. */
  proxy?: string | null
}

/** undici's own time-outs are off: they run between chunks; exchange.ts has one deadline for the whole request. */
const POOL = { allowH2: false, pipelining: 1, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 32 * 1024 }

export function openConnections(options: ConnectionOptions) {
  const connectErrors = new WeakSet<object>()
  const connecting = new Set<Socket>()
  const open = new Set<Dispatcher>()

  /** Remembers a connector's errors, and its sockets until they are connected, because undici loses track of those. */
  function watched(connector: Undici.connector): Undici.connector {
    return (target, callback) => {
      const socket = connector(target, (...result) => {
        if (socket !== undefined) connecting.delete(socket)
        if (result[0] !== null) connectErrors.add(result[0])
        callback(...result)
      }) as Socket | undefined
      // A proxy tunnel's connector returns a promise; its sockets come from the proxy's own pool.
      if (typeof socket?.destroy === 'function') connecting.add(socket)
    }
  }

  const connect = { ...TLS, timeout: options.connectTimeoutMs, allowH2: false }
  const pool = (origin: string | URL, connector: Undici.connector) =>
    new Pool(origin, { ...POOL, connections: options.concurrency, connect: watched(connector) })

  function build(): Dispatcher {
    if (!options.proxy) return pool(options.origin, buildConnector(connect))
    const viaProxy = (origin: string | URL, given: object) =>
      pool(origin, (given as { connect: Undici.connector }).connect)
    try {
      const ProxyAgent = proxyAgent()
      return new ProxyAgent({
        uri: options.proxy,
        connectTimeout: options.connectTimeoutMs,
        proxyTls: connect,
        requestTls: connect,
        factory: viaProxy,
        clientFactory: viaProxy,
      })
    } catch (cause) {
      throw new MirrorError('config-invalid', 'service.proxy is no proxy URL', {
        hint: 'Set service.proxy to an address such as http://proxy.example.com:3128.',
        facts: { reason: cause instanceof Error ? cause.name : null },
      })
    }
  }

  function add(): Dispatcher {
    const dispatcher = build()
    open.add(dispatcher)
    return dispatcher
  }

  let current = add()

  return {
    /** The dispatcher for the next request; pass it to `suspect` where it proves unreliable. */
    current: () => current,

    /** Later requests take fresh connections; requests under way on these may still finish. */
    suspect(dispatcher: Dispatcher): void {
      if (dispatcher !== current) return
      current = add()
      const forget = () => open.delete(dispatcher)
      dispatcher.close().then(forget, forget)
    },

    /** Whether `error` came from connecting, before there was a connection. */
    wasConnecting: (error: unknown): boolean => typeof error === 'object' && error !== null && connectErrors.has(error),

    /** Ends every connection at once, requests under way included. */
    async destroy(): Promise<void> {
      await Promise.all([...open].map((dispatcher) => dispatcher.destroy()))
      open.clear()
      // With an error: otherwise undici does not clear its connect timer.
      for (const socket of connecting) socket.destroy(new Error('closed'))
    },
  }
}
