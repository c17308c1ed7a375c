// The export's second thread, as the main one sees it. Used only where both are proven to read the same cut.
import { shareHandle } from '../../mirror/inspect.ts'
import { watchCommits } from '../../mirror/open.ts'
import { callsOf } from '../../threads/calls.ts'
import { takeThread } from '../../threads/early.ts'
import type { Format } from '../formats.ts'
import type { Filters } from '../read/conditions.ts'
import type { KeyRange } from '../read/key-ranges.ts'
import { type CutReader, openCut } from '../read/rows.ts'
import type { PackedKeyRange } from './format.ts'
import type { Packing } from './pieces.ts'
import { SECOND_THREAD } from './second-entry.ts'
import { letScavengesSpread } from './young-generations.ts'

/** The methods of the thread. */
export type SecondWork = {
  /** Loads what encodes the format, while the main thread does the same. */
  load(format: Format): Promise<void>
  /** Opens the thread's own cut; an earlier one is closed. */
  open(path: string, filters: Filters): void
  begin(packing: Packing, redact: readonly string[]): Promise<void>
  pack(keyRange: KeyRange): Promise<{ packed: PackedKeyRange; counts: Readonly<Record<string, number>> }>
}

/** Starts the thread; it is of use once it has loaded what it needs. */
export function startSecondThread(dbPath: string, format: Format) {
  shareHandle(dbPath)
  const worker = takeThread(SECOND_THREAD)
  letScavengesSpread(false)
  const calls = callsOf(worker, 'second thread of the export')
  let counts: Readonly<Record<string, number>> = {}
  // If it fails, so does `begin`.
  calls.ask('load', [format]).catch(() => {})

  return {
    open: async (...given: Parameters<SecondWork['open']>): Promise<void> => void (await calls.ask('open', given)),
    begin: async (...given: Parameters<SecondWork['begin']>): Promise<void> => void (await calls.ask('begin', given)),
    /** Key ranges are packed one after the other. */
    async pack(keyRange: KeyRange): Promise<PackedKeyRange> {
      const done = (await calls.ask('pack', [keyRange])) as Awaited<ReturnType<SecondWork['pack']>>
      counts = done.counts
      return done.packed
    },
    /** Values replaced so far, by name of the header. */
    counts: () => counts,
    async close(): Promise<void> {
      letScavengesSpread(true)
      await worker.terminate()
    },
  }
}

export type SecondThread = ReturnType<typeof startSecondThread>

/** Most attempts to open both cuts with no commit in between. */
const TRIES = 20

/** A cut, what was begun with it, and the thread that holds the same one. */
interface Opened<Head> {
  cut: CutReader
  head: Head
  /** null where none was started, or where commits kept coming in between, so that its cut is another one. */
  second: SecondThread | null
}

/**
 * Opens the cut here, and in the thread that `start` may give for it, which is closed where it cannot be used. `begin`
 * starts work on a cut while the thread still loads; that work is stopped where its cut is given up.
 */
export async function openCuts<Head extends { stop(): Promise<void> }>(
  path: string,
  filters: Filters,
  start: (cut: CutReader) => SecondThread | null,
  begin: (cut: CutReader) => Head,
): Promise<Opened<Head>> {
  const commits = watchCommits(path)
  let second: SecondThread | null = null
  let cut: CutReader | null = null
  let head: Head | null = null
  try {
    for (let i = 0; ; i++) {
      cut = openCut(path, filters)
      if (i === 0) second = start(cut)
      head = begin(cut)
      if (second === null) return { cut, head, second }
      await second.open(path, filters)
      if (!commits.hasCommits()) return { cut, head, second }
      if (i + 1 === TRIES) break
      await head.stop()
      cut.close()
    }
    await second.close()
    return { cut, head, second: null }
  } catch (error) {
    await head?.stop()
    cut?.close()
    await second?.close()
    throw error
  } finally {
    commits.close()
  }
}
