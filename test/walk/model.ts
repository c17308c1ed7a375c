// A list in memory, read through `WindowSource`: what a walk would see of a service, one request after another.

import type { Line } from '../../src/proof/judge.ts'
import type { WalkRequest, WalkResult } from '../../src/walk/request.ts'
import type { ReadOptions, WalkStep, WindowAnswer, WindowSource } from '../../src/walk/source.ts'
import { walk } from '../../src/walk/walk.ts'
import { brokenFor, type Listing } from '../simulation/assumptions.ts'

export interface Item {
  id: string
  at: number | null
}

/** Items, or why there are none. */
type Answered = Item[] | 'refused' | 'failed'

export interface Model {
  items: Item[]
  /** Requests so far. */
  requests: { skip: number; take: number }[]
  /** For `missedIn`: the list as it stood at each request, by its number; and the answers in the order they were given. */
  seen?: { listings: Map<number, Listing>; viewed: number[] }
  /** What the walk said it would want next, and after how many requests. */
  expected: { skip: number; stride: number; after: number }[]
  /** When all requests are sent, by this machine's clock: what was created later came in since. */
  startedAt?: number
  /** Called before each request; may change `items`. */
  before?: (request: number, model: Model) => void
  /** Answers in place of the plain window; null for the plain one. */
  answer?: (skip: number, take: number, model: Model) => Answered | null
}

export function makeModel(items: Item[], options: Partial<Model> = {}): Model {
  return { items: [...items], requests: [], expected: [], ...options }
}

/** `count` items, newest first, one second apart. */
export function newestFirst(count: number): Item[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `t${String(index).padStart(5, '0')}`,
    at: (count - index) * 1000,
  }))
}

export interface Walked {
  result: WalkResult
  met: Set<string>
  unreadable: number[]
  requests: number
  /** Ids listed at every request. */
  listedThroughout: Set<string>
  /** The walk's evidence. */
  lines: Line[]
}

export interface WalkOptions extends Partial<WalkRequest> {
  window?: number
  overlap?: number
  /** Marks of an earlier process; added to. */
  marks?: Set<string>
  /** False ends the walk there, as a kill would. */
  onTake?: (step: WalkStep & { kind: 'take' }) => boolean
}

/** The model as a walk reads it; `met` are its marks. `onRead` is called before each answer. */
export function sourceOf(model: Model, met: ReadonlySet<string>, onRead: () => void = () => undefined): WindowSource {
  let handle = 0
  let given = 0
  /** What the service answers now, and the number of the request. */
  function ask(skip: number, take: number): { answer: Answered; number: number } {
    model.before?.(model.requests.length, model)
    onRead()
    const number = model.requests.push({ skip, take })
    const answer = model.answer?.(skip, take, model) ?? model.items.slice(skip, skip + take)
    const shown = typeof answer === 'string' ? [] : answer
    model.seen?.listings.set(number, {
      ...{ skip, asked: take, count: shown.length, lastId: shown.at(-1)?.id ?? null },
      ...{ listed: model.items.map(({ id }) => id), isTrue: typeof answer !== 'string' },
    })
    return { answer, number }
  }
  /** Answered when they were prefetched, whatever has become of the list since. */
  const early = new Map<string, ReturnType<typeof ask> & { sent: number }>()
  return {
    async read(skip: number, take: number, { fresh }: ReadOptions = {}): Promise<WindowAnswer> {
      const key = `${skip}:${take}`
      const found = fresh === true ? early.get(key) : undefined
      const { answer, number, sent } = found ?? { ...ask(skip, take), sent: given }
      model.seen?.viewed.push(number)
      const received = ++given
      early.delete(key)
      if (answer === 'refused' || answer === 'failed') {
        return {
          kind: answer,
          skip,
          asked: take,
          sent,
          received,
          reason: 'status',
          message: answer,
          status: answer === 'refused' ? 400 : 500,
        }
      }
      return {
        kind: 'items',
        skip,
        asked: take,
        sent,
        received,
        serviceDate: null,
        startedAt: model.startedAt ?? 0,
        handle: ++handle,
        ids: answer.map(({ id }) => id),
        moments: answer.map(({ at }) => at),
        held: new Uint8Array(answer.length),
        met: Uint8Array.from(answer, ({ id }) => (met.has(id) ? 1 : 0)),
      }
    },
    drop: () => undefined,
    readAhead(skip, stride) {
      model.expected.push({ skip, stride, after: model.requests.length })
    },
    prefetch(windows) {
      early.clear()
      for (const { skip, take } of windows) early.set(`${skip}:${take}`, { ...ask(skip, take), sent: given })
    },
  }
}

/** Runs a walk over the model to its end, with marks kept in memory. */
export async function walkModel(model: Model, request: WalkOptions = {}): Promise<Walked> {
  const { window = 10, overlap = 3, marks, onTake, ...rest } = request
  const met = marks ?? new Set<string>()
  const unreadable: number[] = []
  const lines: Line[] = []
  let throughout: Set<string> | null = null
  const source = sourceOf(model, met, () => {
    const listed = new Set(model.items.map(({ id }) => id))
    throughout = throughout === null ? listed : throughout.intersection(listed)
  })
  const steps = walk(source, {
    start: 0,
    beyond: true,
    lap: 'always',
    settings: { window, overlap, settleMs: 60_000, maxRequests: 5_000 },
    ...rest,
  })
  for (;;) {
    const { value, done } = await steps.next()
    if (done === true) {
      return {
        result: value,
        met,
        unreadable,
        requests: model.requests.length,
        listedThroughout: throughout ?? new Set(),
        lines: [...lines, ...value.evidence],
      }
    }
    if (value.kind === 'unreadable') unreadable.push(value.skip)
    if (value.kind === 'mark') for (const id of value.ids) met.add(id)
    if (value.kind === 'take') {
      lines.push(...value.evidence)
      // Every state a walk hands out can be written down and read back.
      JSON.parse(JSON.stringify(value.state))
      for (const id of value.window.ids) met.add(id)
      if (onTake?.(value) === false) return { ...unfinished, met, unreadable, lines }
    }
  }
}

/** What is known of a walk that was cut off. */
const unfinished = { result: null as unknown as WalkResult, requests: 0, listedThroughout: new Set<string>() }

/**
 * Ids of those that were listed throughout and not met, though the walk says `complete`, and nothing that it rests on
 * was broken for them. The model has `seen`.
 */
export function missedIn({ items, seen }: Model, { result, met, listedThroughout, lines }: Walked): string[] {
  if (result.verdict !== 'complete' || seen === undefined) return []
  return items
    .filter(({ id }) => listedThroughout.has(id) && !met.has(id))
    .filter(({ id, at }) => brokenFor({ id, createdAt: at ?? 0 }, lines, seen.viewed, seen.listings) === null)
    .map(({ id }) => id)
}
