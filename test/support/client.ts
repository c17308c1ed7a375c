// A client with settings for tests, a clock that skips its waits, and a decoder that knows no tasks.
import { MirrorError } from '../../src/errors.ts'
import { Client, type ClientOptions } from '../../src/service/client.ts'
import type { Decoded, Service } from '../../src/service/service.ts'

export interface Page extends Decoded {
  json: Record<string, unknown>
}

/** Decodes as the contract says: JSON objects only, fatal UTF-8; `hasPayload` by the shape of the operation. */
export async function decodePage(raw: Uint8Array<ArrayBuffer>): Promise<Page> {
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw))
  } catch (cause) {
    throw new MirrorError('body-invalid', 'no JSON', { cause })
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new MirrorError('body-invalid', 'no JSON object')
  }
  const { statusCode, message, body } = json as Record<string, unknown>
  const { items, item } = (body ?? {}) as Record<string, unknown>
  return {
    json: json as Record<string, unknown>,
    statusCode: Number.isInteger(statusCode) ? (statusCode as number) : null,
    message: typeof message === 'string' ? message : null,
    hasPayload: Array.isArray(items) || (typeof item === 'object' && item !== null),
  }
}

/** A list answer of the service. */
export const page = (items: unknown[] = [], statusCode: unknown = 200) => ({
  statusCode,
  message: 'OK',
  body: { items },
})

/** A detail answer of the service. */
export const detail = (item: unknown, statusCode: unknown = 200) => ({ statusCode, message: 'OK', body: { item } })

/** Stands still, and jumps ahead by every sleep instead of sleeping. */
export function skippingClock() {
  let time = Date.now()
  const slept: number[] = []
  return {
    slept,
    now: () => time,
    sleep: async (ms: number, signal: AbortSignal) => {
      signal.throwIfAborted()
      slept.push(ms)
      time += ms
    },
  }
}

/** Stands still until time is let pass. */
export function stoppedClock() {
  let time = Date.now()
  const sleepers: { until: number; wake(): void }[] = []
  return {
    now: () => time,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((wake, reject) => {
        signal.throwIfAborted()
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        sleepers.push({ until: time + ms, wake })
      }),
    pass(ms: number) {
      time += ms
      for (const { until, wake } of sleepers) if (until <= time) wake()
    },
  }
}

export const KEY = 'k3y-s3cret/+='

/** A client for one test; closed when it leaves the test's scope. */
export function makeClient(baseUrl: string, given: Partial<ClientOptions> = {}): Service & AsyncDisposable {
  const { now, sleep } = skippingClock()
  const client = new Client({
    baseUrl,
    auth: { placement: 'header', name: 'authorization', prefix: 'Bearer ', on: 'all' },
    apiKey: KEY,
    // No test waits for them: those of time-outs have shorter ones.
    connectTimeoutMs: 300_000,
    requestTimeoutMs: 300_000,
    maxResponseBytes: 1_000_000,
    concurrency: 4,
    requestsPerSecond: null,
    maxRetries: 2,
    maxRetryAfterMs: 60_000,
    userAgent: 'task-mirror/test',
    signal: new AbortController().signal,
    random: () => 0.5,
    now,
    sleep,
    ...given,
  })
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}
