// A walk in the middle of equal createdAt: windows whose every anchor is in the tie run of the chain's last item, and
// runs that have to be counted before anything behind them is trusted (design.md 6.1, "Ties").
import { type ChainState, seenAgain } from './chain.ts'
import type { Course, Steps } from './course.ts'
import { showsRunBehind } from './guards.ts'
import { capacityOf } from './pace.ts'
import type { ItemsWindow } from './source.ts'
import { type CountedRun, type ProofOptions, proveRun } from './ties.ts'

/** How often a window is read anew from before its tie run, before that is counted. */
const TIED_TRIES = 2

/**
 * The overlap shows only the tie run of the chain's last item: reach back to before it, and count the run where that is
 * too far. False where the window is dropped and read anew from further back.
 */
export async function acceptTied(course: Course, window: ItemsWindow): Promise<boolean> {
  const { reader } = course
  const chain = seenAgain(course.chain, window)
  if (course.pageOfOne || chain.tie === null) return true
  if (chain.floor > 0 && chain.tie.start === chain.floor) {
    // Directly behind an unreadable position there is no item before the run to count it from.
    if (!(await showsRunBehind(reader, chain, window))) course.doubts.push('ties')
    return true
  }
  if (chain.filtered) {
    // No counting by index among hidden items.
    course.doubts.push('ties')
    return true
  }
  const lastId = chain.last?.id ?? null
  course.tiedTries = course.tiedAt === lastId ? course.tiedTries + 1 : 0
  course.tiedAt = lastId
  const reach = chain.end - chain.tie.start + course.back
  const wanted = Math.max(chain.floor, chain.end - reach)
  if (course.tiedTries < TIED_TRIES && wanted < course.skip && reach < capacityOf(chain, reader)) {
    reader.drop(window)
    course.fruitless += 1
    course.retry(wanted)
    course.back *= 2
    return false
  }
  course.counting = runOf(chain)
  return true
}

/** Proves the run that is being counted (see `proveRun`); where it cannot be proven the walk is in doubt. */
export async function* proveCounted(
  course: Course,
  behind: number | null,
  options: Omit<ProofOptions, 'inDoubt'> = {},
): Steps<void> {
  const inDoubt = course.doubts.includes('ties')
  // Kept in the state until it is proven: the walk may be cut off meanwhile.
  const proven = yield* proveRun(course.reader, course.counting as CountedRun, behind, { ...options, inDoubt })
  if (!proven) course.doubts.push('ties')
  course.counting = null
}

/** A run that the chain has left before it was proven: the walk was cut off in between. */
export async function* proveRunLeft(course: Course): Steps<void> {
  if (course.counting !== null && course.chain.last?.moment !== course.counting.moment)
    yield* proveCounted(course, null)
}

/** The tie run at the end of the chain, to be counted. */
export function runOf({ tie, last }: ChainState): CountedRun | null {
  return tie === null || last === null ? null : { ...tie, member: last.id }
}
