// The simulated account: tasks, their changes, and what readers get. Pure: seed, clock and calls decide every text.
import { headOf, idOf, slotOf } from './content.ts'
import { OpenTasks } from './open-tasks.ts'
import { SIMULATOR_DEFAULTS, type SimulatorOptions } from './options.ts'
import { type Compare, ListOrder } from './order.ts'
import { cutTake, fittingCount, type Refusal, sliceOf } from './paging.ts'
import { type Random, seeded, unitAt } from './random.ts'
import { StandingStill } from './standing-still.ts'
import { type Presence, SimulatedTasks } from './task-table.ts'

/** Epoch milliseconds. */
export type SimulatedClock = () => number

/** A place (`front`, `middle`, `behind`; only in orders by `createdAt`) or a `createdAt` (all others). */
type InsertWhere = 'now' | 'late' | 'future' | 'front' | 'middle' | 'behind' | number
/** Where in the list tasks are removed; `any`: at random places. */
type RemoveWhere = 'any' | 'front' | 'middle' | 'behind'

/** One thing that happened to one task. */
interface Change {
  kind: 'insert' | 'finish' | 'update' | 'move' | 'remove' | 'delist' | 'restore' | 'replace'
  id: string
  at: number
  /** The whole task after the change; null where nobody can read it any more. */
  text: string | null
}

interface AccountWindow {
  kind: 'window'
  /** JSON texts in list order. */
  texts: string[]
}

const HIDDEN_SALT = 8

/** Makes an account; options that are not given have the simulator's defaults. */
export function createAccount(options: Partial<SimulatorOptions> & { now?: SimulatedClock } = {}): Account {
  const { now = Date.now, ...rest } = options
  return new Account({ ...SIMULATOR_DEFAULTS, ...rest }, now)
}

export class Account {
  readonly options: Readonly<SimulatorOptions>
  readonly now: SimulatedClock
  readonly #random: Random
  readonly #tasks: SimulatedTasks
  readonly #open = new OpenTasks()
  readonly #order: ListOrder
  readonly #still: StandingStill<ListOrder>
  readonly #listeners = new Set<(change: Change) => void>()
  #reads = 0
  /** By slot: what details showed before a change, and the number of the last answer before that change. */
  readonly #before = new Map<number, { text: string; read: number }[]>()

  constructor(options: SimulatorOptions, now: SimulatedClock) {
    this.options = options
    this.now = now
    this.#random = seeded(options.seed, 0xacc0)
    this.#still = new StandingStill(options)
    this.#tasks = new SimulatedTasks(options)
    this.#tasks.fill(options.newest ?? now(), now())
    const slots = Array.from({ length: this.#tasks.length }, (_, slot) => slot)
    for (const slot of slots) if (this.#tasks.isOpen(slot)) this.#open.add(slot)
    this.#order = new ListOrder(slots, comparison(options, this.#tasks))
  }

  /** The length of the list, hidden tasks included. */
  get listed(): number {
    return this.#order.length
  }

  get openCount(): number {
    return this.#open.size
  }

  /** Ids in list order, without hidden tasks; `shuffled` lists show them in another order at every read. */
  ids(): string[] {
    return this.#order.all().flatMap((slot) => (this.#isHidden(slot) ? [] : [this.#id(slot)]))
  }

  idAt(index: number): string {
    return this.#id(this.#order.at(index))
  }

  /** What the list answers to one request. */
  list(skip: number, take: number): AccountWindow | Refusal {
    const { options } = this
    const read = ++this.#reads
    const order = this.#still.shown(this.#order, read, this.now(), () => this.#order.copy())
    const stretch = sliceOf(options, order.length, skip, cutTake(options, read, take))
    if (stretch.kind === 'refusal') return stretch
    const { from, to } = stretch
    const slots = this.#slotsOf(order, from, to, seeded(options.seed, read, 0x11f7))
    if (options.poison.length > 0 && this.#isPoisoned(slots, from)) {
      return { kind: 'refusal', status: 500, message: 'Internal Server Error' }
    }
    const visible = options.hiddenFraction > 0 ? slots.filter((slot) => !this.#isHidden(slot)) : slots
    const texts = visible.map((slot) => this.#tasks.listText(slot))
    return { kind: 'window', texts: texts.slice(0, fittingCount(texts, options.capBytes)) }
  }

  /** The whole task as the detail shows it; null where the id is unknown, removed or hidden. */
  get(id: string): string | null {
    const slot = this.#existing(id)
    return slot !== null && this.#isFound(slot) ? this.#tasks.text(slot) : null
  }

  /** The service's answer for one id: the task as `get` returns it, or an older state while the detail lags. */
  detail(id: string): string | null {
    const slot = this.#existing(id)
    const read = ++this.#reads
    if (slot === null || !this.#isFound(slot)) return null
    const before = this.#before.get(slot)?.find((state) => read - state.read <= this.options.detailLag)
    return before?.text ?? this.#tasks.detailText(slot)
  }

  #isFound(slot: number): boolean {
    return this.#tasks.presence(slot) !== 'removed' && !this.#isHidden(slot)
  }

  #keepBefore(slot: number): void {
    if (this.options.detailLag === 0) return
    const states = (this.#before.get(slot) ?? []).filter(({ read }) => this.#reads - read < this.options.detailLag)
    this.#before.set(slot, [...states, { text: this.#tasks.text(slot), read: this.#reads }])
  }

  /** Inserts `count` tasks and returns their ids. `openShare` overrides the share of them that is not finished. */
  insert(count = 1, { where = 'now' as InsertWhere, openShare = this.options.openInserts } = {}): string[] {
    const slots: number[] = []
    for (let i = 0; i < count; i++) {
      const createdAt = this.#momentFor(where)
      const isOpen = this.#random.chance(openShare)
      const slot = this.#tasks.append(createdAt, isOpen ? null : Math.max(createdAt, this.now()))
      if (isOpen) this.#open.add(slot)
      slots.push(slot)
    }
    this.#order.insert(slots)
    return slots.map((slot) => this.#tell('insert', slot))
  }

  /** Finishes open tasks: that many at random, or those named. */
  finish(which: number | readonly string[] = 1): string[] {
    const slots = typeof which === 'number' ? this.#open.some(which, this.#random) : which.map((id) => this.#known(id))
    return slots
      .filter((slot) => this.#open.has(slot))
      .map((slot) => {
        this.#open.delete(slot)
        this.#keepBefore(slot)
        this.#write(slot, () =>
          this.#tasks.finish(slot, Math.max(this.#tasks.createdAt(slot), this.now()), this.#random.next()),
        )
        return this.#tell('finish', slot)
      })
  }

  /** Changes the content of listed tasks: that many at random, or those named. */
  update(which: number | readonly string[] = 1): string[] {
    return this.#chosen(which, 'any').map((slot) => {
      this.#keepBefore(slot)
      this.#write(slot, () => this.#tasks.revise(slot, this.#random.next()))
      return this.#tell('update', slot)
    })
  }

  /** Moves tasks to the front of a list in order `updated_desc` without changing them. */
  move(which: number | readonly string[] = 1): string[] {
    return this.#chosen(which, 'any').map((slot) => {
      this.#write(slot, () => undefined)
      return this.#tell('move', slot)
    })
  }

  /** Deletes tasks: that many at a place of the list, or those named. */
  remove(which: number | readonly string[] = 1, { where = 'any' as RemoveWhere } = {}): string[] {
    return this.#withdraw(this.#chosen(which, where), 'removed')
  }

  /** Takes tasks out of the list; their ids are still answered. */
  delist(which: number | readonly string[] = 1, { where = 'any' as RemoveWhere } = {}): string[] {
    return this.#withdraw(this.#chosen(which, where), 'delisted')
  }

  /** Lists removed or delisted tasks again, as they were. */
  restore(ids: readonly string[]): string[] {
    const slots = ids.map((id) => this.#known(id)).filter((slot) => this.#tasks.presence(slot) !== 'listed')
    for (const slot of slots) {
      this.#tasks.setPresence(slot, 'listed')
      if (this.#tasks.isOpen(slot)) this.#open.add(slot)
    }
    this.#order.insert(slots)
    return slots.map((slot) => this.#tell('restore', slot))
  }

  /** From now on, list and detail show these texts in place of the task, whether they are tasks or not. */
  replaceText(id: string, list: string, detail: string = list): void {
    const slot = this.#known(id)
    this.#tasks.replace(slot, list, detail)
    this.#tell('replace', slot)
  }

  /** Calls `listener` after every change of a task, until the returned function is called. */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #momentFor(where: InsertWhere): number {
    const { lateMs, futureMs, order } = this.options
    const now = this.now()
    if (typeof where === 'number') return where
    if (where === 'late') return now - 1 - this.#random.int(lateMs)
    if (where === 'future') return now + 1 + this.#random.int(futureMs)
    const total = this.#order.length
    if (where === 'now' || total === 0 || (order !== 'created_desc' && order !== 'created_asc')) {
      return this.#tasks.dated(this.#tasks.length, now, now)
    }
    if (where === 'middle') return this.#tasks.arrivedAt(this.#order.at(this.#middle()))
    const outermost = this.#tasks.arrivedAt(this.#order.at(where === 'front' ? 0 : total - 1))
    const isNewest = (where === 'front') === (order === 'created_desc')
    return isNewest ? Math.max(now, outermost + 1) : outermost - 1
  }

  #slotsOf(list: ListOrder, from: number, to: number, random: Random): number[] {
    const { order, shuffleTies } = this.options
    if (order === 'shuffled') return list.shuffledWindow(from, to, random)
    if (shuffleTies && (order === 'created_desc' || order === 'created_asc')) {
      return list.tiesShuffledWindow(from, to, (slot) => this.#tasks.arrivedAt(slot), random)
    }
    return list.window(from, to)
  }

  #chosen(which: number | readonly string[], where: RemoveWhere): number[] {
    if (typeof which !== 'number') {
      const slots = new Set(which.map((id) => this.#known(id)))
      return [...slots].filter((slot) => this.#tasks.presence(slot) === 'listed')
    }
    const total = this.#order.length
    const count = Math.min(which, total)
    if (where === 'front') return this.#order.window(0, count)
    if (where === 'behind') return this.#order.window(total - count, total)
    if (count === total) return [...this.#order.all()]
    const chosen = new Set<number>()
    while (chosen.size < count) {
      // Where the middle has too few tasks left, any place will do, so that this loop ends.
      const inMiddle = where === 'middle' && chosen.size < total / 4
      chosen.add(this.#order.at(inMiddle ? this.#middle() : this.#random.int(total)))
    }
    return [...chosen]
  }

  /** An index in the middle half of the list. */
  #middle(): number {
    const total = this.#order.length
    return Math.floor(total / 4) + this.#random.int(Math.max(1, Math.floor(total / 2)))
  }

  #withdraw(slots: number[], presence: Presence): string[] {
    this.#order.remove(slots)
    return slots.map((slot) => {
      this.#tasks.setPresence(slot, presence)
      this.#open.delete(slot)
      return this.#tell(presence === 'removed' ? 'remove' : 'delist', slot)
    })
  }

  /** Writes to a task. Moves it in a list ordered by last update, and, once finished, in one ordered by completion. */
  #write(slot: number, change: () => void): void {
    const isMoving = /^(updated|completed)_/.test(this.options.order) && this.#tasks.presence(slot) === 'listed'
    if (isMoving) this.#order.remove([slot])
    change()
    this.#tasks.touch(slot)
    if (isMoving) this.#order.insert([slot])
  }

  #isHidden(slot: number): boolean {
    const { hiddenFraction, seed } = this.options
    return hiddenFraction > 0 && unitAt(seed, slot, HIDDEN_SALT) < hiddenFraction
  }

  #isPoisoned(slots: readonly number[], from: number): boolean {
    return this.options.poison.some((entry) => {
      if (/^\d+$/.test(entry)) return Number(entry) >= from && Number(entry) < from + slots.length
      const slot = slotOf(this.#idSeed, entry)
      return slot !== null && slots.includes(slot)
    })
  }

  #existing(id: string): number | null {
    const slot = slotOf(this.#idSeed, id)
    return slot !== null && slot < this.#tasks.length ? slot : null
  }

  #known(id: string): number {
    const slot = this.#existing(id)
    if (slot === null) throw new RangeError(`No task of this account ever had the id ${id}`)
    return slot
  }

  get #idSeed(): number {
    return this.options.idSeed ?? this.options.seed
  }

  #id(slot: number): string {
    return idOf(this.#idSeed, slot)
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

/** Equal `createdAt` are ordered by insertion. */
function comparison({ order, openTasksStand, seed, idSeed = seed }: SimulatorOptions, tasks: SimulatedTasks): Compare {
  if (order === 'created_desc') return (a, b) => tasks.arrivedAt(b) - tasks.arrivedAt(a) || b - a
  if (order === 'created_asc') return (a, b) => tasks.arrivedAt(a) - tasks.arrivedAt(b) || a - b
  if (order === 'completed_desc' || order === 'completed_asc') {
    // As a database sorts missing values: all first or all last, among themselves in the order of the others.
    const isLargest = (openTasksStand === 'front') === (order === 'completed_desc')
    const place = (slot: number): number => tasks.completedAt(slot) || (isLargest ? Number.MAX_SAFE_INTEGER : 0)
    if (order === 'completed_asc') return (a, b) => place(a) - place(b) || a - b
    return (a, b) => place(b) - place(a) || b - a
  }
  if (order === 'id_asc') return (a, b) => headOf(idSeed, a) - headOf(idSeed, b)
  if (order === 'id_desc') return (a, b) => headOf(idSeed, b) - headOf(idSeed, a)
  if (order === 'updated_desc') return (a, b) => tasks.touched(b) - tasks.touched(a)
  if (order === 'updated_asc') return (a, b) => tasks.touched(a) - tasks.touched(b)
  return (a, b) => a - b
}
