// A service that costs next to nothing: answers windows and single tasks out of memory, in a process of its own. Its base addresses are
// `/t<tasks>/ms<latency>`: the newest so many of its tasks, with so long a round trip. Started by `startServer`.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { argv } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { renderTasks, type TaskKind, type TaskTexts } from './task-texts.ts'

export interface ServerOptions extends TaskKind {
  /** Tasks of the largest list. */
  tasks: number
  /** Tasks kept back: newer than all others, shown by `reveal`. */
  keptBack: number
  seed: number
}

export interface BenchServer {
  /** Base address of a list of so many tasks, answered so many ms after it is asked. */
  base(tasks: number, latencyMs: number): string
  /** Shows so many more of the tasks kept back, at the front of every list. */
  reveal(count: number): Promise<void>
  /** Processor time the server has used so far, ms. */
  cpuMs(): Promise<number>
  /** Requests it has answered so far. */
  requests(): Promise<number>
  /** Mean size of a task, bytes. */
  readonly taskBytes: number
  close(): Promise<void>
}

type Order = { kind: 'reveal'; count: number } | { kind: 'cpu' } | { kind: 'requests' }
interface Ready {
  port: number
  taskBytes: number
}

export async function startServer(options: ServerOptions): Promise<BenchServer> {
  const child = fork(new URL(import.meta.url).pathname, ['serve', JSON.stringify(options)])
  const ask = async <T>(order: Order | null): Promise<T> => {
    const answer = once(child, 'message')
    if (order !== null) child.send(order)
    return ((await answer) as [T])[0]
  }
  const { port, taskBytes } = await ask<Ready>(null)
  return {
    taskBytes,
    base: (tasks, latencyMs) => `http://127.0.0.1:${port}/t${tasks}/ms${latencyMs}`,
    reveal: async (count) => void (await ask({ kind: 'reveal', count })),
    cpuMs: () => ask<number>({ kind: 'cpu' }),
    requests: () => ask<number>({ kind: 'requests' }),
    async close() {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}

if (argv[2] === 'serve') serve(JSON.parse(argv[3]!) as ServerOptions)

function serve({ tasks, keptBack, seed, ...kind }: ServerOptions): void {
  // An hour old, so that no task is too new for a frontier.
  const texts = renderTasks(tasks + keptBack, seed, Date.now() - 3_600_000, kind)
  let revealed = 0
  let requests = 0
  const server = createServer((request, response) => void answer(request, response))
  server.keepAliveTimeout = 60_000

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = /^\/t(\d+)\/ms(\d+)\/tasks\/(list|[\w-]+)$/.exec(request.url ?? '')
    const body = await textOf(request)
    requests += 1
    const count = Number(address?.[1] ?? 0)
    const latencyMs = Number(address?.[2] ?? 0)
    const start = keptBack - revealed
    const end = Math.min(start + revealed + count, texts.count)
    const isList = address?.[3] === 'list' && request.method === 'POST'
    const pieces = isList
      ? windowOf(texts, start, end, JSON.parse(body))
      : taskOf(texts, start, end, address?.[3] ?? '')
    if (latencyMs > 0) await delay(latencyMs)
    response.writeHead(pieces === null ? 404 : 200, {
      'content-type': 'application/json',
      'content-length': (pieces ?? NOT_FOUND).reduce((sum, piece) => sum + piece.length, 0),
    })
    for (const piece of pieces ?? NOT_FOUND) response.write(piece)
    response.end()
  }

  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    process.send!({ port, taskBytes: texts.bytes / texts.count } satisfies Ready)
  })
  process.on('message', (order: Order) => {
    if (order.kind === 'reveal') revealed = Math.min(keptBack, revealed + order.count)
    const { user, system } = process.cpuUsage()
    process.send!(order.kind === 'requests' ? requests : (user + system) / 1000)
  })
  process.on('disconnect', () => process.exit(0))
}

const HEAD = Buffer.from('{"statusCode":200,"message":"OK","body":{"items":[')
const TAIL = Buffer.from(']}}')
const ONE = Buffer.from('{"statusCode":200,"message":"OK","body":{"item":')
const ONE_TAIL = Buffer.from('}}')
const NOT_FOUND = [Buffer.from('{"statusCode":404,"message":"Not Found"}')]

/** The answer for the task with this id; null where the list does not show it. */
function taskOf(texts: TaskTexts, start: number, end: number, id: string): Buffer[] | null {
  const place = texts.placeOf(id)
  if (place === undefined || place < start || place >= end) return null
  return [ONE, ...texts.slices(place, place + 1), ONE_TAIL]
}

/** The answer for the list that runs from `start` to `end` (exclusive) of `texts`. */
function windowOf(texts: TaskTexts, start: number, end: number, asked: { skip: number; take: number }): Buffer[] {
  const from = Math.min(start + asked.skip, end)
  return [HEAD, ...texts.slices(from, Math.min(from + Math.min(asked.take, 1000), end)), TAIL]
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
