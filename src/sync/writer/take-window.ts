// One window taken in: what becomes of each of its items, and what is marked and counted with that.
import { rowOf } from '../../mirror/row-bytes.ts'
import { Met } from '../../mirror/tables/evidence.ts'
import type { Marks } from '../../mirror/tables/marks.ts'
import type { KnownTask } from '../../mirror/tables/tasks.ts'
import type { WalkProgress } from '../../mirror/tables/walks.ts'
import type { UnfitItem } from '../../service/decode/wire.ts'
import { anotherTask, isAnother } from './intake.ts'
import { type HashedWindow, listedHash, listedTask } from './prepare.ts'
import { type ListedTask, takeListed } from './take-listed.ts'
import type { Writing } from './writing.ts'

export interface HeldWindow {
  window: HashedWindow
  unfit: Map<number, UnfitItem>
  known: (KnownTask | undefined)[]
  /** How many pieces of work there had been when `known` was looked up. */
  viewedAt: number
}

export interface TakeIn {
  handle: number
  /** Null: genuine items outside the chain, taken in without being met. */
  walkId: number | null
  skip: number
  /** When the window was asked for, epoch ms. */
  readAt: number
  now: number
  progress?: WalkProgress
}

export class WindowTaking {
  /** Items of the window that the walk had not met before. */
  newlyMet = 0
  /** Whether an item with an id came before in the window: it identifies items without one (prepare.ts). */
  #isNamed = false
  /** Ids of the tasks in it. */
  readonly ids = new Set<string>()
  readonly #writing: Writing
  readonly #step: TakeIn
  readonly #holding: HeldWindow
  readonly #marks: Marks | null
  /** Rows that were marked for the first time. */
  readonly #met = new Met()

  constructor(writing: Writing, holding: HeldWindow, step: TakeIn) {
    this.#writing = writing
    this.#holding = holding
    this.#step = step
    this.#marks = step.walkId === null ? null : writing.marks(step.walkId)
  }

  /** Call in a transaction. `hasChanged`: whether an id's row may have changed since the window was looked up. */
  take(hasChanged: (id: string) => boolean): void {
    const { walkId, skip, progress } = this.#step
    const { window, unfit } = this.#holding
    window.ids.forEach((id, index) => {
      const item = unfit.get(index)
      if (item === undefined) this.#takeItem(id, index, hasChanged)
      else this.#takeUnfit(item, id, index)
      if (item === undefined || item.taskId !== null) this.#isNamed = true
    })
    this.#writing.lastTaken = { walkId, skip, end: skip + window.ids.length }
    this.#marks?.save()
    if (walkId !== null && progress !== undefined) {
      this.#writing.walks.progress(walkId, progress, this.newlyMet, this.#step)
      this.#writing.evidence.add(walkId, progress.evidence, this.#met)
    }
    this.#writing.count('windows')
  }

  #takeItem(id: string, index: number, hasChanged: (id: string) => boolean): void {
    const { window, known: lookedUp } = this.#holding
    const place = this.#step.skip + index
    // If the window lists an id twice, the first one has changed its row meanwhile.
    const isStale = hasChanged(id) || this.ids.has(id)
    const known = isStale ? this.#writing.tables.tasks.find(id, listedHash(window, index)) : lookedUp[index]
    this.ids.add(id)
    const listed = listedTask(window, index)
    const { seq, isChanged, showsLess } = this.#takeTask(listed, known, place)
    const isHeldOtherwise = known?.isListedSo === true && known.isListedOtherwise
    this.#writing.sample?.offer(listed, place, { isChanged, showsLess, isHeldOtherwise })
    if (this.#marks?.add(seq) === true) {
      this.newlyMet += 1
      this.#met.add(id)
    }
  }

  /** An item that is set aside counts as met: at its place, and as the row that the mirror may hold of it. */
  #takeUnfit(item: UnfitItem, identity: string, index: number): void {
    const { tables, unfitMet } = this.#writing
    const { skip, now } = this.#step
    const { taskId, reason, message, raw } = item
    if (this.#marks !== null) {
      const row = taskId === null ? undefined : tables.tasks.find(taskId)
      if (row !== undefined && taskId !== null && this.#marks.add(row.seq)) this.#met.add(taskId)
      if (!unfitMet.has(identity)) this.newlyMet += 1
      unfitMet.add(identity)
    }
    // What identifies it is not in this answer, but in the one before, if that shares this item.
    if (taskId === null && !this.#isNamed && this.#isSharedAt(skip + index)) return
    const known = taskId === null ? { identity } : {}
    const added = { source: 'list' as const, skip: skip + index, taskId, reason, message, raw, ...known }
    this.#writing.setAside(added, now)
  }

  /** Whether the window before shows this place, too; not where a place that cannot be read lies in between. */
  #isSharedAt(place: number): boolean {
    const before = this.#writing.lastTaken
    if (before === null || before.walkId !== this.#step.walkId) return this.#step.skip > 0
    return before.skip <= place && place < before.end
  }

  #takeTask(
    listed: ListedTask,
    known: KnownTask | undefined,
    place: number,
  ): { seq: number; isChanged: boolean; showsLess: boolean } {
    const { tables, rules, detailReadAt } = this.#writing
    const { readAt, now } = this.#step
    if (known?.isListedSo === false) {
      const shown = rowOf(listed.bytes)
      if (isAnother(this.#writing, known, shown)) {
        this.#writing.setAside({ source: 'list', skip: place, ...anotherTask(shown) }, now)
        // An item that is set aside counts as met.
        this.#writing.meet(known.seq)
        return { seq: known.seq, isChanged: false, showsLess: false }
      }
    }
    // Asked for before a detail that this run has taken in, or before what changed the row in this run, where no look-up
    // will tell. Moments of other runs are by other clocks, which may have been ahead.
    const newer =
      known !== undefined &&
      ((detailReadAt.get(known.seq) ?? Number.NEGATIVE_INFINITY) > readAt ||
        (known.isOfThisRun && known.readAt > readAt && (known.deletedAt !== null || !rules.asksDetails)))
    // Its answer may have come later all the same: an end that the row does not hold is asked for once more.
    if (newer && listed.final && rules.asksDetails && tables.owed.find(listed.id, 'open') !== undefined)
      tables.owed.owe(listed.id, 'detail', now)
    const { seq, outcome, showsLess } = newer
      ? { seq: known.seq, outcome: 'unchanged' as const, showsLess: false }
      : takeListed(this.#writing, known, listed, this.#step)
    const first = this.#writing.meet(seq)
    if (first) this.#writing.count('seen')
    if (first || outcome !== 'unchanged') this.#writing.count(outcome)
    if (outcome !== 'unchanged') tables.setAside.settle(listed.id, now)
    return { seq, isChanged: outcome === 'inserted' || outcome === 'updated', showsLess }
  }
}
