// How the service pages, by observation: caps, what lies past the end, how many items there are. For `probe` and
// `verify`, which must not walk; a handful of windows each, and an honest "cannot tell" where those prove nothing.
import type { Moment } from '../../task.ts'
import type { Cut } from '../paging.ts'
import { firstBeyond } from '../search.ts'

/** What one window brought. */
export type Seen =
  | { kind: 'items'; ids: string[]; moments: Moment[]; bytes: number }
  | { kind: 'refused' | 'failed'; status: number | null; message: string }

export interface Pager {
  /** Throws `OutOfRequests` where no more may be sent. */
  read(skip: number, take: number): Promise<Seen>
}

/** The bound on requests was reached before the question was answered. */
export class OutOfRequests extends Error {}

/** No list is that long; small enough for a service that counts in 32 bits. */
export const FAR_SKIP = 1_000_000_000

/** The first window of the list and the largest size at which it was answered. */
export interface Start {
  ids: string[]
  moments: Moment[]
  take: number
  /** How a larger size was answered; null where the first size asked for was answered. */
  larger: { take: number; answer: Exclude<Seen, { kind: 'items' }> } | null
}

/** Reads the start of the list at the largest of 1000, 100, 10, 1 that is answered; the last answer where none is. */
export async function readStart(pager: Pager): Promise<Start | Exclude<Seen, { kind: 'items' }>> {
  let larger: Start['larger'] = null
  for (const take of [1000, 100, 10, 1]) {
    const answer = await pager.read(0, take)
    if (answer.kind === 'items') return { ids: answer.ids, moments: answer.moments, take, larger }
    larger = { take, answer }
  }
  return (larger as NonNullable<Start['larger']>).answer
}

/** The largest `take` that is answered, between one that is and a `larger` one that is refused. */
export async function findTakeLimit(pager: Pager, { take, larger }: Start): Promise<number> {
  const isRefused = async (size: number) => (await pager.read(0, size)).kind !== 'items'
  return (await firstBeyond(take + 1, larger?.take ?? take + 1, isRefused)) - 1
}

export interface Cap {
  /** `short`: answers are a fixed number of items short of what was asked for. */
  kind: Cut | 'short' | 'unknown'
  /** Items in the largest answer that held fewer than asked while more were there; for `short`, those missing. */
  items: number | null
  why: string
}

/** Whether answers hold less than was asked for while more is there. */
export async function findCap(pager: Pager, { ids: first, take }: Start): Promise<Cap> {
  const held = first.length
  if (held >= take) return { kind: 'none', items: null, why: `an answer held all ${take} items asked for` }
  const unknown = (why: string): Cap => ({ kind: 'unknown', items: null, why })
  if (held === 0) return unknown('the list is empty')
  const second = await pager.read(held, take)
  if (second.kind !== 'items') return unknown(`the window behind the first ${held} items is ${wordOf(second)}`)
  if (second.ids.length === 0) return unknown(`the list holds only ${held} items`)
  if (second.ids[0] === first[0]) return unknown(`the window behind the first ${held} items begins with the first item`)
  if (first.includes(second.ids[0] as string)) {
    // A list that moves would show the same: both windows have to stay as they are.
    const again = [await pager.read(0, take), await pager.read(held, take)]
    const isStill = sameIds(again[0] as Seen, first) && sameIds(again[1] as Seen, second.ids)
    if (!isStill) return unknown('the list moved while it was looked at')
    const why = `the item at index ${held} was in the answer for the first ${take}, which held only ${held}`
    return { kind: 'filtered', items: null, why }
  }
  return judgeCap(pager, { held, take, second: second.ids.length })
}

function sameIds(seen: Seen, ids: string[]): boolean {
  return seen.kind === 'items' && seen.ids.length === ids.length && seen.ids.every((id, index) => id === ids[index])
}

async function judgeCap(pager: Pager, seen: { held: number; take: number; second: number }): Promise<Cap> {
  const { held, take, second } = seen
  const half = Math.floor(held / 2)
  const part = half > 0 ? await pager.read(0, half) : null
  if (part?.kind === 'items' && part.ids.length < half) {
    const missing = half - part.ids.length
    return { kind: 'short', items: missing, why: `${part.ids.length} items when ${half} were asked for` }
  }
  const third = await pager.read(held + second, take)
  const more = third.kind === 'items' && third.ids.length > 0
  const counts = more ? [held, second, third.ids.length] : [held, second]
  const largest = Math.max(...counts)
  const why = `answers held ${counts.join(', ')} items when ${take} were asked for and more were there`
  if (held === second) return { kind: 'count', items: largest, why }
  if (more || second > held) return { kind: 'bytes', items: largest, why: `${why}: a number that varies` }
  return {
    kind: 'count',
    items: held,
    why: `an answer held ${held} items when ${take} were asked for and more were there`,
  }
}

export interface PastEnd {
  kind: 'empty' | 'refused' | 'repeats' | 'wraps' | 'skip-ignored' | 'unknown'
  why: string
  /** The one item that every place past the end shows, for `repeats`. */
  lastId: string | null
}

/** What a window far behind any end brings. */
export async function findPastEnd(pager: Pager, start: Start): Promise<PastEnd> {
  const far = await pager.read(FAR_SKIP, start.take)
  const end = (kind: PastEnd['kind'], why: string): PastEnd => ({ kind, why, lastId: null })
  if (far.kind === 'refused') return end('refused', `skip ${FAR_SKIP} is ${wordOf(far)}`)
  if (far.kind !== 'items') return end('unknown', `skip ${FAR_SKIP} ${wordOf(far)}`)
  if (far.ids.length === 0) return end('empty', `skip ${FAR_SKIP} brings an empty list`)
  const [here, next, second] = [
    await pager.read(FAR_SKIP, 1),
    await pager.read(FAR_SKIP + 1, 1),
    await pager.read(1, 1),
  ]
  const only = (seen: Seen) => (seen.kind === 'items' && seen.ids.length === 1 ? (seen.ids[0] as string) : null)
  if (only(here) === null || only(next) === null) return end('unknown', `skip ${FAR_SKIP} brings items now and then`)
  if (only(here) !== only(next)) return end('wraps', `skip ${FAR_SKIP} and ${FAR_SKIP + 1} bring different items`)
  if (only(here) === start.ids[0] && only(second) === start.ids[0]) {
    return end('skip-ignored', `skip 1 and skip ${FAR_SKIP} bring the first item`)
  }
  return { kind: 'repeats', why: `skip ${FAR_SKIP} and ${FAR_SKIP + 1} bring the same item`, lastId: only(here) }
}

function wordOf(seen: Exclude<Seen, { kind: 'items' }>): string {
  const status = seen.status === null ? '' : ` (HTTP ${seen.status})`
  return `${seen.kind === 'refused' ? 'refused' : 'fails'}${status}: ${seen.message}`
}
