// The export's second thread as the main one sees it. That both read the same cut is proven: else there is none.
import { extname } from 'node:path'
import { shareHandle } from '../../mirror/handles.ts'
import { callsOf, startWorker } from '../../threads/calls.ts'
import type { Format } from '../formats.ts'
import type { KeyRange } from '../read/key-ranges.ts'
import { type CutReader, type Filters, openCut, watchCommits } from '../read/rows.ts'
import type { PackedKeyRange } from './packed.ts'
import type { Packing } from './pieces.ts'
import { letScavengesSpread, letYoungGenerationsGrow } from './young-generations.ts'

/** The methods of the thread. */
export type SecondWork = {
  /** Fixes the thread's own cut; a cut of before is given up. */
  open(path: string, filters: Filters): void
  begin(packing: Packing, redact: readonly string[]): Promise<void>
  pack(keyRange: KeyRange): Promise<{ packed: PackedKeyRange; counts: Readonly<Record<string, number>> }>
}

export interface SecondThread {
  /** Fixes the thread's own cut; a cut of before is given up. */
  open(path: string, filters: Filters): Promise<void>
  begin(packing: Packing, redact: readonly string[]): Promise<void>
  /** Key ranges are packed one after the other. */
  pack(keyRange: KeyRange): Promise<PackedKeyRange>
  /** Values replaced so far, by name of the header. */
  counts(): Readonly<Record<string, number>>
  close(): Promise<void>
}

/** Starts the thread; it is of use once it has loaded what it needs. */
export function startSecondThread(dbPath: string, format: Format): SecondThread {
  shareHandle(dbPath)
  const worker = startWorker(new URL(`./second-worker${extname(import.meta.url)}`, import.meta.url), format)
  letScavengesSpread(false)
  const calls = callsOf(worker, 'second thread of the export')
  let counts: Readonly<Record<string, number>> = {}
  let asked = 0

  return {
    open: async (path, filters) => void (await calls.ask('open', [path, filters])),
    begin: async (packing, redact) => void (await calls.ask('begin', [packing, redact])),
    async pack(keyRange) {
      if (++asked === GROWN_AFTER) letYoungGenerationsGrow(false)
      const done = (await calls.ask('pack', [keyRange])) as Awaited<ReturnType<SecondWork['pack']>>
      counts = done.counts
      return done.packed
    },
    counts: () => counts,
    async close() {
      letYoungGenerationsGrow(true)
      letScavengesSpread(true)
      await worker.terminate()
    },
  }
}

/** By then both threads have the room that they need. */
const GROWN_AFTER = 6

/** So often it is tried to open both cuts with no commit in between. */
const TRIES = 20

/**
 * Opens the cut here and in the thread. `same` is false where commits kept coming in between: the cut is good, but the
 * thread has another one. `begin` is what to do with the first cut while the thread still loads; `head` is what it
 * gives, or null where that cut was given up.
 */
export async function openBoth<Head extends { stop(): Promise<void> }>(
  path: string,
  filters: Filters,
  second: SecondThread,
  begin: (cut: CutReader) => Head | null = () => null,
): Promise<{ cut: CutReader; same: boolean; head: Head | null }> {
  const commits = watchCommits(path)
  let cut: CutReader | null = null
  let head: Head | null = null
  try {
    for (let i = 0; i < TRIES; i++) {
      await head?.stop()
      cut?.close()
      cut = openCut(path, filters)
      head = i === 0 ? begin(cut) : null
      await second.open(path, filters)
      if (!commits.hasCommits()) return { cut, same: true, head }
    }
    return { cut: cut as CutReader, same: false, head }
  } catch (error) {
    await head?.stop()
    cut?.close()
    throw error
  } finally {
    commits.close()
  }
}
