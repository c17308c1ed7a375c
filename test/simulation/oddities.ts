// Services that are odd beyond what the simulator of the product offers: replicas that lag, caches, orders that change in
// mid-life. Makes the window such a service answers with from what the account really lists; knows nothing of walks.
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { fittingCount, type Refusal, sliceOf } from '../../src/simulator/paging.ts'
import { mix32, type Random, shuffle } from '../../src/simulator/random.ts'
import type { Ledger } from './ledger.ts'

export type Oddity =
  /** Two servers answer in turn by chance; one is so many answers behind. */
  | { kind: 'replicas'; lag: number }
  /** A window that was answered is answered the same for so many answers; `isTold`: it says how old it is. */
  | { kind: 'cache'; lag: number; isTold?: boolean }
  /** From an answer on one of two servers stands still for so many answers. */
  | { kind: 'still'; from: number; lag: number }
  /** From an answer on windows hold this share of what was asked for, for so many answers. */
  | { kind: 'cut'; from: number; to: number; share: number }
  /** Every so many items one is listed twice in a row, as a careless join does. */
  | { kind: 'doubled'; every: number }
  /** Answers hold at most a number of items that changes with every one of them, or with skip. */
  | { kind: 'varying-cap'; bySkip: boolean }
  /** `skip` is rounded down to whole pages of `take`. */
  | { kind: 'page-numbers' }
  /** `take` is rounded up to a multiple. */
  | { kind: 'rounded-take'; multiple: number }
  /** Behind the end the service fails. */
  | { kind: 'failing-end' }
  /** The items of a window come in another sequence every time. */
  | { kind: 'reordered-windows' }
  /** From an answer on the list has another order. */
  | { kind: 'flip'; at: number; to: 'reversed' | 'created_desc' | 'created_asc' | 'id_asc' | 'oldest-update-first' }
  /** The list stands on its head: oldest update first, for one. */
  | { kind: 'reversed' }
  /**
   * Sorted newest first by a span of createdAt: within one the sequence is another one for each place where a window ends, and always
   * the same for that, as in a database that sorts no further than it has to.
   */
  | { kind: 'sorted-by-window'; spanMs: number }
  /** Windows from an index on come out of another sequence: behind many rows a database may go another way. */
  | { kind: 'other-order-from'; skip: number }
  /** Details are so many answers old. */
  | { kind: 'stale-detail'; lag: number }
  /** A detail is another task's now and then. */
  | { kind: 'other-detail' }
  /** The Date header is off by up to an hour, every answer by another amount. */
  | { kind: 'date-jumps' }
  /** What stands behind so many items is never listed: the list seems to end there. */
  | { kind: 'silent-limit'; items: number }
  /** Before the second run every task is removed and others come. */
  | { kind: 'replaced' }
  /** A window with more than so many bytes of tasks is refused, unless it holds one alone. */
  | { kind: 'refused-size'; bytes: number }

/** The oddity of that kind among `oddities`. */
export function ofKind<Kind extends Oddity['kind']>(
  oddities: readonly Oddity[],
  kind: Kind,
): Extract<Oddity, { kind: Kind }> | undefined {
  return oddities.find((oddity): oddity is Extract<Oddity, { kind: Kind }> => oddity.kind === kind)
}

/** How many answers may pass until every answer shows what happened. */
export function lagOf(oddities: readonly Oddity[]): number {
  const lags = (['replicas', 'cache', 'still'] as const).map((kind) => ofKind(oddities, kind)?.lag ?? 0)
  return lags.reduce((sum, lag) => sum + lag, 0)
}

/** How old a detail may be, in answers. */
export function detailLagOf(oddities: readonly Oddity[]): number {
  return ofKind(oddities, 'stale-detail')?.lag ?? 0
}

/**
 * A list that changes its order in mid-life and still begins as it did, with what was never updated: what is new stands
 * where a head or tail walk has no reason to look, until the next full walk (docs/reliability.md). So may what stands elsewhere
 * for another window.
 */
export function hidesNews(oddities: readonly Oddity[]): boolean {
  return ofKind(oddities, 'flip')?.to === 'oldest-update-first' || placesByWindow(oddities)
}

/** Where a task stands depends on the window that was asked for. */
export function placesByWindow(oddities: readonly Oddity[]): boolean {
  return oddities.some(({ kind }) => kind === 'sorted-by-window' || kind === 'other-order-from')
}

export interface OddAnswer {
  kind: 'window'
  texts: string[]
  /** All that was listed then, as this service lists it. */
  sequence?: readonly string[]
  /** The number of the answer that it was first, where it comes from a cache that tells. */
  madeAt?: number
}

/** The list of an account as an odd service shows it. */
export class OddList {
  readonly #oddities: readonly Oddity[]
  readonly #paging: SimulatorOptions
  readonly #ledger: Ledger
  readonly #random: Random
  readonly #window: number
  /** The sequence that was listed, by the answer from which on it was. */
  readonly #history: { from: number; ids: readonly string[] }[] = []
  /** Ids that stood behind a silent limit at some answer: nobody can know of them. */
  readonly concealed = new Set<string>()
  readonly #cached = new Map<string, { answer: number; texts: string[]; sequence: readonly string[] }>()

  constructor(oddities: readonly Oddity[], paging: SimulatorOptions, ledger: Ledger, random: Random, window: number) {
    this.#oddities = oddities
    this.#paging = paging
    this.#ledger = ledger
    this.#random = random
    this.#window = window
  }

  /** `current`: ids in list order as they are now. */
  list(
    current: readonly string[],
    skip: number,
    take: number,
  ): OddAnswer | (Refusal & { sequence?: readonly string[] }) {
    const { answer } = this.#ledger
    this.remember(current)
    const key = `${skip}:${take}`
    const cache = ofKind(this.#oddities, 'cache')
    const cached = cache === undefined ? undefined : this.#cached.get(key)
    if (cache !== undefined && cached !== undefined && answer - cached.answer < cache.lag)
      return {
        kind: 'window',
        texts: cached.texts,
        sequence: cached.sequence,
        ...(cache.isTold === true ? { madeAt: cached.answer } : {}),
      }
    const asOf = this.#asOf(answer)
    const ids = this.#shown(this.#at(asOf), answer, { skip, end: skip + take })
    const from = this.#has('page-numbers') && take > 0 ? Math.floor(skip / take) * take : skip
    const multiple = ofKind(this.#oddities, 'rounded-take')?.multiple ?? 1
    const wanted = Math.ceil(take / multiple) * multiple
    if (this.#has('failing-end') && from >= ids.length)
      return { kind: 'refusal', status: 500, message: 'Internal Server Error' }
    const stretch = sliceOf(this.#paging, ids.length, from, wanted)
    if (stretch.kind === 'refusal') return { ...stretch, sequence: ids }
    let some = ids.slice(stretch.from, stretch.to)
    const shortened = ofKind(this.#oddities, 'cut')
    if (shortened !== undefined && answer >= shortened.from && answer < shortened.to)
      some = some.slice(0, Math.max(1, Math.ceil(shortened.share * wanted)))
    const varying = ofKind(this.#oddities, 'varying-cap')
    if (varying !== undefined)
      some = some.slice(0, 1 + (varying.bySkip ? (skip * 7) % this.#window : this.#random.int(this.#window)))
    const texts = some.map((id) => this.#ledger.textAt(id, asOf))
    const most = ofKind(this.#oddities, 'refused-size')?.bytes ?? Number.POSITIVE_INFINITY
    if (texts.length > 1 && texts.reduce((sum, text) => sum + text.length, 0) > most)
      return { kind: 'refusal', status: 413, message: 'Payload Too Large', sequence: ids }
    const cut = texts.slice(0, fittingCount(texts, this.#paging.capBytes))
    // Cut first: an answer is one piece of the list, or nothing could be said of any list.
    const fitting = this.#has('reordered-windows') ? shuffle(cut, this.#random) : cut
    if (cache !== undefined) this.#cached.set(key, { answer, texts: fitting, sequence: ids })
    return { kind: 'window', texts: fitting, sequence: ids }
  }

  #has(kind: Oddity['kind']): boolean {
    return ofKind(this.#oddities, kind) !== undefined
  }

  #asOf(answer: number): number {
    const replicas = ofKind(this.#oddities, 'replicas')
    const still = ofKind(this.#oddities, 'still')
    let asOf = answer
    if (replicas !== undefined && this.#random.chance(0.5)) asOf -= replicas.lag
    if (still !== undefined && this.#random.chance(0.5) && answer >= still.from && answer < still.from + still.lag)
      asOf = Math.min(asOf, still.from)
    return asOf
  }

  remember(ids: readonly string[]): void {
    const last = this.#history.at(-1)
    if (last !== undefined && last.ids.length === ids.length && last.ids.every((id, index) => id === ids[index])) return
    this.#history.push({ from: this.#ledger.answer, ids })
    if (this.#history.length > 500) this.#history.shift()
  }

  #at(answer: number): readonly string[] {
    const found = this.#history.findLast(({ from }) => from <= answer) ?? this.#history[0]
    return (found as { ids: readonly string[] }).ids
  }

  /** What the service makes of the account's own sequence. */
  #shown(ids: readonly string[], answer: number, window: { skip: number; end: number }): string[] {
    let shown = this.#sortedFor(this.#sorted(ids, answer), window)
    const limit = ofKind(this.#oddities, 'silent-limit')
    if (limit !== undefined) {
      for (const id of shown.slice(limit.items)) this.concealed.add(id)
      shown = shown.slice(0, limit.items)
    }
    const doubled = ofKind(this.#oddities, 'doubled')
    if (doubled === undefined) return shown
    return shown.flatMap((id, index) => (index % doubled.every === doubled.every - 1 ? [id, id] : [id]))
  }

  /** What depends on the window that is asked for. */
  #sortedFor(ids: string[], { skip, end }: { skip: number; end: number }): string[] {
    const coarse = ofKind(this.#oddities, 'sorted-by-window')
    const other = ofKind(this.#oddities, 'other-order-from')
    const scattered = (id: string, by: number): number => mix32(Number.parseInt(id.slice(0, 8), 16) ^ mix32(by))
    if (coarse !== undefined) {
      const span = (id: string): number => Math.floor((this.#ledger.lives.get(id)?.createdAt ?? 0) / coarse.spanMs)
      return ids.toSorted((a, b) => span(b) - span(a) || scattered(a, end) - scattered(b, end))
    }
    return other === undefined || skip < other.skip ? ids : ids.toSorted((a, b) => scattered(a, 0) - scattered(b, 0))
  }

  #sorted(ids: readonly string[], answer: number): string[] {
    const listed = this.#has('reversed') ? ids.toReversed() : [...ids]
    const flip = ofKind(this.#oddities, 'flip')
    if (flip === undefined || answer < flip.at) return listed
    const { lives } = this.#ledger
    const created = (id: string): number => lives.get(id)?.createdAt ?? 0
    const touched = (id: string): number => lives.get(id)?.moves.at(-1) ?? lives.get(id)?.listed[0]?.from ?? 0
    const by = (key: (id: string) => number, sign: number): string[] => ids.toSorted((a, b) => sign * (key(a) - key(b)))
    if (flip.to === 'reversed') return listed.toReversed()
    if (flip.to === 'created_desc') return by(created, -1)
    if (flip.to === 'created_asc') return by(created, 1)
    if (flip.to === 'oldest-update-first') return by(touched, 1)
    return ids.toSorted()
  }
}

/** One of them, for a window of this size. */
export function anyOddity(random: Random, window: number): Oddity {
  const lag = random.pick([2, 5, 20])
  const to = random.pick(['reversed', 'created_desc', 'created_asc', 'id_asc', 'oldest-update-first'] as const)
  const from = random.int(100)
  return random.pick<Oddity>([
    { kind: 'replicas', lag },
    { kind: 'cache', lag, isTold: lag !== 5 },
    { kind: 'still', from: random.int(100), lag: 5 + random.int(60) },
    { kind: 'cut', from, to: from + 2 + random.int(30), share: random.pick([0.1, 0.3, 0.6]) },
    { kind: 'doubled', every: 1 + random.int(window) },
    { kind: 'varying-cap', bySkip: random.chance(0.5) },
    { kind: 'page-numbers' },
    { kind: 'rounded-take', multiple: 2 + random.int(window) },
    { kind: 'failing-end' },
    { kind: 'reordered-windows' },
    { kind: 'flip', at: 1 + random.int(200), to },
    { kind: 'flip', at: 1 + random.int(60), to },
    { kind: 'reversed' },
    { kind: 'stale-detail', lag },
    { kind: 'other-detail' },
    { kind: 'date-jumps' },
    { kind: 'replaced' },
    { kind: 'silent-limit', items: 1 + random.int(40) },
  ])
}
