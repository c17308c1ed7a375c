// Random worlds, longer than the small ones: an adversary drives the real kernel over a list that changes. Answers come late, windows
// are taken in late and in any order, and whatever it calls complete is held against the list. A kind of world is made so
// that certain assumptions cannot be broken in it: an end that rests on those alone has to be true.
import { Kernel } from '../../src/proof/kernel.ts'
import type { Basis } from '../../src/proof/state.ts'
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
  /** Which assumptions may be broken in it. */
  breaks: readonly Basis[]
}

// Where nothing is inserted, or nothing deleted, `held` is never broken; which links rest on the order of ties is left to the small worlds.
const TIES = ['ties-keep-places', 'ids-order-ties'] as const
export const KINDS: readonly Kind[] = [
  { name: 'deleted', changes: ['delete', 'shuffle'], late: true, breaks: TIES },
  { name: 'inserted', changes: ['insert', 'shuffle'], late: true, breaks: [...TIES, 'grows-at-its-ends'] },
  { name: 'inserted at the ends', changes: ['atEnds', 'shuffle'], late: true, breaks: TIES },
  { name: 'deleted, unread', changes: ['delete', 'shuffle'], unread: true, late: true, breaks: [...TIES, 'even-cuts'] },
  { name: 'inserted, unread', changes: ['insert', 'shuffle'], unread: true, breaks: [...TIES, 'grows-at-its-ends'] },
  { name: 'deleted, runs apart', changes: ['delete'], apart: true, late: true, breaks: TIES },
  { name: 'inserted, runs apart', changes: ['insert'], apart: true, breaks: [...TIES, 'grows-at-its-ends'] },
  { name: 'still, unread', changes: [], unread: true, late: true, breaks: [] },
  { name: 'deleted, cut anywhere', changes: ['delete', 'shuffle'], uneven: true, breaks: [...TIES, 'even-cuts'] },
  { name: 'still, left out', changes: [], hidden: true, breaks: [...TIES, 'even-cuts', 'nothing-hidden-behind'] },
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
  isFailed: boolean
}

const READINGS = 45
const MOST_TOLD = 20

/** What one world came to: null where it never was complete; else the ids that were missed, and what that rests on. */
export function play(kind: Kind, seed: number): { missed: string[]; rests: Basis[]; log: string[] } | null {
  return new World(kind, seed).play()
}

class World {
  readonly #kind: Kind
  readonly #random
  readonly #kernel = new Kernel(null)
  readonly #met = new Set<string>()
  readonly #log: string[] = []
  readonly #told: { handle: number; ids: string[] }[] = []
  readonly #cap: number
  readonly #take: number
  readonly #changeRate: number
  #list: Item[] = []
  #late: Answer | null = null
  #now = 0
  #made = 0
  #newest = 1000
  #oldest = 0

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
    this.#cap = 1 + this.#random.int(4)
    this.#take = 1 + this.#random.int(4)
    this.#changeRate = this.#random.int(50)
    this.#log.push(this.#list.map((item) => `${item.id}@${item.at}${item.hidden ? 'h' : ''}`).join(' '))
  }

  play() {
    for (let reading = 0; reading < READINGS; reading += 1) {
      if (this.#random.int(100) < this.#changeRate) this.#change()
      this.#read()
      for (let times = this.#random.int(4); times > 0; times -= 1) this.#takeIn()
      if (this.#random.int(20) === 0) this.#kernel.owe()
      if (this.#kernel.missing() !== null) continue
      const { basis, ended } = this.#kernel.state
      const missed = this.#list.filter(
        ({ id, stays, hidden, unread }) => stays && !hidden && !unread && !this.#met.has(id),
      )
      return { missed: missed.map(({ id }) => id), rests: [...basis, ...(ended ?? [])], log: this.#log }
    }
    return null
  }

  #make(at: number, stays: boolean): Item {
    this.#made += 1
    return { id: `${this.#random.int(1000)}-${this.#made}`, at, stays, hidden: false, unread: false }
  }

  #change(): void {
    const { changes } = this.#kind
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
      if (this.#random.int(2) === 0) this.#list.unshift(this.#make(this.#oldest, false))
      else this.#list.push(this.#make(this.#newest, false))
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
    if (this.#kind.late === true && this.#late === null && int(5) === 0) {
      this.#late = answer
      this.#now += 1
      return
    }
    this.#tell(answer)
    // What is empty is believed once it comes again.
    if (!answer.isFailed && answer.items.length === 0) this.#tell(this.#answer(skip, asked))
    if (this.#late === null || int(3) > 0) return
    this.#tell(this.#late)
    this.#late = null
  }

  #answer(skip: number, asked: number): Answer {
    const length = this.#kind.uneven === true ? 1 + this.#random.int(asked) : Math.min(asked, this.#cap)
    const items = this.#list.slice(skip, skip + length)
    const isFailed = items.some(({ unread }) => unread)
    return { skip, asked, sent: this.#now, isFailed, items: isFailed ? [] : items.filter(({ hidden }) => !hidden) }
  }

  #tell({ skip, asked, sent, items, isFailed }: Answer): void {
    this.#now += 1
    const ids = items.map(({ id }) => id)
    const met = ids.map((id) => (this.#met.has(id) ? 1 : 0))
    const kind = isFailed ? 'failed' : 'items'
    const moments = items.map(({ at }) => at)
    this.#kernel.tell({ skip, asked, sent, received: this.#now, kind, ids, moments, met }, this.#now)
    this.#log.push(`#${this.#now}, asked at ${sent}: ${skip}+${asked} ${kind} ${ids.join(' ')}`)
    if (ids.length > 0) this.#told.push({ handle: this.#now, ids })
    if (this.#told.length > MOST_TOLD) this.#told.shift()
    for (const id of this.#kernel.takeCounted()) this.#met.add(id)
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
