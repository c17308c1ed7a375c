// The simulated service on a real socket: faults, latency, compression, log. respond.ts decides the answers.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { MirrorError, systemWords } from '../errors.ts'
import { Account, type SimulatedClock } from './account.ts'
import { Cache } from './cache.ts'
import { Changes } from './changes.ts'
import { type Fault, type FaultScript, faultFor, type SimulatedRequest } from './faults.ts'
import { type SimulatorOptions, simulatorOptions } from './options.ts'
import { answerTo, failure, parseRequest, type SimulatedAnswer } from './respond.ts'

/** Called and awaited before a request is answered: the place to change the account in the middle of a walk. */
type RequestHook = (request: SimulatedRequest, account: Account) => void | Promise<void>

/** What only a program can pass; everything else is in `SimulatorOptions`. */
export interface SimulatorHooks {
  /** The simulated clock; the machine's where absent. */
  now?: SimulatedClock
  faults?: FaultScript
  onBeforeRequest?: RequestHook
  /** An existing account. It keeps its own options and clock, not those given here. */
  account?: Account
}

export interface LoggedRequest extends SimulatedRequest {
  /** When the request came, by the simulated clock. */
  at: number
  /** HTTP status of the answer; null where none was sent. */
  status: number | null
  /** How many tasks were sent. */
  items: number
  fault: Fault | null
}

const LOG_LIMIT = 20_000
const MAX_REQUEST_BYTES = 65_536
const compressors = {
  gzip: (body: Buffer) => promisify(gzip)(body, { level: 1 }),
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: (body: Buffer) => promisify(zstdCompress)(body, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }),
}

/** Starts a simulator. Throws `usage-invalid` for wrong options or an address that cannot be listened on. */
export async function startSimulator(input: Partial<SimulatorOptions> & SimulatorHooks = {}): Promise<Simulator> {
  const { now = Date.now, faults, onBeforeRequest, account: given, ...rest } = input
  const options = simulatorOptions(rest)
  const account = given ?? new Account(options, () => now() + options.clockSkewMs)
  const running = new Simulator(options, account, faults)
  if (onBeforeRequest) running.onBeforeRequest(onBeforeRequest)
  await running.listen()
  return running
}

export class Simulator implements AsyncDisposable {
  readonly account: Account
  readonly options: SimulatorOptions
  /** The last requests, at least 10,000 of them, in the order in which they came. */
  readonly log: LoggedRequest[] = []
  /** Requests that have come so far. */
  requests = 0
  port = 0
  readonly #server: Server
  readonly #changes: Changes
  readonly #cache: Cache
  readonly #hooks = new Set<RequestHook>()
  readonly #closing = new AbortController()
  #faults: FaultScript | undefined

  constructor(options: SimulatorOptions, account: Account, faults: FaultScript | undefined) {
    this.options = options
    this.account = account
    this.#faults = faults
    this.#changes = new Changes(account, options)
    this.#cache = new Cache(options, () => account.now())
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
    // Longer than clients keep idle connections, so that none is closed just as it is reused.
    this.#server.keepAliveTimeout = 120_000
  }

  /** Base address, with the configured path; no slash at its end. */
  get url(): string {
    const { host, path } = this.options
    return `http://${isIPv6(host) ? `[${host}]` : host}:${this.port}${path}`
  }

  listen(): Promise<void> {
    const { host, port } = this.options
    return new Promise((resolve, reject) => {
      this.#server.once('error', (cause: NodeJS.ErrnoException) => {
        const hint = 'Choose another --host or --port; port 0 is any free one.'
        reject(
          new MirrorError('usage-invalid', `Cannot listen on ${host}:${port}: ${systemWords(cause)}`, {
            hint,
            cause,
          }),
        )
      })
      this.#server.listen(port, host, () => {
        this.port = (this.#server.address() as AddressInfo).port
        resolve()
      })
    })
  }

  /** Adds a hook; the returned function removes it. */
  onBeforeRequest(hook: RequestHook): () => void {
    this.#hooks.add(hook)
    return () => this.#hooks.delete(hook)
  }

  /** Replaces the script of faults; undefined removes it. */
  setFaults(script: FaultScript | undefined): void {
    this.#faults = script
  }

  /** Ends all connections and stops listening. */
  async close(): Promise<void> {
    this.#closing.abort()
    if (!this.#server.listening) return
    await new Promise((resolve) => {
      this.#server.close(resolve)
      this.#server.closeAllConnections()
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const n = this.requests++
    const method = incoming.method ?? ''
    const target = incoming.url ?? ''
    const body = await textOf(incoming)
    const asked = parseRequest(this.options, method, target, body ?? '')
    if (body === null) asked.problem = 'The request body is too large'
    const request: SimulatedRequest = { n, method, target, ...asked }
    const fault = faultFor(this.options, this.#faults, request)
    const entry: LoggedRequest = { ...request, at: this.account.now(), status: null, items: 0, fault }
    this.#remember(entry)
    for (const hook of this.#hooks) await hook(request, this.account)
    this.#changes.apply()
    if (fault?.hang) return
    const ask = () => answerTo(this.options, this.account, asked, { target, headers: incoming.headers })
    const cached = fault === null ? this.#cache.answer(`${method} ${target} ${body}`, incoming.headers, ask) : null
    const answer = cached?.answer ?? faulty(fault, ask)
    // The answer is made when the request comes; the latency stands for its way back.
    const waitMs = this.options.latencyMs + (fault?.delayMs ?? 0)
    if (waitMs > 0) await delay(waitMs, undefined, { signal: this.#closing.signal })
    if (fault?.reset) {
      incoming.socket.resetAndDestroy()
      return
    }
    entry.status = answer.status
    entry.items = answer.items
    response.sendDate = false
    if (this.options.dateHeader) response.setHeader('date', new Date(cached?.date ?? this.account.now()).toUTCString())
    for (const [name, value] of cached?.headers ?? []) response.setHeader(name, value)
    await this.#send(incoming, response, answer, fault)
  }

  async #send(
    incoming: IncomingMessage,
    response: ServerResponse,
    answer: SimulatedAnswer,
    fault: Fault | null,
  ): Promise<void> {
    const { compression } = this.options
    if (fault?.retryAfter !== undefined) response.setHeader('retry-after', String(fault.retryAfter))
    if (fault?.location !== undefined) response.setHeader('location', fault.location)
    response.setHeader('content-type', fault?.html ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8')
    let bytes: Buffer = Buffer.from(answer.body)
    if (compression !== 'none' && bytes.length > 0 && accepts(incoming, compression)) {
      bytes = await compressors[compression](bytes)
      response.setHeader('content-encoding', compression)
    }
    response.setHeader('content-length', bytes.length)
    response.statusCode = answer.status
    if (fault?.truncate) {
      response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy())
    } else {
      response.end(bytes)
    }
  }

  #remember(entry: LoggedRequest): void {
    if (this.log.length >= LOG_LIMIT) this.log.splice(0, LOG_LIMIT / 2)
    this.log.push(entry)
  }
}

/** The answer with the fault's changes to its status and body. */
function faulty(fault: Fault | null, answer: () => SimulatedAnswer): SimulatedAnswer {
  if (fault === null) return answer()
  const { status, html, emptyBody, envelopeStatus } = fault
  if (html) return { status: status ?? 200, body: '<html><body><h1>Bad Gateway</h1></body></html>\n', items: 0 }
  if (emptyBody) return { status: status ?? 200, body: '', items: 0 }
  if (envelopeStatus !== undefined) return failure(status ?? 200, 'The operation failed', envelopeStatus)
  return status === undefined ? answer() : failure(status, 'The operation failed')
}

/** null where the body is larger than any request of the interface. */
async function textOf(incoming: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= MAX_REQUEST_BYTES) chunks.push(chunk)
  }
  return bytes <= MAX_REQUEST_BYTES ? Buffer.concat(chunks).toString() : null
}

function accepts(incoming: IncomingMessage, encoding: string): boolean {
  const header = String(incoming.headers['accept-encoding'] ?? '')
  return header.split(',').some((part) => part.trim().split(';')[0] === encoding && !/;\s*q=0(\.0*)?\s*$/.test(part))
}
