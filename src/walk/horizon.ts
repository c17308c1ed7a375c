// The horizon: an index at which there was nothing at some moment of the walk. What a list that goes on growing at its end
// is read up to.
import type { Moment } from '../task.ts'
import type { ChainState } from './chain.ts'
import { areTiesOrdered } from './order.ts'
import type { ItemsWindow, WindowAnswer } from './source.ts'

/**
 * The rule. An answer shows nothing at index h: at that moment everything listed stands before h, and by h - 1 - i items
 * at most behind item z at index i. A later window shows z again and goes on from it without a gap to index h or further:
 * then it shows everything from that moment that still is there, because what was listed since stands behind it (oldest
 * first) or in front of z, and that is seen: z stands further down by as much, and so does h. What was deleted in front of
 * z brings h nearer by as much, but for the first look at z after the moment: that may have been deleted before it. An item
 * that does not stay before new ones (dated in the future) is met as well where any answer up to that moment showed it.
 * Equal createdAt may change places, so the run at the end of the chain has to lie behind h as a whole. One thing could
 * still hide: an item that new ones come before and that does not fit beside another. It shows only in an answer that begins
 * with it, so that is asked for, where it would stand by now (ending.ts).
 */
export class Horizon {
  /** Where it is now; null where none is known. */
  index: number | null = null
  private readonly unmet: ReadonlyMap<string, Moment>
  /** Seen behind the chain up to that moment, and not met yet. */
  private pending: string[] = []
  /** Whether it was looked directly behind the chain once the horizon had been passed. */
  isLookedBehind = false
  /** Whether the chain's last item has been seen again since. */
  private sighted = false
  /** By how much the list becomes longer with every request, by the last two answers that showed its end. */
  growth = 0
  private end: { index: number; requests: number } | null = null
  private anchor: { id: string; place: number } | null = null

  /** `unmet`: items of answers that were not taken in. */
  constructor(unmet: ReadonlyMap<string, Moment>) {
    this.unmet = unmet
  }

  /**
   * An answer that was asked for after everything that has joined, as number `requests` of the walk; `isFull`: as long as
   * any. The lowest empty index is the best.
   */
  heard(answer: WindowAnswer, requests: number, isFull: boolean): void {
    if (answer.kind === 'items' && answer.ids.length > 0 && !isFull) {
      const index = answer.skip + answer.ids.length
      if (this.end !== null) this.growth = (index - this.end.index) / (requests - this.end.requests)
      this.end = { index, requests }
    }
    const isEmpty = answer.kind === 'items' ? answer.ids.length === 0 : answer.kind === 'refused' && answer.asked === 1
    if (!isEmpty || this.anchor === null || (this.index !== null && answer.skip >= this.index)) return
    this.index = answer.skip
    this.pending = [...this.unmet.keys()]
    this.sighted = false
    this.isLookedBehind = false
  }

  /** `window` has joined, and has made `chain` what it is; the chain's last item before stands at `place`, if that is known. */
  joined(window: ItemsWindow, { last, end }: ChainState, place: number | null = this.placeIn(window)): void {
    if (place === null || this.anchor === null) this.index = null
    else if (this.index !== null) {
      const shift = place - this.anchor.place
      this.index += this.sighted ? shift : Math.max(0, shift)
      this.sighted = true
    }
    if (last !== null && window.ids.at(-1) === last.id) this.anchor = { id: last.id, place: end - 1 }
    else this.anchor = place === null || this.anchor === null ? null : { id: this.anchor.id, place }
  }

  private placeIn(window: ItemsWindow): number | null {
    const at = this.anchor === null ? -1 : window.ids.lastIndexOf(this.anchor.id)
    return at < 0 ? null : window.skip + at
  }

  /** Behind the chain when the horizon had been passed: to be met as well, then it fits beside others. */
  saw(answer: WindowAnswer): void {
    this.isLookedBehind = true
    if (answer.kind === 'items') this.pending.push(...answer.ids)
  }

  /** Whether everything that was listed at that moment has been met; where not all that was seen was, it is forgotten. */
  isPassed({ tie, end, order }: ChainState): boolean {
    if (this.index === null || tie === null || (areTiesOrdered(order) ? end - 1 : tie.start) < this.index) return false
    const isMet = !this.pending.some((id) => this.unmet.has(id))
    if (!isMet) this.index = null
    return isMet
  }
}
