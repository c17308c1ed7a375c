// Packs on this thread, from the moment its cut is open, while the second thread still loads.
import { setImmediate as breathe } from 'node:timers/promises'
import { formatEntry } from '../formats.ts'
import { interrupted } from '../publish/sink.ts'
import type { KeyRange } from '../read/key-ranges.ts'
import type { FileLimits } from '../read/partition.ts'
import { Redactor } from '../read/redact.ts'
import type { CutReader } from '../read/rows.ts'
import type { PackedKeyRange } from './format.ts'
import { keyRangePacker, type Packing, type PackKeyRange } from './pieces.ts'

interface HeadStartOptions {
  packing: Packing
  limits: FileLimits
  /** Names of headers whose values are replaced. */
  redact: readonly string[]
  signal: AbortSignal | undefined
}

/** Begins with the first key range of `cut`. Packing throws `interrupted` once `signal` is aborted. */
export function beginPacking(cut: CutReader, { packing, limits, redact, signal }: HeadStartOptions) {
  const redactor = new Redactor(redact)
  const keyRanges: Iterator<KeyRange, void> = cut.keyRanges(formatEntry(packing.format).pieceBytes, limits)
  let isStopped = false

  /** Lets signals, timers and the other thread's messages in. */
  async function pause(): Promise<void> {
    await breathe()
    if (isStopped || signal?.aborted) throw interrupted()
  }

  const packer = keyRangePacker(cut, redactor, packing, pause)
  const pack: PackKeyRange = async (keyRange) => (await packer)(keyRange)
  // Takes the first key range before anybody asks. An error of the index is thrown to whoever awaits the outcome.
  async function packFirst(): Promise<PackedKeyRange> {
    const { value, done } = keyRanges.next()
    return done === true ? { packed: null, rest: null } : pack(value as KeyRange)
  }
  const first = packFirst()
  let latest: Promise<unknown> = first
  first.catch(() => {})
  return {
    /** What was replaced on this thread. */
    redactor,
    /** Packs a key range; not before the first one is packed. */
    pack(keyRange: KeyRange): Promise<PackedKeyRange> {
      const packed = pack(keyRange)
      latest = packed
      return packed
    },
    /** All key ranges behind the first one. */
    keyRanges,
    /** The outcome of the first key range, which is packed at once; it holds no row where there is none. */
    first,
    /** Ends the packing, even in the middle of a key range. Await this before the cut is closed. */
    async stop(): Promise<void> {
      isStopped = true
      await latest.catch(() => {})
    },
  }
}

export type HeadStart = ReturnType<typeof beginPacking>
