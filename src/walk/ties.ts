// Proving a run of equal createdAt that is longer than a window (design.md 6.1, "Ties"): its items may come in another
// order at every read, so it is counted. Its length by index, equal before and after, must equal the ids met in it.
import type { Moment } from '../task.ts'
import { followLast, type LastItem } from './last-item.ts'
import { MovingSearch } from './moving-search.ts'
import { isNothing, probe, type Reader } from './reader.ts'
import type { ItemsWindow, StepResult, WalkStep } from './source.ts'

/** How often an answer that shows a run whole is looked for. */
const TRIES_WHOLE = 3

/** A run that is being counted. Plain data. */
export interface CountedRun {
  moment: Moment
  start: number
  /** Ids of the run met for the first time in this walk. */
  met: number
  /** One of the run that the chain has met: without it, it is another run. */
  member: string
}

/** Adds what `window` brought of the run; the index behind it where the window shows that, else null. */
export function countRun(run: CountedRun, window: ItemsWindow): number | null {
  let index = window.moments.indexOf(run.moment)
  // The window lies behind the run altogether.
  if (index < 0) return window.skip
  for (; index < window.ids.length && window.moments[index] === run.moment; index += 1) {
    if (window.met[index] === 0) run.met += 1
  }
  return index < window.ids.length ? window.skip + index : null
}

const ROUNDS = 12
/** Where another run could not be proven, so that only the items count: fewer. */
const ROUNDS_IN_DOUBT = 3
/** Ids of one run kept in memory while it is counted again. */
const LARGEST_RUN = 300_000

/** Whether the run starts where it started: an item of another createdAt before it, then one of the run. */
async function startsAt(
  reader: Reader,
  run: { moment: Moment; start: number },
  seen: ReadonlySet<string>,
): Promise<boolean> {
  const skip = Math.max(0, run.start - 1)
  const at = run.start - skip
  const answer = await probe(reader, skip)
  reader.drop(answer)
  if (answer.kind !== 'items' || answer.ids.length === 0) return false
  // Another one of the run, never seen: whatever was counted, it was not the run.
  if (answer.ids.some((id, index) => answer.moments[index] === run.moment && !seen.has(id))) return false
  if (at > 0 && answer.moments[0] === run.moment) return false
  if (at < answer.ids.length) return answer.moments[at] === run.moment
  // Cut after the item before the run: ask for the two in turn.
  const there = await reader.read(run.start, 1, { fresh: true })
  reader.drop(there)
  const again = await reader.read(skip, 1, { fresh: true })
  reader.drop(again)
  const holds = again.kind === 'items' && again.ids[0] === answer.ids[0]
  return holds && there.kind === 'items' && there.ids.length > 0 && there.moments[0] === run.moment
}

/**
 * Whether one answer shows the whole run at the end of the list: an item before it, all of it, nothing behind it, and
 * everything has been met. `last` is the index of its last item.
 */
export async function isRunWhole(reader: Reader, last: number, { id, moment }: LastItem): Promise<boolean> {
  let place = last
  // Where it has moved far the answer that holds it may be a full one, which shows no end; from there it is near.
  for (let tries = 0; tries < TRIES_WHOLE; tries += 1) {
    const answer = await followLast(reader, id, place, Math.floor(Math.max(reader.largest, 2) / 2))
    if (answer === null) return false
    reader.drop(answer)
    if (answer.met.includes(0)) return false
    const first = answer.moments.indexOf(moment)
    const isWhole = first > 0 || (first === 0 && answer.skip === 0)
    if (isWhole && answer.moments.slice(first).every((at) => at === moment) && answer.ids.length < reader.largest)
      return true
    place = answer.skip + answer.ids.lastIndexOf(id)
  }
  return false
}

export interface ProofOptions {
  /** Where the list ends, for a service that does not show it. */
  limit?: number | null
  /** The walk cannot be complete any more: fewer rounds. */
  inDoubt?: boolean
  /** The run is the last of the list: a short answer shows that nothing stands behind it. */
  atEnd?: boolean
}

/**
 * Proves a run whose first item behind it was just read at `behind` (null: that is not known). Reads it again, round
 * after round, until one answer shows all of it, or as many different ids have been seen as it is long, its start and
 * length being the same before and after. An id met earlier may be gone by now: what the walk has met so far does not
 * count. Its windows are taken in without being met, because the list may have moved under them; the run is marked once
 * it is proven. Returns whether it is.
 */
export async function* proveRun(
  reader: Reader,
  run: CountedRun,
  behind: number | null,
  { limit = null, inDoubt = false, atEnd = false }: ProofOptions = {},
): AsyncGenerator<WalkStep, boolean, StepResult> {
  const seen = new Set<string>()
  let before: RunFound | null = behind === null ? null : { start: run.start, length: behind - run.start }
  let search = new MovingSearch(Math.max(0, run.start - 1), Math.max(1, reader.largest))
  for (let round = 0; round < (inDoubt ? ROUNDS_IN_DOUBT : ROUNDS); round += 1) {
    if (before === null || before.length + 2 <= reader.largest) {
      const whole = yield* readWhole(reader, run.moment, search.place, atEnd)
      if (whole?.has(run.member) === true) {
        yield* markProven(reader, whole)
        return true
      }
    }
    const found: RunFound | RunElsewhere = yield* readRun(reader, run.moment, search.place, limit, seen)
    if ('lies' in found) {
      if (found.lies === 'further') search.tooNear(found.read)
      else search.tooFar()
      before = null
      seen.clear()
      continue
    }
    search = new MovingSearch(Math.max(0, found.start - 1), Math.max(1, reader.largest))
    if (found.length > LARGEST_RUN) return false
    // It grew, shrank or moved: what was seen so far may be gone.
    const same: boolean = before !== null && before.start === found.start && before.length === found.length
    before = found
    if (!same) seen.clear()
    else if (seen.size === found.length && seen.has(run.member)) {
      const holds = await startsAt(reader, { moment: run.moment, start: found.start }, seen)
      if (!holds) continue
      yield* markProven(reader, seen)
      return true
    }
  }
  return false
}

function* markProven(reader: Reader, ids: ReadonlySet<string>): Generator<WalkStep, void, StepResult> {
  for (const id of ids) reader.unmet.delete(id)
  yield { kind: 'mark', ids: [...ids] }
}

/**
 * A run that one answer shows with an item before it and one behind it: that is all of it, at one moment, however much
 * the list moves between two requests. At the end of the list nothing stands behind it: a short answer shows that. Null
 * where no such answer came.
 */
async function* readWhole(
  reader: Reader,
  moment: Moment,
  from: number,
  atEnd: boolean,
): AsyncGenerator<WalkStep, Set<string> | null, StepResult> {
  const answer = await probe(reader, Math.max(0, from - Math.floor(reader.largest / 2)))
  if (answer.kind !== 'items') return null
  const { moments, ids } = answer
  const first = moments.indexOf(moment)
  const last = moments.lastIndexOf(moment)
  const isWhole =
    first >= (answer.skip === 0 ? 0 : 1) &&
    (last < ids.length - 1 || (atEnd && ids.length < reader.largest)) &&
    moments.slice(first, last).every((at) => at === moment)
  if (!isWhole) {
    reader.drop(answer)
    return null
  }
  yield { kind: 'keep', window: answer }
  return new Set(ids.slice(first, last + 1))
}

interface RunFound {
  start: number
  length: number
}

/** Its first item was not among what was read: it lies further on than those `read` items, or before them. */
interface RunElsewhere {
  lies: 'further' | 'before'
  read: number
}

const BEFORE: RunElsewhere = { lies: 'before', read: 0 }

/** Reads the run once from `from` on; adds its ids to `seen`. */
async function* readRun(
  reader: Reader,
  moment: Moment,
  from: number,
  limit: number | null,
  seen: Set<string>,
): AsyncGenerator<WalkStep, RunFound | RunElsewhere, StepResult> {
  let skip = from
  let start = -1
  // Behind the end of the list a service may give its last window again and again: nothing new then, window after window.
  for (let windows = 0; windows < 20 + (4 * seen.size) / Math.max(1, reader.largest); windows += 1) {
    const answer = await probe(reader, skip)
    if (answer.kind !== 'items' || answer.ids.length === 0) {
      reader.drop(answer)
      return start >= 0 && isNothing(answer) ? { start, length: skip - start } : BEFORE
    }
    const first = answer.moments.indexOf(moment)
    // Cut before the run: it may begin with the next answer, which lies directly behind this one.
    if (start < 0 && first < 0 && windows < 2) {
      reader.drop(answer)
      skip += answer.ids.length
      continue
    }
    // Once begun, the run goes on from the very first item or is over.
    let behind = 0
    if (start < 0) {
      if (first < 0 || (first === 0 && windows === 0 && skip > 0)) {
        reader.drop(answer)
        // What was met and is not of the run stands before it, for the walk has come no further.
        const isFurther = first < 0 && !answer.met.includes(0)
        return isFurther ? { lies: 'further', read: skip + answer.ids.length - from } : BEFORE
      }
      start = skip + first
      behind = first
    }
    for (; behind < answer.ids.length && answer.moments[behind] === moment; behind += 1)
      seen.add(answer.ids[behind] as string)
    yield { kind: 'keep', window: answer }
    if (behind < answer.ids.length) return { start, length: skip + behind - start }
    if (seen.size > LARGEST_RUN) return { start, length: LARGEST_RUN + 1 }
    skip += answer.ids.length
    if (limit !== null && skip >= limit) return { start, length: limit - start }
  }
  return BEFORE
}
