// Asks two questions for `doctor`, each once, for some seconds at most. Takes no lock, writes nothing.
import type { Skew } from '../../clock.ts'
import { isMirrorError, type MirrorError } from '../../errors.ts'
import { readDetail, readPage } from '../../service/decode/wire.ts'
import type { Answer, Decoded } from '../../service/service.ts'
import { openClient } from '../begin.ts'
import type { RunContext } from '../context.ts'
import { madeUpId, USUAL_ID } from '../steps/deletions.ts'

type ReachAnswer =
  /** `firstId`: the listed task's; null if there is none, or none that may be asked for. `items`: 1 was asked for. */
  | { kind: 'ok'; items: number; firstId: string | null }
  | Said
  | { kind: 'key-refused'; error: MirrorError }
  | { kind: 'error'; error: MirrorError }

export interface Said {
  kind: 'refused' | 'failed'
  httpStatus: number | null
  message: string
}

export interface Reached {
  list: ReachAnswer
  /** Null where no task was asked for, because the list was not answered. */
  get: ReachAnswer | null
  /** How the service's clock and this machine's differ; null where no answer had a Date. */
  skew: Skew | null
  /** For the question to the list. */
  tookMs: number
}

/** The most time for one question, from connecting to the last byte. */
const MOST_MS = 10_000
/** The most bytes of the answer with one task. */
const MOST_BYTES = 64 * 1024 * 1024

interface Seen extends Decoded {
  items: number
  firstId: string | null
}

/** `mostMs` for each question. Throws `interrupted`. */
export async function reachService(context: RunContext, mostMs = MOST_MS): Promise<Reached> {
  const { now, random, config } = context
  const { connectTimeoutMs, requestTimeoutMs, maxResponseBytes } = config.service
  const service = await openClient(context, {
    connectTimeoutMs: Math.min(connectTimeoutMs, mostMs),
    requestTimeoutMs: Math.min(requestTimeoutMs, mostMs),
    maxResponseBytes: Math.min(maxResponseBytes, MOST_BYTES),
    maxRetries: 0,
    maxRetryAfterMs: 0,
  })
  const skew = () => service.traffic().skew ?? null
  try {
    const askedAt = now()
    const list = await hear(() => service.list({ skip: 0, take: 1 }, decodeList))
    const tookMs = now() - askedAt
    if (list.kind !== 'ok') return { list, get: null, skew: skew(), tookMs }
    const id = list.firstId ?? madeUpId(USUAL_ID, random)
    const get = await hear(() => service.get(id, decodeTask))
    return { list, get, skew: skew(), tookMs }
  } finally {
    await service.close()
  }
}

async function hear(work: () => Promise<Answer<Seen>>): Promise<ReachAnswer> {
  try {
    const answer = await work()
    if (answer.kind !== 'ok') return { kind: answer.kind, httpStatus: answer.httpStatus, message: answer.message }
    return { kind: 'ok', items: answer.value.items, firstId: answer.value.firstId }
  } catch (error) {
    if (!isMirrorError(error) || error.code === 'interrupted') throw error
    return { kind: error.code === 'key-refused' ? 'key-refused' : 'error', error }
  }
}

async function decodeList(raw: Uint8Array): Promise<Seen> {
  const { items, ...envelope } = readPage(raw)
  const [first] = items
  const firstId = first === undefined ? null : first.kind === 'task' ? first.task.id : first.taskId
  return { ...envelope, items: items.length, firstId }
}

async function decodeTask(raw: Uint8Array): Promise<Seen> {
  const { item, ...envelope } = readDetail(raw)
  return { ...envelope, items: item === null ? 0 : 1, firstId: null }
}
