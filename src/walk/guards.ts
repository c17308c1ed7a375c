// Guards against services that mislead a walk: by repeated items, empty lists, positions that cannot be read (design.md 6.1,
// "Guards").

import type { Moment } from '../task.ts'
import type { ChainState } from './chain.ts'
import { FAR } from './hidden.ts'
import type { FirstWindow } from './lap.ts'
import { glanceAt, idAt, lookAt, type Reader, readWindow, seeAgain, UNREADABLE_IN_A_ROW } from './reader.ts'
import { Search } from './search.ts'
import type { ItemsWindow, NoWindow, StepResult, WalkStep } from './source.ts'

/** More positions in a row that cannot be read are not passed. */
const MOST_UNREADABLE = 200
/** In a list that seems to be empty: the first further index at which an item is looked for. */
const NEAREST = 2

/**
 * The walk's first item shows up behind the chain: something moved, or the service ignores skip or wraps around. It does
 * where the item is at 0 at the same time.
 */
export async function firstItemTwice(
  reader: Reader,
  first: FirstWindow | null,
  earlier: ChainState,
  window: ItemsWindow,
): Promise<'skip-ignored' | 'wraps' | null> {
  const firstId = first?.ids[0]
  if (earlier.last === null || first === null || firstId === undefined || window.skip === 0) return null
  const at = window.ids.indexOf(firstId)
  if (at < 0) return null
  // A shorter answer than the first one: skip is honoured.
  if (at === 0 && window.ids.length < Math.min(first.ids.length, window.asked)) return null
  // The list begins again there: what follows are the items it began with, equal createdAt in any order.
  const beginning = new Set(first.ids)
  if (window.ids.slice(at, at + first.ids.length).some((id) => !beginning.has(id))) return null
  // In turn, so that items inserted in front between two requests do not look the same.
  for (const place of [0, window.skip + at, 0]) {
    const answer = await reader.look(place, 1)
    if (answer.kind !== 'items' || answer.ids[0] === undefined) return null
    if (answer.ids[0] !== firstId) return at === 0 && (await isRounded(reader, window)) ? 'skip-ignored' : null
  }
  return at === 0 ? 'skip-ignored' : 'wraps'
}

/** By turns the window begins as it did, and another item, always the same, stands there alone: skip counts whole pages. */
async function isRounded(reader: Reader, { skip, asked, ids }: ItemsWindow): Promise<boolean> {
  const alone = new Set<string>()
  for (let time = 0; time < 2; time += 1) {
    const one = await reader.look(skip, 1)
    const again = await reader.look(skip, asked)
    if (one.kind !== 'items' || again.kind !== 'items' || again.ids[0] !== ids[0]) return false
    alone.add(one.ids[0] ?? '')
  }
  return alone.size === 1 && !alone.has(ids[0] as string)
}

/** An empty list is nothing at 0, which was asked for, and nothing beyond; it never means that everything was deleted. */
export async function isListEmpty(reader: Reader): Promise<boolean> {
  // How far one answer reaches is not known yet.
  const places: number[] = []
  for (let place = NEAREST; place < 10 * reader.window; place *= 4) places.push(place)
  for (const place of [...places, 10 * reader.window]) {
    const answer = await glanceAt(reader, place)
    if (answer.kind === 'failed' || (answer.kind === 'items' && answer.ids.length > 0)) return false
  }
  return true
}

/** The next window by its place alone: `lastId` stands directly before it, at `index`, also after it was read. */
export async function joinByPlace(
  reader: Reader,
  lastId: string,
  index: number,
  runStart: number,
): Promise<ItemsWindow | null> {
  const window = await reader.read(index + 1, reader.take, { fresh: true })
  const holds = idAt(await seeAgain(reader, index, runStart), index) === lastId
  // Where ties are served in another order, or the list has moved, the kernel does not hold it: the window is read anew.
  if (holds && window.kind === 'items' && window.met[0] === 0 && reader.kernel.joins(window.handle)) return window
  reader.drop(window)
  return null
}

/** `window`, or a larger one from the same place, so that a run of equal createdAt that it begins with ends in it. */
async function wholeRun(reader: Reader, window: ItemsWindow): Promise<ItemsWindow> {
  const { skip, asked, ids, moments } = window
  if (ids.length < asked || asked >= reader.window || moments.some((moment) => moment !== moments[0])) return window
  reader.take = Math.min(reader.window, 2 * asked)
  const larger = await readWindow(reader, skip, { fresh: true, whole: true })
  if (larger.kind !== 'items') return window
  reader.drop(window)
  return larger.ids.length > ids.length ? wholeRun(reader, larger) : larger
}

/**
 * Whether the service goes beyond what it does not give up to `place`. An empty answer says so where that failed; where it was refused, it
 * may be how the service says that the list is over.
 */
async function goesOnBehind(reader: Reader, place: number, kind: NoWindow['kind']): Promise<boolean> {
  for (let distance = 0; distance <= FAR * reader.window; distance = 2 * distance + 1) {
    const answer = await reader.look(place + distance, 1, { once: true, maxRetries: 1 })
    if (answer.kind === 'items' && (kind === 'failed' || answer.ids.length > 0)) return true
  }
  return false
}

type Passed =
  | { kind: 'window'; window: ItemsWindow }
  | { kind: 'end'; total: number }
  | { kind: 'moved' }
  /** The service refuses to go further, whatever lies there. */
  | { kind: 'limit' }
  | { kind: 'too-many' }

/**
 * Sets the position aside and goes on behind it. There is no overlap across it: the chain's last item, still directly
 * before it after the next window was read, is the anchor.
 */
export async function* passUnreadable(
  reader: Reader,
  chain: ChainState,
  position: number,
  answer: NoWindow,
): AsyncGenerator<WalkStep, Passed, StepResult> {
  if (position !== chain.end) return { kind: 'moved' }
  const anchor = chain.last?.id ?? null
  let next = position + 1
  let found: ItemsWindow | null = null
  for (;;) {
    const { take } = reader
    // A run of equal createdAt that ends with it is not to be cut.
    const reading = await readWindow(reader, next, {
      fresh: true,
      whole: true,
      ...(next > position + 1 && { maxRetries: 1 }),
    })
    if (reading.kind === 'items') {
      found = await wholeRun(reader, reading)
      break
    }
    if (reading.kind === 'nothing' && reading.refusal === null) {
      // So few may be hidden there: asked for as many as answers hold.
      if (take < reader.largest) await lookAt(reader, next)
      break
    }
    if (reading.kind === 'nothing' && !(await goesOnBehind(reader, next + 1, 'refused'))) break
    if (reading.kind === 'unreadable' && reading.skip !== next) return { kind: 'moved' }
    next += 1
    const passed = next - position
    if (passed === UNREADABLE_IN_A_ROW + 1 && !(await goesOnBehind(reader, next, answer.kind)))
      return { kind: answer.kind === 'refused' ? 'limit' : 'too-many' }
    if (passed > MOST_UNREADABLE) return { kind: 'too-many' }
  }
  // Where one of them was removed meanwhile, another item has come to its place. The one that the list begins with comes last.
  for (let index = next - 1; index >= position; index -= 1) {
    const again = await reader.look(index, 1, { maxRetries: 1 })
    if (again.kind !== 'items' || again.ids.length === 0) continue
    if (found !== null) reader.drop(found)
    return { kind: 'moved' }
  }
  const before = anchor === null ? null : await seeAgain(reader, position - 1, chain.tie?.start ?? position - 1)
  if (before !== null && idAt(before, position - 1) !== anchor) {
    if (found !== null) reader.drop(found)
    return { kind: 'moved' }
  }
  // A refusal with nothing behind it is no item but an end, or a limit of the service: that is judged elsewhere.
  if (found === null && answer.kind === 'refused') return { kind: 'moved' }
  if (found === null) {
    // A limit of the service refuses a window that reaches beyond it; an item that fails does not.
    const whole = await reader.look(Math.max(0, position - 1), Math.max(2, reader.served), { maxRetries: 1 })
    if (whole.kind === 'refused') return { kind: 'limit' }
    if (whole.kind === 'items') return { kind: 'moved' }
  }
  reader.unreadable = next - 1
  const { message } = answer
  for (let index = position; index < next; index += 1) {
    yield { kind: 'unreadable', skip: index, identity: `${index - position} behind ${anchor ?? 'nothing'}`, message }
  }
  return found === null ? { kind: 'end', total: next } : { kind: 'window', window: found }
}

/** The sequence of so many items of the chain's end says something; that of fewer is chance. */
const LEAST_AGAIN = 5
/** Items met before and items not met take turns so often in one answer only where no order holds. */
const TURNS = 4

/**
 * Whether an answer shows that no order holds at all, as against a few items that moved, came or went: what the chain
 * ended with stands in it in another sequence throughout, or none of that is there, while items met before are strewn
 * among others that were not.
 */
export function isScrambled({ tail, last }: ChainState, { skip, ids, moments, met }: ItemsWindow): boolean {
  if (last === null || skip === 0) return false
  const places = new Map(tail.map((id, index) => [id, index]))
  const again = ids.flatMap((id, index) => {
    const place = places.get(id)
    return place === undefined ? [] : [{ place, moment: moments[index] as Moment }]
  })
  if (again.length > 0) {
    const back = again.filter(({ place, moment }, index) => {
      const before = again[index - 1]
      return before !== undefined && place < before.place && moment !== before.moment
    })
    return again.length >= LEAST_AGAIN && 3 * back.length >= again.length - 1
  }
  let turns = 0
  for (let index = 1; index < met.length; index += 1) {
    // Equal createdAt may change places.
    if (met[index] !== met[index - 1] && moments[index] !== moments[index - 1]) turns += 1
  }
  return turns >= TURNS
}

/** Looks back from a window at which the end of the chain is looked for: 2^8 windows. */
const READS_BACK = 8

/**
 * Whether items have changed places: `window` goes on from an item met earlier and shows nothing of what the chain ended
 * with. That may have been deleted; but where the chain's last item stands in front of that anchor now, with another
 * createdAt, it was the anchor that moved, and what lay between was passed over.
 */
export async function hasMoved(reader: Reader, { last, tail }: ChainState, window: ItemsWindow): Promise<boolean> {
  const anchor = window.met.lastIndexOf(1, window.met.indexOf(0))
  if (last === null || window.skip === 0 || anchor < 0 || window.moments[anchor] === last.moment) return false
  if (window.ids.some((id) => tail.includes(id))) return false
  const anchorId = window.ids[anchor] as string
  const search = new Search(window.skip, { stride: Math.max(1, window.ids.length) })
  for (let reads = 0; reads < READS_BACK && search.tooFar(); reads += 1) {
    const before = await reader.look(search.place, Math.max(1, reader.served))
    if (before.kind !== 'items') return false
    const at = before.ids.indexOf(last.id)
    if (at >= 0) return !before.ids.slice(0, at).includes(anchorId)
  }
  return false
}
