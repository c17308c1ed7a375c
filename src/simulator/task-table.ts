// The tasks of an account by slot, a few numbers each; texts are made when first read. Slots are never reused.
import { FINAL_STATUSES, OPEN_STATUSES, simulatedText } from './content.ts'
import { isListWhole, listedTextOf } from './listed-text.ts'
import { SIMULATOR_DEFAULTS, type SimulatorOptions } from './options.ts'
import { unitAt } from './random.ts'
import { TextCache } from './text-cache.ts'

/** Whether a task is found by the list and its id, by its id only, or not at all. */
export type Presence = 'listed' | 'delisted' | 'removed'

const DAY_MS = 86_400_000
const SALT = { jitter: 1, open: 2, status: 3, late: 4, future: 5, howFar: 6, duration: 7, stamp: 8 } as const

export class SimulatedTasks {
  readonly #options: SimulatorOptions
  // Columns: a million tasks take only a few arrays of numbers.
  readonly #createdAt: number[] = []
  readonly #completedAt: number[] = []
  readonly #status: number[] = []
  readonly #revision: number[] = []
  readonly #touched: number[] = []
  readonly #absent = new Map<number, Presence>()
  readonly #replaced = new Map<number, { list: string; detail: string }>()
  readonly #texts = new TextCache()
  readonly #listTexts = new TextCache()
  /** By slot: how often the detail was read before it showed the result. */
  readonly #early = new Map<number, number>()
  #touches = 0

  constructor(options: SimulatorOptions) {
    this.#options = options
  }

  get length(): number {
    return this.#createdAt.length
  }

  /** Epoch milliseconds. */
  createdAt(slot: number): number {
    return this.#createdAt[slot]!
  }

  /** When the task really came, epoch ms: `createdAt` without the error of the server's clock. */
  arrivedAt(slot: number): number {
    return this.createdAt(slot) - this.#stampError(slot)
  }

  /** Epoch ms; 0 while it is open. */
  completedAt(slot: number): number {
    return this.#completedAt[slot]!
  }

  isOpen(slot: number): boolean {
    return this.#completedAt[slot] === 0
  }

  /** Grows with every write to any task: the order of `updated`. */
  touched(slot: number): number {
    return this.#touched[slot]!
  }

  presence(slot: number): Presence {
    return this.#absent.get(slot) ?? 'listed'
  }

  setPresence(slot: number, presence: Presence): void {
    if (presence === 'listed') this.#absent.delete(slot)
    else this.#absent.set(slot, presence)
  }

  /** Makes the first tasks, oldest first; tasks with a future date are dated ahead of `now`. */
  fill(newest: number, now: number): void {
    const { seed, tasks, spanDays, tieGroup, openFraction } = this.#options
    for (let slot = 0; slot < tasks; slot++) {
      const first = slot - (slot % tieGroup)
      const age = 1 - (first + unitAt(seed, first, SALT.jitter)) / tasks
      const createdAt = this.dated(slot, newest - age * spanDays * DAY_MS, now)
      // Newer tasks are more likely to be open, as far as openFraction, the share of all tasks, allows.
      const chance = openFraction > 1 / 3 ? openFraction : openFraction * 3 * (slot / tasks) ** 2
      const duration = 100 + Math.floor(60_000 * unitAt(seed, slot, SALT.duration) ** 3)
      this.append(createdAt, unitAt(seed, slot, SALT.open) < chance ? null : createdAt + duration)
    }
  }

  /** `moment`, except for the shares of tasks that are dated late or in the future. */
  dated(slot: number, moment: number, now: number): number {
    const { seed, lateFraction, lateMs, futureFraction, futureMs } = this.#options
    const howFar = unitAt(seed, slot, SALT.howFar)
    if (unitAt(seed, slot, SALT.late) < lateFraction) return Math.floor(moment - 1 - howFar * lateMs)
    if (unitAt(seed, slot, SALT.future) < futureFraction) return Math.floor(now + 1 + howFar * futureMs)
    return Math.floor(moment)
  }

  /** Returns the slot of the new task, which is open where `completedAt` is null. */
  append(arrivedAt: number, completedAt: number | null): number {
    const slot = this.#createdAt.length
    const statuses = completedAt === null ? OPEN_STATUSES : FINAL_STATUSES
    this.#createdAt.push(arrivedAt + this.#stampError(slot))
    this.#completedAt.push(completedAt ?? 0)
    this.#status.push(Math.floor(unitAt(this.#options.seed, slot, SALT.status) * statuses.length))
    this.#revision.push(0)
    this.#touched.push(++this.#touches)
    return slot
  }

  /** `luck` in [0, 1) decides the status. */
  finish(slot: number, completedAt: number, luck: number): void {
    this.#completedAt[slot] = completedAt
    this.#status[slot] = Math.floor(luck * FINAL_STATUSES.length)
    this.#forget(slot)
  }

  /** Gives the task other content; for an open task `luck` in [0, 1) decides the status. */
  revise(slot: number, luck: number): void {
    this.#revision[slot]!++
    if (this.isOpen(slot)) this.#status[slot] = Math.floor(luck * OPEN_STATUSES.length)
    this.#forget(slot)
  }

  touch(slot: number): void {
    this.#touched[slot] = ++this.#touches
  }

  replace(slot: number, list: string, detail: string): void {
    this.#replaced.set(slot, { list, detail })
  }

  text(slot: number): string {
    return this.#replaced.get(slot)?.detail ?? this.#texts.get(slot, () => this.#make(slot))
  }

  /** The text the detail shows: without the result where that is still to come. */
  detailText(slot: number): string {
    if (!this.#isEarly(slot)) return this.text(slot)
    this.#early.set(slot, (this.#early.get(slot) ?? 0) + 1)
    if (!this.#isEarly(slot)) this.#forget(slot)
    return this.#make(slot, 'noResult')
  }

  /** The text the list shows, with less than the detail where options say so. */
  listText(slot: number): string {
    const { listCarries } = this.#options
    const replaced = this.#replaced.get(slot)?.list
    if (replaced !== undefined) return replaced
    const isEarly = this.#isEarly(slot)
    const isWhole = isListWhole(this.#options)
    if (listCarries === 'whole' && isWhole && !isEarly) return this.text(slot)
    const carries = !isEarly ? listCarries : listCarries === 'whole' ? 'noResult' : 'bare'
    return this.#listTexts.get(slot, () => {
      const text = this.#make(slot, carries)
      return isWhole ? text : listedTextOf(text, this.#options)
    })
  }

  #isEarly(slot: number): boolean {
    const { resultAfterReads } = this.#options
    return resultAfterReads > 0 && !this.isOpen(slot) && (this.#early.get(slot) ?? 0) < resultAfterReads
  }

  #make(slot: number, carries = SIMULATOR_DEFAULTS.listCarries): string {
    const isOpen = this.isOpen(slot)
    const state = {
      slot,
      createdAt: this.#createdAt[slot]!,
      completedAt: isOpen ? null : this.#completedAt[slot]!,
      systemStatus: (isOpen ? OPEN_STATUSES : FINAL_STATUSES)[this.#status[slot]!]!,
      revision: this.#revision[slot]!,
    }
    return simulatedText(this.#options, state, carries)
  }

  #stampError(slot: number): number {
    const { seed, stampJitterMs } = this.#options
    return stampJitterMs === 0 ? 0 : Math.round((2 * unitAt(seed, slot, SALT.stamp) - 1) * stampJitterMs)
  }

  #forget(slot: number): void {
    this.#texts.forget(slot)
    this.#listTexts.forget(slot)
  }
}
