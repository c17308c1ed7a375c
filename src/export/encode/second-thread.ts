// A second thread that reads the same cut and encodes key ranges of it, as the main thread sees it. Whether both cuts are
// the same is proven, not assumed: where commits keep coming in between, there is no second thread.
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type ErrorCode, type ErrorFacts, MirrorError } from '../../errors.ts'
import { shareHandle } from '../../mirror/handles.ts'
import type { Format } from '../formats.ts'
import type { KeyRange } from '../read/key-ranges.ts'
import { type CutReader, type Filters, openCut, watchCommits } from '../read/rows.ts'
import type { PackedKeyRange } from './packed.ts'
import type { Packing } from './pieces.ts'
import { letScavengesSpread, letYoungGenerationsGrow } from './young-generations.ts'

export type Ask =
  | { kind: 'open'; path: string; filters: Filters }
  | { kind: 'begin'; packing: Packing; redact: readonly string[] }
  | { kind: 'pack'; keyRange: KeyRange }

export type Answer =
  | { result: unknown; counts: Record<string, number> }
  | { error: { code: ErrorCode; message: string; hint?: string; facts: ErrorFacts } }
  | { crash: { message: string; stack: string | undefined } }

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
  // Handles that the thread leaves open must stay open: closing one would drop SQLite's locks (see mirror/open.ts).
  shareHandle(dbPath)
  const file = new URL(`./second-worker${extname(import.meta.url)}`, import.meta.url)
  // Rows die young: a small young generation takes less memory and no more time (docs/performance.md).
  const resourceLimits = { maxYoungGenerationSizeMb: 16 }
  const worker = new Worker(file, { workerData: format, trackUnmanagedFds: false, resourceLimits })
  letScavengesSpread(false)
  const waiting: { resolve(value: unknown): void; reject(reason: unknown): void }[] = []
  let counts: Readonly<Record<string, number>> = {}
  let gone: Error | null = null
  let asked = 0

  function fail(error: Error): void {
    gone = error
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  worker.on('error', (error) => fail(error as Error))
  worker.on('exit', () => fail(gone ?? new Error('The second thread of the export has ended')))
  worker.on('message', (answer: Answer) => {
    const caller = waiting.shift()
    if ('result' in answer) {
      counts = answer.counts
      caller?.resolve(answer.result)
    } else if ('error' in answer) {
      const { code, message, ...detail } = answer.error
      caller?.reject(new MirrorError(code, message, detail))
    } else {
      caller?.reject(Object.assign(new Error(answer.crash.message), answer.crash))
    }
  })

  function ask(question: Ask): Promise<unknown> {
    if (gone !== null) return Promise.reject(gone)
    return new Promise((resolve, reject) => {
      waiting.push({ resolve, reject })
      worker.postMessage(question)
    })
  }

  return {
    open: async (path, filters) => void (await ask({ kind: 'open', path, filters })),
    begin: async (packing, redact) => void (await ask({ kind: 'begin', packing, redact })),
    pack(keyRange) {
      if (++asked === GROWN_AFTER) letYoungGenerationsGrow(false)
      return ask({ kind: 'pack', keyRange }) as Promise<PackedKeyRange>
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
