// The simulated account: its tasks, the operations that change them, and what a reader of the list or of one task gets.
// Pure state: the same seed, clock and calls give the same texts. Knows nothing of HTTP, timers or Math.random.
import {
  type ContentOptions,
  FINAL_STATUSES,
  headOf,
  idOf,
  OPEN_STATUSES,
  slotOf,
  type TaskState,
  taskText,
} from './content.ts'
import { type Carries, DEFAULTS, type SimulatorOptions } from './options.ts'
import { type Compare, ListOrder } from './order.ts'
import { fittingCount, type PagingOptions, type Refusal, stretchOf } from './paging.ts'
import { type Random, seeded, unitAt } from './random.ts'
import { TextCache } from './text-cache.ts'

export type AccountOptions = ContentOptions &
  PagingOptions &
  Pick<
    SimulatorOptions,
    | 'tasks'
    | 'openFraction'
    | 'newest'
    | 'spanDays'
    | 'tieGroup'
    | 'lateFraction'
    | 'lateMs'
    | 'futureFraction'
    | 'futureMs'
    | 'openInserts'
    | 'order'
    | 'shuffleTies'
    | 'listCarries'
    | 'capBytes'
    | 'hiddenFraction'
    | 'poison'
  >

/** Epoch milliseconds. */
export type Clock = () => number

/**
 * Where a task is inserted or removed. `front`, `middle`, `behind`: by place in the list (orders by id and `insertion`
 * leave no choice to an insert); `now`, `late`, `future` or a number: by `createdAt`; `any`: a place by chance.
 */
export type InsertWhere = 'now' | 'late' | 'future' | 'front' | 'middle' | 'behind' | number
export type RemoveWhere = 'any' | 'front' | 'middle' | 'behind'

/** One thing that happened to one task. */
export interface Change {
  kind: 'insert' | 'finish' | 'update' | 'move' | 'remove' | 'delist' | 'restore' | 'replace'
  id: string
  at: number
  /** The whole task as it is from now on; null where nobody can read it any more. */
  text: string | null
}

export interface ListedWindow {
  kind: 'window'
  /** JSON texts in list order. */
  texts: string[]
}

const DAY_MS = 86_400_000
const SALT = { jitter: 1, open: 2, status: 3, late: 4, future: 5, howFar: 6, duration: 7, hidden: 8 } as const

/** Whether a task is found by the list, by its id only, or not at all. */
const LISTED = 0
const DELISTED = 1
const REMOVED = 2

/** Makes an account; options not given are those of an untouched simulator. */
export function createAccount(options: Partial<AccountOptions> & { now?: Clock } = {}): Account {
  const { now = Date.now, ...rest } = options
  return new Account({ ...DEFAULTS, ...rest }, now)
}

export class Account {
  readonly options: Readonly<AccountOptions>
  readonly now: Clock
  readonly #random: Random
  readonly #texts = new TextCache()
  readonly #listTexts = new TextCache()
  readonly #replaced = new Map<number, { list: string; detail: string }>()
  readonly #listeners = new Set<(change: Change) => void>()
  // Columns by slot: a million tasks are a few arrays of numbers.
  readonly #createdAt: number[] = []
  readonly #completedAt: number[] = []
  readonly #status: number[] = []
  readonly #revision: number[] = []
  readonly #touched: number[] = []
  readonly #presence: number[] = []
  readonly #open: number[] = []
  readonly #openIndex = new Map<number, number>()
  readonly #order: ListOrder
  #touches = 0
  #reads = 0

  constructor(options: AccountOptions, now: Clock) {
    this.options = options
    this.now = now
    this.#random = seeded(options.seed, 0xacc0)
    this.#fill(options.newest ?? now())
    const slots = Array.from({ length: options.tasks }, (_, slot) => slot)
    this.#order = new ListOrder(slots, this.#comparison())
  }

  /** How many tasks the list runs over, hidden ones included. */
  get listed(): number {
    return this.#order.length
  }

  get openCount(): number {
    return this.#open.length
  }

  /** Ids in list order, without hidden ones; `shuffled` lists show them in another sequence at every read. */
  ids(): string[] {
    return this.#order.all().flatMap((slot) => (this.#isHidden(slot) ? [] : [this.#id(slot)]))
  }

  idAt(index: number): string {
    return this.#id(this.#order.at(index))
  }

  /** What the list answers to one request. */
  list(skip: number, take: number): ListedWindow | Refusal {
    const { options } = this
    const read = ++this.#reads
    const stretch = stretchOf(options, this.#order.length, skip, take)
    if (stretch.kind === 'refusal') return stretch
    const { from, to } = stretch
    const slots = this.#slotsOf(from, to, seeded(options.seed, read, 0x11f7))
    if (options.poison.length > 0 && this.#isPoisoned(slots, from)) {
      return { kind: 'refusal', status: 500, message: 'Internal Server Error' }
    }
    const visible = options.hiddenFraction > 0 ? slots.filter((slot) => !this.#isHidden(slot)) : slots
    const texts = visible.map((slot) => this.#listText(slot))
    return { kind: 'window', texts: texts.slice(0, fittingCount(texts, options.capBytes)) }
  }

  /** The whole task as the detail shows it; null where the id is unknown, removed or hidden. */
  get(id: string): string | null {
    const slot = this.#existing(id)
    return slot === null || this.#presence[slot] === REMOVED || this.#isHidden(slot) ? null : this.#text(slot)
  }

  /** Inserts `count` tasks and gives their ids. `openShare` overrides the share of them that is not finished. */
  insert(count = 1, { where = 'now' as InsertWhere, openShare = this.options.openInserts } = {}): string[] {
    const slots: number[] = []
    for (let i = 0; i < count; i++) {
      const createdAt = this.#momentFor(where)
      const isOpen = this.#random.chance(openShare)
      const slot = this.#append(createdAt, isOpen, isOpen ? 0 : Math.max(createdAt, this.now()))
      this.#touched[slot] = ++this.#touches
      slots.push(slot)
    }
    this.#order.insert(slots)
    return slots.map((slot) => this.#tell('insert', slot))
  }

  /** Finishes open tasks: so many by chance, or those named. */
  finish(which: number | readonly string[] = 1): string[] {
    return this.#chosenOpen(which).map((slot) => {
      this.#close(slot)
      this.#completedAt[slot] = Math.max(this.#createdAt[slot]!, this.now())
      this.#status[slot] = this.#random.int(FINAL_STATUSES.length)
      this.#touch(slot)
      return this.#tell('finish', slot)
    })
  }

  /** Changes the content of tasks: so many by chance, or those named. */
  update(which: number | readonly string[] = 1): string[] {
    return this.#chosen(which, 'any').map((slot) => {
      this.#revision[slot]!++
      if (this.#completedAt[slot] === 0) this.#status[slot] = this.#random.int(OPEN_STATUSES.length)
      this.#touch(slot)
      return this.#tell('update', slot)
    })
  }

  /** Brings tasks to the front of a list in order `updated_desc` without changing them. */
  move(which: number | readonly string[] = 1): string[] {
    return this.#chosen(which, 'any').map((slot) => {
      this.#touch(slot)
      return this.#tell('move', slot)
    })
  }

  /** Deletes tasks: so many at a place of the list, or those named. */
  remove(which: number | readonly string[] = 1, { where = 'any' as RemoveWhere } = {}): string[] {
    return this.#withdraw(this.#chosen(which, where), REMOVED)
  }

  /** Takes tasks out of the list; their ids are still answered. */
  delist(which: number | readonly string[] = 1, { where = 'any' as RemoveWhere } = {}): string[] {
    return this.#withdraw(this.#chosen(which, where), DELISTED)
  }

  /** Lists removed or delisted tasks again, as they were. */
  restore(ids: readonly string[]): string[] {
    const slots = ids.map((id) => this.#known(id)).filter((slot) => this.#presence[slot] !== LISTED)
    for (const slot of slots) {
      this.#presence[slot] = LISTED
      if (this.#completedAt[slot] === 0) this.#reopen(slot)
    }
    this.#order.insert(slots)
    return slots.map((slot) => this.#tell('restore', slot))
  }

  /** From now on the list, and the detail, shows this text in place of the task, be it a task or not. */
  replaceText(id: string, list: string, detail: string = list): void {
    const slot = this.#known(id)
    this.#replaced.set(slot, { list, detail })
    this.#tell('replace', slot)
  }

  /** Calls `listener` after every change of a task; the answer ends that. */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #fill(newest: number): void {
    const { seed, tasks, spanDays, tieGroup, openFraction } = this.options
    const span = spanDays * DAY_MS
    for (let slot = 0; slot < tasks; slot++) {
      const first = slot - (slot % tieGroup)
      const age = 1 - (first + unitAt(seed, first, SALT.jitter)) / tasks
      const createdAt = Math.floor(this.#shifted(slot, newest - age * span))
      // Newer tasks are open more often; the share over all is openFraction.
      const isOpen = unitAt(seed, slot, SALT.open) < openFraction * (openFraction > 0.3 ? 1 : 3 * (slot / tasks) ** 2)
      const duration = 100 + Math.floor(60_000 * unitAt(seed, slot, SALT.duration) ** 3)
      this.#append(createdAt, isOpen, isOpen ? 0 : createdAt + duration)
    }
  }

  #append(createdAt: number, isOpen: boolean, completedAt: number): number {
    const slot = this.#createdAt.length
    const statuses = isOpen ? OPEN_STATUSES : FINAL_STATUSES
    this.#createdAt.push(createdAt)
    this.#completedAt.push(completedAt)
    this.#status.push(Math.floor(unitAt(this.options.seed, slot, SALT.status) * statuses.length))
    this.#revision.push(0)
    this.#touched.push(++this.#touches)
    this.#presence.push(LISTED)
    if (isOpen) this.#reopen(slot)
    return slot
  }

  /** A share of the tasks says it was created earlier, or later, than it was. */
  #shifted(slot: number, moment: number): number {
    const { seed, lateFraction, lateMs, futureFraction, futureMs } = this.options
    const howFar = unitAt(seed, slot, SALT.howFar)
    if (unitAt(seed, slot, SALT.late) < lateFraction) return moment - 1 - howFar * lateMs
    if (unitAt(seed, slot, SALT.future) < futureFraction) return this.now() + 1 + howFar * futureMs
    return moment
  }

  #momentFor(where: InsertWhere): number {
    const { lateMs, futureMs, order } = this.options
    if (typeof where === 'number') return where
    if (where === 'late') return this.now() - 1 - this.#random.int(lateMs)
    if (where === 'future') return this.now() + 1 + this.#random.int(futureMs)
    const total = this.#order.length
    if (where === 'now' || total === 0 || (order !== 'created_desc' && order !== 'created_asc')) {
      return Math.floor(this.#shifted(this.#createdAt.length, this.now()))
    }
    if (where === 'middle') return this.#createdAt[this.#order.at(this.#middle())]!
    const outermost = this.#createdAt[this.#order.at(where === 'front' ? 0 : total - 1)]!
    const newerSide = (where === 'front') === (order === 'created_desc')
    return newerSide ? Math.max(this.now(), outermost + 1) : outermost - 1
  }

  #slotsOf(from: number, to: number, random: Random): number[] {
    const { order, shuffleTies } = this.options
    if (order === 'shuffled') return this.#order.shuffledWindow(from, to, random)
    if (shuffleTies && (order === 'created_desc' || order === 'created_asc')) {
      return this.#order.tiesShuffledWindow(from, to, (slot) => this.#createdAt[slot]!, random)
    }
    return this.#order.window(from, to)
  }

  #comparison(): Compare {
    const { order, seed } = this.options
    const created = this.#createdAt
    const touched = this.#touched
    if (order === 'created_desc') return (a, b) => created[b]! - created[a]! || b - a
    if (order === 'created_asc') return (a, b) => created[a]! - created[b]! || a - b
    if (order === 'id_asc') return (a, b) => headOf(seed, a) - headOf(seed, b)
    if (order === 'id_desc') return (a, b) => headOf(seed, b) - headOf(seed, a)
    if (order === 'updated_desc') return (a, b) => touched[b]! - touched[a]!
    return (a, b) => a - b
  }

  #chosen(which: number | readonly string[], where: RemoveWhere): number[] {
    if (typeof which !== 'number') {
      return which.map((id) => this.#known(id)).filter((slot) => this.#presence[slot] === LISTED)
    }
    const total = this.#order.length
    const count = Math.min(which, total)
    if (where === 'front') return this.#order.window(0, count)
    if (where === 'behind') return this.#order.window(total - count, total)
    const chosen = new Set<number>()
    while (chosen.size < count) {
      // A middle that has been used up gives way to any place, so that this ends.
      const inMiddle = where === 'middle' && chosen.size < total / 4
      chosen.add(this.#order.at(inMiddle ? this.#middle() : this.#random.int(total)))
    }
    return [...chosen]
  }

  #middle(): number {
    const total = this.#order.length
    return Math.floor(total / 4) + this.#random.int(Math.max(1, Math.floor(total / 2)))
  }

  #chosenOpen(which: number | readonly string[]): number[] {
    if (typeof which !== 'number') return which.map((id) => this.#known(id)).filter((slot) => this.#openIndex.has(slot))
    const chosen = new Set<number>()
    const count = Math.min(which, this.#open.length)
    while (chosen.size < count) chosen.add(this.#random.pick(this.#open))
    return [...chosen]
  }

  #withdraw(slots: number[], presence: number): string[] {
    this.#order.remove(slots)
    return slots.map((slot) => {
      this.#presence[slot] = presence
      this.#close(slot)
      return this.#tell(presence === REMOVED ? 'remove' : 'delist', slot)
    })
  }

  /** The task was written to: its texts are stale, and `updated_desc` brings it to the front. */
  #touch(slot: number): void {
    const moves = this.options.order === 'updated_desc' && this.#presence[slot] === LISTED
    if (moves) this.#order.remove([slot])
    this.#touched[slot] = ++this.#touches
    if (moves) this.#order.insert([slot])
    this.#texts.forget(slot)
    this.#listTexts.forget(slot)
  }

  #reopen(slot: number): void {
    this.#openIndex.set(slot, this.#open.push(slot) - 1)
  }

  #close(slot: number): void {
    const index = this.#openIndex.get(slot)
    if (index === undefined) return
    const last = this.#open.pop()!
    if (last !== slot) {
      this.#open[index] = last
      this.#openIndex.set(last, index)
    }
    this.#openIndex.delete(slot)
  }

  #isHidden(slot: number): boolean {
    const { hiddenFraction, seed } = this.options
    return hiddenFraction > 0 && unitAt(seed, slot, SALT.hidden) < hiddenFraction
  }

  #isPoisoned(slots: readonly number[], from: number): boolean {
    return this.options.poison.some((entry) => {
      if (/^\d+$/.test(entry)) return Number(entry) >= from && Number(entry) < from + slots.length
      const slot = slotOf(this.options.seed, entry)
      return slot !== null && slots.includes(slot)
    })
  }

  #existing(id: string): number | null {
    const slot = slotOf(this.options.seed, id)
    return slot !== null && slot < this.#createdAt.length ? slot : null
  }

  #known(id: string): number {
    const slot = this.#existing(id)
    if (slot === null) throw new RangeError(`No task of this account ever had the id ${id}`)
    return slot
  }

  #id(slot: number): string {
    return idOf(this.options.seed, slot)
  }

  #state(slot: number): TaskState {
    const completedAt = this.#completedAt[slot]!
    const statuses = completedAt === 0 ? OPEN_STATUSES : FINAL_STATUSES
    return {
      slot,
      createdAt: this.#createdAt[slot]!,
      completedAt: completedAt === 0 ? null : completedAt,
      systemStatus: statuses[this.#status[slot]!]!,
      revision: this.#revision[slot]!,
    }
  }

  #text(slot: number): string {
    const make = () => taskText(this.options, this.#state(slot))
    return this.#replaced.get(slot)?.detail ?? this.#texts.get(slot, make)
  }

  #listText(slot: number): string {
    const carries: Carries = this.options.listCarries
    if (carries === 'whole') return this.#replaced.get(slot)?.list ?? this.#text(slot)
    const make = () => taskText(this.options, this.#state(slot), carries)
    return this.#replaced.get(slot)?.list ?? this.#listTexts.get(slot, make)
  }

  #tell(kind: Change['kind'], slot: number): string {
    const id = this.#id(slot)
    if (this.#listeners.size > 0) {
      const change: Change = { kind, id, at: this.now(), text: this.get(id) }
      for (const listener of this.#listeners) listener(change)
    }
    return id
  }
}
