// The end of the list and how it is proven (design.md 6.1, "The end"). An empty answer alone is a missing anchor, a short
// answer may be a cap: only the last item seen again, with nothing behind it, is an end.
import { isNothing, type Reader } from './reader.ts'
import type { ItemsWindow, WindowAnswer } from './source.ts'

export type EndJudgement =
  /** Nothing behind item `index`, which is the chain's last item. */
  | { kind: 'proven'; index: number }
  /** There are items behind that have not been met. */
  | { kind: 'more' }
  /** The list moved while it was looked at: look again. */
  | { kind: 'moved' }
  /** Pages are filtered after paging: `window` lies behind a stretch without visible items, joined by its place. */
  | { kind: 'gap'; window: ItemsWindow }
  /** The service does not honour skip. */
  | { kind: 'unprovable'; reason: 'skip-ignored' | 'wraps' | 'page-of-one' }

export interface EndQuestion {
  /** Id of the last item of the window that looks like the last one; it has been met. */
  lastId: string
  /** Its index as last read. */
  index: number
  /** Ask beyond the end too: full walks. `wide` looks at every window up to ten behind it. */
  beyond: boolean
  wide: boolean
}

/** How many windows behind the end are looked at. */
const FAR = 10

export async function judgeEnd(reader: Reader, question: EndQuestion): Promise<EndJudgement> {
  const place = await locateLast(reader, question)
  if (typeof place !== 'number') return place
  const again = await reader.read(place, reader.window, { fresh: true })
  const seen = again.kind === 'items' ? again.ids : []
  reader.drop(again)
  if (seen[0] !== question.lastId) return { kind: 'moved' }
  if (seen.length > 1) return { kind: 'more' }
  if (!question.beyond) return { kind: 'proven', index: place }
  return lookBeyond(reader, question, place)
}

/** The index whose answer is the last that holds anything, by galloping and bisecting; usually one request. */
async function locateLast(reader: Reader, question: EndQuestion): Promise<number | EndJudgement> {
  let inside = question.index
  let outside = -1
  for (let step = 1; outside < 0; step *= 2) {
    const probe = question.index + step
    const answer = await reader.read(probe, reader.window, { fresh: true })
    const judged = readProbe(reader, question, answer)
    if (judged === 'nothing') {
      outside = probe
      continue
    }
    if (judged !== 'met' && judged !== 'elsewhere') return judged
    const fixed = await repeatsOrWraps(reader, question, probe)
    if (fixed !== null) return fixed
    if (judged === 'elsewhere') return { kind: 'moved' }
    inside = probe
  }
  while (outside - inside > 1) {
    const middle = Math.floor((inside + outside) / 2)
    const judged = readProbe(reader, question, await reader.read(middle, reader.window, { fresh: true }))
    if (judged === 'nothing') outside = middle
    else if (judged === 'met') inside = middle
    else return judged === 'elsewhere' ? { kind: 'moved' } : judged
  }
  return inside
}

/** `elsewhere`: everything in it has been met, but the last item is not among it. */
function readProbe(
  reader: Reader,
  question: EndQuestion,
  answer: WindowAnswer,
): 'nothing' | 'met' | 'elsewhere' | EndJudgement {
  reader.drop(answer)
  if (isNothing(answer)) return 'nothing'
  if (answer.kind !== 'items') return { kind: 'more' }
  const past = answer.ids.lastIndexOf(question.lastId)
  for (let index = 0; index < answer.ids.length; index += 1) {
    // Unmet items in front of the last one were inserted meanwhile; behind it, or without it, there is more to read.
    if (answer.met[index] === 0 && (past < 0 || index > past)) return { kind: 'more' }
  }
  return past < 0 ? 'elsewhere' : 'met'
}

/**
 * Items where there should be none. Either the list moved back (something was inserted in front), or the service gives
 * its last window again (single answers far behind show the last item), or it ignores skip or wraps around (the first
 * item is there and at 0 as well).
 */
async function repeatsOrWraps(reader: Reader, question: EndQuestion, probe: number): Promise<EndJudgement | null> {
  const far = probe + FAR * reader.window
  const behind = await reader.read(far, 1, { fresh: true })
  reader.drop(behind)
  if (behind.kind !== 'items' || behind.ids.length === 0) return null
  const near = await reader.read(probe, 1, { fresh: true })
  reader.drop(near)
  if (onlyLast(behind, question.lastId) && onlyLast(near, question.lastId)) {
    if (reader.largest < 2) return { kind: 'unprovable', reason: 'page-of-one' }
    return settleRepeat(reader, question)
  }
  if (behind.ids.some((_, index) => behind.met[index] === 0)) return { kind: 'more' }
  const start = await reader.read(0, 1, { fresh: true })
  reader.drop(start)
  const sameAsStart =
    start.kind === 'items' && near.kind === 'items' && start.ids[0] !== undefined && start.ids[0] === near.ids[0]
  return { kind: 'unprovable', reason: sameAsStart ? 'skip-ignored' : 'wraps' }
}

function onlyLast(answer: WindowAnswer, lastId: string): boolean {
  return answer.kind === 'items' && answer.ids.length === 1 && answer.ids[0] === lastId
}

/** A service that repeats its last window behind the end: the last item answers wherever one is asked for alone. */
async function settleRepeat(reader: Reader, question: EndQuestion): Promise<EndJudgement> {
  const window = await reader.read(question.index, reader.window, { fresh: true })
  reader.drop(window)
  if (window.kind !== 'items' || window.ids.at(-1) !== question.lastId) return { kind: 'moved' }
  if (window.met.includes(0)) return { kind: 'more' }
  // The window's own skip may have been beyond the end already: the last item's place is the first that shows it alone.
  let high = question.index
  let low = Math.max(-1, high - reader.largest)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const one = await reader.read(middle, 1, { fresh: true })
    reader.drop(one)
    if (onlyLast(one, question.lastId)) high = middle
    else low = middle
  }
  return { kind: 'proven', index: high }
}

/** One window and ten windows beyond; all of them where answers were short in the middle of the list. */
async function lookBeyond(reader: Reader, question: EndQuestion, index: number): Promise<EndJudgement> {
  const steps = question.wide ? Array.from({ length: FAR }, (_, step) => step + 1) : [1, FAR]
  for (const step of steps) {
    const answer = await reader.read(index + 1 + step * reader.window, reader.window, { fresh: true })
    const judged = readProbe(reader, question, answer)
    if (judged === 'nothing') continue
    if (judged === 'met' || judged === 'elsewhere') return { kind: 'moved' }
    return crossGap(reader, question, index)
  }
  return { kind: 'proven', index }
}

/** Reads on behind a stretch without visible items; the place of the last item, before and after, is the anchor. */
async function crossGap(reader: Reader, question: EndQuestion, index: number): Promise<EndJudgement> {
  for (let step = 0; step <= FAR; step += 1) {
    const window = await reader.read(index + 1 + step * reader.window, reader.window, { fresh: true })
    if (window.kind !== 'items') return { kind: 'moved' }
    if (window.ids.length === 0) {
      reader.drop(window)
      continue
    }
    const again = await reader.read(index, 1, { fresh: true })
    reader.drop(again)
    if (again.kind === 'items' && again.ids[0] === question.lastId) return { kind: 'gap', window }
    reader.drop(window)
    return { kind: 'moved' }
  }
  return { kind: 'moved' }
}
