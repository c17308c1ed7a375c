// Random worlds, longer than the small ones: an adversary drives the real kernel over a list that changes. Answers come late, windows
// are taken in late and in any order, and whatever it calls complete is held against the list. A kind of world is made so
// that certain assumptions cannot be broken in it: an end that rests on those alone has to be true.
import { Kernel } from '../../src/proof/kernel.ts'
import type { Basis, WalkRange } from '../../src/proof/state.ts'
import { seeded } from '../../src/simulator/random.ts'

export interface Kind {
  name: string
  /** What happens to the list. `atEnds`: inserted with a createdAt of its own, in front of all others or behind them. */
  changes: readonly ('delete' | 'insert' | 'atEnds' | 'shuffle')[]
  /** Tasks cannot be read; are left out; answers come late; are cut anywhere; the same createdAt stands in several places. */
  unread?: boolean
  hidden?: boolean
  late?: boolean
  uneven?: boolean
  apart?: boolean
  /** Single answers bring nothing by mistake; the walk goes on in another process; more is given than was asked for. */
  mistakes?: boolean
  resumes?: boolean
  rounds?: boolean
  /** Behind the end the last window comes again; windows beyond an index are refused; the walk speaks of a range. */
  repeats?: boolean
  limit?: boolean
  range?: boolean
  /** First something is inserted, later only deleted: by that alone a count, or a list that is passed, may be false. */
  turns?: boolean
  /** Which assumptions may be broken in it, beside those that are looked for in each world. */
  breaks: readonly Basis[]
}

// Where nothing is inserted, or nothing deleted, `held` is never broken, but where ties change places and the last window comes again.
// Which links rest on the order of ties is left to the small worlds.
const TIES = ['ties-keep-places', 'ids-order-ties'] as const
const BY_IDS = ['ids-order-ties'] as const
const TURNS = ['grows-at-its-ends', 'last-window-again'] as const
export const KINDS: readonly Kind[] = [
  { name: 'deleted', changes: ['delete', 'shuffle'], late: true, breaks: TIES },
  { name: 'inserted', changes: ['insert', 'shuffle'], late: true, breaks: [...TIES, 'grows-at-its-ends'] },
  { name: 'inserted at the ends', changes: ['atEnds', 'shuffle'], late: true, breaks: TIES },
  { name: 'deleted, unread', changes: ['delete', 'shuffle'], unread: true, late: true, breaks: TIES },
  { name: 'inserted, unread', changes: ['insert', 'shuffle'], unread: true, breaks: [...TIES, 'grows-at-its-ends'] },
  {
    name: 'inserted, then deleted',
    changes: ['insert', 'shuffle'],
    turns: true,
    late: true,
    unread: true,
    breaks: [...TIES, ...TURNS],
  },
  {
    name: 'inserted, then deleted, refused',
    changes: ['insert', 'shuffle'],
    turns: true,
    limit: true,
    unread: true,
    breaks: [...TIES, ...TURNS],
  },
  { name: 'deleted, runs apart', changes: ['delete'], apart: true, late: true, breaks: TIES },
  { name: 'inserted, runs apart', changes: ['insert'], apart: true, breaks: [...TIES, 'grows-at-its-ends'] },
  { name: 'still, unread', changes: [], unread: true, late: true, breaks: [] },
  { name: 'deleted, cut anywhere', changes: ['delete', 'shuffle'], uneven: true, breaks: TIES },
  { name: 'still, left out', changes: [], hidden: true, late: true, breaks: BY_IDS },
  { name: 'deleted, left out', changes: ['delete'], hidden: true, late: true, breaks: BY_IDS },
  { name: 'inserted, left out', changes: ['insert'], hidden: true, breaks: [...BY_IDS, 'grows-at-its-ends'] },
  { name: 'deleted, mistakes', changes: ['delete', 'shuffle'], mistakes: true, late: true, unread: true, breaks: TIES },
  { name: 'inserted, mistakes', changes: ['atEnds', 'shuffle'], mistakes: true, late: true, breaks: TIES },
  { name: 'deleted, resumed', changes: ['delete', 'shuffle'], resumes: true, late: true, unread: true, breaks: TIES },
  { name: 'inserted, resumed', changes: ['atEnds', 'shuffle'], resumes: true, mistakes: true, breaks: TIES },
  { name: 'deleted, rounded up', changes: ['delete', 'shuffle'], rounds: true, late: true, breaks: TIES },
  { name: 'inserted, rounded up', changes: ['atEnds', 'shuffle'], rounds: true, mistakes: true, breaks: TIES },
  { name: 'inserted, the last window again', changes: ['atEnds'], repeats: true, late: true, breaks: BY_IDS },
  { name: 'deleted, refused', changes: ['delete', 'shuffle'], limit: true, late: true, unread: true, breaks: TIES },
  { name: 'inserted, refused', changes: ['atEnds', 'shuffle'], limit: true, mistakes: true, breaks: TIES },
  { name: 'deleted, a range', changes: ['delete', 'shuffle'], range: true, late: true, resumes: true, breaks: TIES },
  { name: 'inserted, a range', changes: ['atEnds', 'shuffle'], range: true, late: true, mistakes: true, breaks: TIES },
]

interface Item {
  id: string
  at: number
  hidden: boolean
  unread: boolean
  stays: boolean
}

interface Answer {
  skip: number
  asked: number
  sent: number
  items: Item[]
  kind: 'items' | 'failed' | 'refused'
  /** Something stood behind what it could have shown, or, where it shows nothing, at its index or behind. */
  isCut: boolean
  isMistake: boolean
}

const READINGS = 45
/** After so many readings nothing is inserted any more. */
const TURN = 12
const TURNED = ['delete', 'shuffle'] as const
const MOST_TOLD = 20

/** What one world came to: null where it never was complete; else the ids that were missed, what that rests on, and what was broken. */
export function play(
  kind: Kind,
  seed: number,
): { missed: string[]; rests: Basis[]; broken: Basis[]; log: string[] } | null {
  return new World(kind, seed).play()
}

class World {
  readonly #kind: Kind
  readonly #random
  readonly #range: WalkRange | null
  #kernel: Kernel
  readonly #met = new Set<string>()
  readonly #log: string[] = []
  #told: { handle: number; ids: string[] }[] = []
  readonly #cap: number
  readonly #take: number
  readonly #rounds: number
  readonly #limit: number
  readonly #changeRate: number
  /** A task that the adversary mostly keeps out of sight. */
  readonly #secret: Item | undefined
  #list: Item[] = []
  #late: Answer | null = null
  #now = 0
  #made = 0
  #newest = 1000
  #oldest = 0
  #wasMistake = false
  /** Answers shorter than asked for although they were cut: by `even-cuts` none is shorter than another one. */
  #shortest = Infinity
  #largest = 0
  #isHiddenBehind = false
  #hasCounted = false
  #readings = 0

  constructor(kind: Kind, seed: number) {
    this.#kind = kind
    this.#random = seeded(seed)
    const ties = this.#random.int(10)
    let at = 1
    for (let count = 2 + this.#random.int(7); count > 0; count -= 1) {
      const last = this.#list.at(-1)
      const item = this.#make(at, true)
      item.hidden = kind.hidden === true && this.#random.int(4) === 0
      item.unread = kind.unread === true && this.#random.int(4) === 0
      // What cannot be read has a createdAt of its own.
      const isTied = !item.unread && last?.unread === false && this.#random.int(10) < ties
      if (!isTied) at += 1
      const other = kind.apart === true ? this.#list[this.#random.int(2 * this.#list.length + 1)] : undefined
      item.at = other === undefined ? at : other.at
      this.#list.push(item)
    }
    this.#range = kind.range === true ? this.#someRange(at) : null
    this.#kernel = new Kernel(this.#range)
    this.#cap = kind.limit === true ? Infinity : 1 + this.#random.int(4)
    this.#take = 1 + this.#random.int(4)
    this.#rounds = kind.rounds === true ? 2 + this.#random.int(2) : 1
    this.#limit = kind.limit === true ? this.#list.length + this.#random.int(4) - 1 : Infinity
    this.#changeRate = this.#random.int(50)
    this.#secret = this.#random.int(2) === 0 ? this.#list[this.#random.int(this.#list.length)] : undefined
    this.#log.push(this.#list.map((item) => `${item.id}@${item.at}${item.hidden ? 'h' : ''}`).join(' '))
    this.#log.push(
      `range ${JSON.stringify(this.#range)}, cap ${this.#cap}, limit ${this.#limit}, rounds ${this.#rounds}`,
    )
  }

  /** The list is in created order, the oldest or the newest first. */
  #someRange(newest: number): WalkRange {
    const [low, high] = [this.#random.int(newest + 2), this.#random.int(newest + 2)].sort((one, other) => one - other)
    const [older, newer] = [this.#random.int(4) === 0 ? null : low, this.#random.int(4) === 0 ? null : high] as const
    if (this.#random.int(2) === 0) return { order: 'created_asc', from: older ?? null, to: newer ?? null }
    for (const item of this.#list) item.at = newest + 1 - item.at
    return { order: 'created_desc', from: newer ?? null, to: older ?? null }
  }

  #isInRange({ at }: Item): boolean {
    if (this.#range === null) return true
    const { order, from, to } = this.#range
    const [low, high] = order === 'created_asc' ? [from, to] : [to, from]
    return (low === null || at >= low) && (high === null || at < high)
  }

  play() {
    for (; this.#readings < READINGS; this.#readings += 1) {
      if (this.#random.int(100) < this.#changeRate) this.#change()
      if (this.#kind.resumes === true && this.#random.int(12) === 0) this.#goOn()
      if (this.#kind.hidden === true && this.#random.int(12) === 0) this.#kernel.filter()
      this.#read()
      for (let times = this.#random.int(4); times > 0; times -= 1) this.#takeIn()
      if (this.#random.int(20) === 0) this.#kernel.owe()
      if (this.#kernel.missing() !== null) continue
      const { basis, ended } = this.#kernel.state
      const missed = this.#list.filter(
        (item) => item.stays && !item.hidden && !item.unread && !this.#met.has(item.id) && this.#isInRange(item),
      )
      const rests = [...basis, ...(ended ?? [])]
      return { missed: missed.map(({ id }) => id), rests, broken: this.#broken(), log: this.#log }
    }
    return null
  }

  /** Which assumptions were broken. */
  #broken(): Basis[] {
    return [
      ...this.#kind.breaks,
      ...(this.#shortest < this.#largest ? ['even-cuts' as const] : []),
      ...(this.#isHiddenBehind ? ['nothing-hidden-behind' as const] : []),
      ...(this.#kind.turns === true && this.#hasCounted ? ['held' as const] : []),
    ]
  }

  #make(at: number, stays: boolean): Item {
    this.#made += 1
    return { id: `${this.#random.int(1000)}-${this.#made}`, at, stays, hidden: false, unread: false }
  }

  /** Another process goes on: it knows nothing of the answers of this one but what is kept. */
  #goOn(): void {
    this.#kernel = new Kernel(this.#range, this.#kernel.save())
    this.#told = []
    this.#late = null
    this.#now = 0
    this.#log.push('goes on')
  }

  #change(): void {
    const changes = this.#readings > TURN && this.#kind.turns === true ? TURNED : this.#kind.changes
    const change = changes[this.#random.int(changes.length)]
    const place = this.#random.int(this.#list.length + 1)
    if (change === 'delete') this.#list.splice(place, 1)
    else if (change === 'shuffle') this.#shuffle(place)
    else if (change === 'insert') {
      const beside = [this.#list[place - 1], this.#list[place]].filter((item) => item?.unread === false) as Item[]
      const within = beside.length === 2 && beside[0]?.at === beside[1]?.at ? beside[0]?.at : undefined
      const tied = within ?? beside[this.#random.int(2 * beside.length + 1)]?.at
      this.#newest += 1
      this.#list.splice(place, 0, this.#make(tied ?? this.#newest, false))
    } else if (change === 'atEnds') {
      this.#newest += 1
      this.#oldest -= 1
      const [first, last] =
        this.#range?.order === 'created_desc' ? [this.#newest, this.#oldest] : [this.#oldest, this.#newest]
      if (this.#random.int(2) === 0) this.#list.unshift(this.#make(first, false))
      else this.#list.push(this.#make(last, false))
    }
    this.#log.push(`  ${change}: ${this.#list.map(({ id, at }) => `${id}@${at}`).join(' ')}`)
  }

  #shuffle(place: number): void {
    const at = this.#list[place]?.at
    const start = this.#list.findIndex((item) => item.at === at)
    const run = this.#list.filter((item) => item.at === at)
    const order = run.map((item) => ({ item, key: this.#random.int(1_000_000) })).sort((a, b) => a.key - b.key)
    this.#list.splice(start, run.length, ...order.map(({ item }) => item))
  }

  /** Mostly around the end of what has joined. */
  #read(): void {
    const end = (this.#kernel.state.floor?.index ?? -1) + 1
    const int = (below: number): number => this.#random.int(below)
    const places: readonly (readonly [skip: number, asked: number])[] = [
      [end, this.#take],
      [Math.max(0, end - 1 - int(3)), this.#take],
      [Math.max(0, end - 1), 1],
      [end + int(3), int(2) === 0 ? 1 : this.#take],
      [0, 1 + int(8)],
      [int(this.#list.length + 2), 1 + int(4)],
    ]
    const [skip, asked] = places[int(places.length)] as readonly [number, number]
    const answer = this.#answer(skip, asked)
    if (this.#secret !== undefined && answer.items.includes(this.#secret) && int(5) > 0) return
    if (this.#kind.late === true && !answer.isMistake && this.#late === null && int(5) === 0) {
      this.#late = answer
      this.#now += 1
      return
    }
    this.#tell(answer)
    // What brings nothing is believed once it comes again.
    if (answer.kind !== 'failed' && answer.items.length === 0) this.#tell(this.#answer(skip, asked))
    if (this.#late === null || int(3) > 0) return
    this.#tell(this.#late)
    this.#late = null
  }

  #answer(skip: number, asked: number): Answer {
    const { uneven, repeats, mistakes } = this.#kind
    const sent = this.#now
    const isMistake = mistakes === true && !this.#wasMistake && this.#random.int(8) === 0
    const refused: Answer = { skip, asked, sent, kind: 'refused', items: [], isCut: false, isMistake }
    if (isMistake) return this.#random.int(2) === 0 ? refused : { ...refused, kind: 'items' }
    if (skip + asked > this.#limit) return refused
    const given = Math.ceil(asked / this.#rounds) * this.#rounds
    const length = uneven === true ? 1 + this.#random.int(given) : Math.min(given, this.#cap)
    const from = repeats === true && skip >= this.#list.length ? Math.max(0, this.#list.length - length) : skip
    const items = this.#list.slice(from, from + length)
    const isFailed = items.some(({ unread }) => unread)
    const shown = isFailed ? [] : items.filter(({ hidden }) => !hidden)
    const isCut = this.#list.slice(shown.length === 0 ? from : from + length).some(({ hidden }) => !hidden)
    return { skip, asked, sent, kind: isFailed ? 'failed' : 'items', items: shown, isCut, isMistake }
  }

  #tell({ skip, asked, sent, items, kind, isCut, isMistake }: Answer): void {
    this.#now += 1
    // Two of them in a row deceive any reader.
    this.#wasMistake = isMistake
    this.#made += 1
    const handle = this.#made
    const count = Math.min(items.length, asked)
    this.#largest = Math.max(this.#largest, count)
    if (isCut && count > 0 && items.length < asked) this.#shortest = Math.min(this.#shortest, count)
    if (isCut && kind === 'items' && count === 0 && asked >= this.#largest) this.#isHiddenBehind = true
    const ids = items.map(({ id }) => id)
    const met = ids.map((id) => (this.#met.has(id) ? 1 : 0))
    const moments = items.map(({ at }) => at)
    this.#kernel.tell({ skip, asked, sent, received: this.#now, kind, ids, moments, met }, handle)
    this.#log.push(`#${handle} at ${this.#now}, asked at ${sent}: ${skip}+${asked} ${kind} ${ids.join(' ')}`)
    if (ids.length > 0) this.#told.push({ handle, ids })
    if (this.#told.length > MOST_TOLD) this.#told.shift()
    for (const id of this.#kernel.takeCounted()) {
      this.#met.add(id)
      this.#hasCounted = true
    }
  }

  #takeIn(): void {
    const able = this.#told.filter(
      ({ handle, ids }) => this.#kernel.joins(handle) && ids.some((id) => !this.#met.has(id)),
    )
    const one = able[this.#random.int(able.length)]
    if (one === undefined) return
    this.#kernel.take(one.handle)
    for (const id of one.ids) this.#met.add(id)
    this.#log.push(`takes in #${one.handle}`)
    this.#told.splice(this.#told.indexOf(one), 1)
  }
}
