// Yields a whole cut in order, packed by one thread or two. Knows who packs what and how far ahead; nothing of formats.
import type { KeyRange } from '../read/key-ranges.ts'
import type { Packed } from './format.ts'
import type { HeadStart } from './head-start.ts'
import type { PackKeyRange } from './pieces.ts'

/** Key ranges that the other thread is given at a time: one to work on, and the next one. */
const GIVEN = 2
/** Most key ranges packed or being packed ahead of the one that is waited for; this bounds memory. */
const AHEAD = 8

/**
 * Yields the pieces of all key ranges of `head` in order. Whichever thread is free takes the next range; `there` packs
 * on the other thread, if any, and `here` must let its messages in from time to time. Throws what packing throws.
 */
export async function* packInOrder(
  { first, keyRanges, pack: here }: Pick<HeadStart, 'first' | 'keyRanges' | 'pack'>,
  there: PackKeyRange | null,
): AsyncGenerator<Packed, void, void> {
  const outcomes = new Map([[0, first]])
  let taken = 1
  let wanted = 0
  let given = 0
  let isOver = false

  function next(): KeyRange | null {
    if (isOver || taken - wanted >= AHEAD) return null
    try {
      const { value, done } = keyRanges.next()
      if (done !== true) return value as KeyRange
    } catch (error) {
      // Thrown when its turn comes: the caller may be a message of the other thread, whose outcome nobody awaits.
      const failure = Promise.reject(error)
      failure.catch(() => {})
      outcomes.set(taken++, failure)
    }
    isOver = true
    return null
  }

  function give(): void {
    while (there !== null && given < GIVEN) {
      const keyRange = next()
      if (keyRange === null) return
      given++
      const outcome = there(keyRange)
      outcomes.set(taken++, outcome)
      const settled = () => {
        given--
        give()
      }
      // A failure is thrown when its turn comes; from then on nothing more is given.
      outcome.then(settled, () => {})
    }
  }

  try {
    give()
    // A failure of the first one is thrown when its turn comes.
    await first.catch(() => {})
    for (; ; wanted++) {
      while (!(await isSettled(outcomes.get(wanted)))) {
        const keyRange = next()
        if (keyRange === null) break
        const at = taken++
        const outcome = here(keyRange)
        outcomes.set(at, outcome)
        await outcome
      }
      const outcome = outcomes.get(wanted)
      if (outcome === undefined) return
      let { packed, rest } = await outcome
      outcomes.delete(wanted)
      if (packed !== null) yield packed
      // The rest of a range too large for one piece is packed here, where nothing else is being packed now.
      while (rest !== null) {
        ;({ packed, rest } = await here(rest))
        if (packed !== null) yield packed
      }
      give()
    }
  } finally {
    // What the other thread was given settles later still; by then nothing may be read any more.
    isOver = true
  }
}

async function isSettled(outcome: Promise<unknown> | undefined): Promise<boolean> {
  if (outcome === undefined) return false
  const pending = Symbol('pending')
  return (await Promise.race([outcome, Promise.resolve(pending)]).catch(() => null)) !== pending
}
