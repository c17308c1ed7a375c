// The last item of a list that moves, found again in one answer however far it has gone since. What that proves is
// judged by end.ts and ties.ts.
import type { Moment } from '../task.ts'
import { isNothing, probe, type Reader } from './reader.ts'
import type { ItemsWindow } from './source.ts'

export interface LastItem {
  id: string
  moment: Moment
}

/** How many answers the last item of a drifting list is followed through. */
const MOST_HOPS = 16

/**
 * An answer that holds the last item, looked for from about `reach` before `index` on, where it stood: meanwhile it may
 * have moved by many windows. To be taken in or dropped. Null where it is not found.
 */
export async function followLast(
  reader: Reader,
  lastId: string,
  index: number,
  reach: number,
): Promise<ItemsWindow | null> {
  const search = new Search(Math.max(0, index - reach), Math.max(1, Math.floor(reader.largest / 2)))
  for (let hops = 0; hops < MOST_HOPS; hops += 1) {
    const answer = await probe(reader, search.place)
    if (answer.kind === 'items' && answer.ids.includes(lastId)) return answer
    reader.drop(answer)
    if (isNothing(answer)) {
      if (!search.tooFar()) return null
      continue
    }
    if (answer.kind !== 'items') return null
    if (answer.met.includes(0)) return null
    search.tooNear(answer.ids.length)
  }
  return null
}

/** A search for something that moves: onward in steps that double, or back, and between the two once both were too much. */
class Search {
  place: number
  /** It lies at `near` or further down, and before `far`; null where that is not known. */
  private near: number | null = null
  private far: number | null = null
  private step = 1
  private readonly stride: number

  constructor(place: number, stride: number) {
    this.place = place
    this.stride = stride
  }

  /** It lies behind what stands from `place` on, `count` items. */
  tooNear(count: number): void {
    this.near = this.place + count
    // It has moved behind what was too far.
    if (this.far !== null && this.near >= this.far) this.far = null
    this.place = this.far === null ? this.near + (this.step - 1) * count : this.middle(this.near, this.far)
    this.step *= 2
  }

  /** It lies before `place`; false where there is nothing before it. */
  tooFar(): boolean {
    if (this.place === 0) return false
    this.far = this.place
    // It has moved before what was too near.
    if (this.near !== null && this.near >= this.far) this.near = null
    this.place = this.near === null ? Math.max(0, this.far - this.step * this.stride) : this.middle(this.near, this.far)
    this.step *= 2
    return true
  }

  private middle(near: number, far: number): number {
    return near + Math.floor((far - near) / 2)
  }
}
