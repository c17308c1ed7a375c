// Brings a whole cut, packed by one thread or by two, in order. Knows who packs what and how far ahead; nothing of formats.
import type { KeyRange } from '../read/key-ranges.ts'
import type { Packed } from './format.ts'
import type { HeadStart } from './head-start.ts'
import type { PackKeyRange } from './pieces.ts'

/** Given to the other thread at once: one that it works on and one that it finds next. */
const GIVEN = 2
/** Key ranges packed or being packed ahead of the one that is waited for: what bounds memory. */
const AHEAD = 8

/**
 * The pieces of all key ranges of `head` in their order. Whoever is free takes the next one; `there` is the other thread, if
 * there is one, and this one must let messages in from time to time. Throws what packing throws.
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
      // Thrown where its turn comes: who asks may be a message of the other thread, that nobody waits for.
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
      // A failure is thrown where its turn comes; nothing more is given then.
      outcome.then(settled, () => {})
    }
  }

  try {
    give()
    // A failure of it is thrown where its turn comes.
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
      // What was too large for one piece: nothing else is being packed here.
      while (rest !== null) {
        ;({ packed, rest } = await here(rest))
        if (packed !== null) yield packed
      }
      give()
    }
  } finally {
    // What was given comes back later still, when nothing may be read any more.
    isOver = true
  }
}

async function isSettled(outcome: Promise<unknown> | undefined): Promise<boolean> {
  if (outcome === undefined) return false
  const pending = Symbol('pending')
  return (await Promise.race([outcome, Promise.resolve(pending)]).catch(() => null)) !== pending
}
