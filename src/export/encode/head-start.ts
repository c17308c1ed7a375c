// Packing that begins on this thread as soon as its cut is open, while the other thread still loads. Knows stretches and
// who packs them; nothing of formats or files.
import { setImmediate as breathe } from 'node:timers/promises'
import { factsOf } from '../formats.ts'
import { interrupted } from '../publish/sink.ts'
import { makeRedactor, type Redactor } from '../read/redact.ts'
import type { CutReader } from '../read/rows.ts'
import type { Stretch } from '../read/stretches.ts'
import type { PackedStretch } from './packed.ts'
import { type Packing, type PackStretch, stretchPacker } from './pieces.ts'

export interface HeadStart {
  /** What was replaced on this thread. */
  redactor: Redactor
  /** Packs a stretch; not before the first one is packed. */
  pack: PackStretch
  /** All stretches behind the first one. */
  stretches: Iterator<Stretch, void>
  /** The first one, which is being packed. */
  first: Promise<PackedStretch>
  /** Ends the packing, also in the middle of a stretch. To be waited for before the cut is closed. */
  stop(): Promise<void>
}

/** Begins with the first stretch of `cut`. Packing throws `interrupted` once `signal` is aborted. */
export function beginPacking(
  cut: CutReader,
  packing: Packing,
  redact: readonly string[],
  signal: AbortSignal | undefined,
): HeadStart {
  const redactor = makeRedactor(redact)
  const stretches = cut.stretches(factsOf(packing.format).pieceBytes)
  let isStopped = false

  /** Lets signals, timers and the other thread's messages in. */
  async function pause(): Promise<void> {
    await breathe()
    if (isStopped || signal?.aborted) throw interrupted()
  }

  const packer = stretchPacker(cut, redactor, packing, pause)
  const pack: PackStretch = async (stretch) => (await packer)(stretch)
  // Found at once, whoever asks for the next one meanwhile. Read by the index, which throws where the mirror is damaged:
  // thrown to whoever waits for the outcome.
  async function packFirst(): Promise<PackedStretch> {
    const { value } = stretches.next()
    return pack(value as Stretch)
  }
  const first = packFirst()
  let latest: Promise<unknown> = first
  first.catch(() => {})
  return {
    redactor,
    pack(stretch) {
      const packed = pack(stretch)
      latest = packed
      return packed
    },
    stretches,
    first,
    async stop() {
      isStopped = true
      await latest.catch(() => {})
    },
  }
}
