// Packs a whole cut in order: on this thread, from the moment the cut is open, and on a second one that joins later.
// Knows who packs what and how far ahead; nothing of formats.
import { setImmediate as breathe } from 'node:timers/promises'
import { formatEntry } from '../formats.ts'
import { interrupted } from '../publish/sink.ts'
import type { KeyRange } from '../read/key-ranges.ts'
import type { FileLimits } from '../read/partition.ts'
import { Redactor } from '../read/redact.ts'
import type { CutReader } from '../read/rows.ts'
import type { Packed, PackedKeyRange } from './format.ts'
import { keyRangePacker, type Packing, type PackKeyRange } from './pieces.ts'
import type { SecondThread } from './second-thread.ts'

interface BeginOptions {
  packing: Packing
  limits: FileLimits
  /** Names of headers whose values are replaced. */
  redact: readonly string[]
  signal: AbortSignal | undefined
}

/** Begins with the first key range of `cut`. Packing throws `interrupted` once `signal` is aborted. */
export function beginPacking(cut: CutReader, { packing, limits, redact, signal }: BeginOptions) {
  const redactor = new Redactor(redact)
  let second: SecondThread | null = null
  let isStopped = false
  let latest: Promise<unknown> = Promise.resolve()

  /** Lets signals, timers and the other thread's messages in. */
  async function pause(): Promise<void> {
    await breathe()
    if (isStopped || signal?.aborted) throw interrupted()
  }

  const packer = keyRangePacker(cut, redactor, packing, pause)
  const inOrder = packInOrder(cut.keyRanges(formatEntry(packing.format).pieceBytes, limits), (keyRange) => {
    const packed = packer.then((pack) => pack(keyRange))
    latest = packed
    return packed
  })

  return {
    /** What was replaced; on the second thread as well once all pieces have been taken. */
    redactor,
    /** From now on `thread`, which holds the same cut, takes its share. */
    join(thread: SecondThread): void {
      second = thread
      inOrder.join(thread.pack)
    },
    /** All pieces in order; to be asked for once. Throws what packing throws. */
    async *pieces(): AsyncGenerator<Packed, void, void> {
      yield* inOrder.pieces
      if (second === null) return
      redactor.add(second.counts())
      // Not awaited: the thread takes a while to end, and the footer is written meanwhile.
      void second.close()
    },
    /** Ends the packing, even in the middle of a key range. Await this before the cut is closed. */
    async stop(): Promise<void> {
      isStopped = true
      await latest.catch(() => {})
      await second?.close()
    },
  }
}

export type CutPacker = ReturnType<typeof beginPacking>

/** Key ranges that the other thread is given at a time: one to work on, and the next one. */
const GIVEN = 2
/** Most key ranges packed or being packed ahead of the one that is waited for; this bounds memory. */
const AHEAD = 8

/**
 * The pieces of all key ranges in order; the first is packed at once. Whichever thread is free takes the next range:
 * this one packs by `here`, which must let messages in from time to time, and the other one, once it joins, by `there`.
 */
export function packInOrder(keyRanges: Iterator<KeyRange, void>, here: PackKeyRange) {
  const outcomes = new Map<number, Promise<PackedKeyRange>>()
  let there: PackKeyRange | null = null
  let taken = 0
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
      begun(Promise.reject(error))
    }
    isOver = true
    return null
  }

  /** A failure is thrown when its turn comes. */
  function begun(outcome: Promise<PackedKeyRange>): Promise<PackedKeyRange> {
    outcome.catch(() => {})
    outcomes.set(taken++, outcome)
    return outcome
  }

  function packHere(): Promise<unknown> | null {
    const keyRange = next()
    return keyRange === null ? null : begun(here(keyRange))
  }

  function give(): void {
    while (there !== null && given < GIVEN) {
      const keyRange = next()
      if (keyRange === null) return
      given++
      const settled = () => {
        given--
        give()
      }
      // After a failure nothing more is given.
      begun(there(keyRange)).then(settled, () => {})
    }
  }

  const first = packHere()

  async function* pieces(): AsyncGenerator<Packed, void, void> {
    try {
      await first?.catch(() => {})
      for (; ; wanted++) {
        while (!(await isSettled(outcomes.get(wanted)))) {
          const packed = packHere()
          if (packed === null) break
          await packed
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

  return {
    pieces: pieces(),
    join(pack: PackKeyRange): void {
      there = pack
      give()
    },
  }
}

async function isSettled(outcome: Promise<unknown> | undefined): Promise<boolean> {
  if (outcome === undefined) return false
  const pending = Symbol('pending')
  return (await Promise.race([outcome, Promise.resolve(pending)]).catch(() => null)) !== pending
}
