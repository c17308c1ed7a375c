// How long the list of a walk is, as far as known: for progress only, never for what the walk asks or proves. Where no
// walk has proven it yet, a few looks beside the first long walk tell about where it ends; what they show is taken in.

import { readPage } from '../../service/decode/wire.ts'
import type { Decoded } from '../../service/service.ts'
import { estimateEnd, type Reach, roundedMiddle } from '../../walk/measure/estimate.ts'
import type { Run } from '../context.ts'
import type { Writer } from '../writer/thread.ts'

/** A list shorter than this is soon read: no request is spent on its length. */
const WINDOWS_BEFORE = 10
const ITEMS_BEFORE = 1_000
/** More than one item, because pages may be filtered after paging; few, because only their being there counts. */
const LOOKED_AT = 10

export interface Length {
  /** A window was taken in, and the walk is now at `index`. */
  reached(index: number): void
  /** For progress. `total` is null where nothing is known. */
  told(): { total: number | null; isEstimate: boolean }
  /** Waits for the look under way, and begins no other. */
  end(): Promise<void>
}

/** Answers larger than this, bytes, are left to the writer: they may take long. */
const MOST_HERE = 64 * 1024

interface CountedTasks extends Decoded {
  count: number
  /** The writer's name for the answer. */
  handle(): Promise<number>
  drop(): Promise<void>
}

async function countItems(writer: Writer, raw: Uint8Array<ArrayBuffer>): Promise<CountedTasks> {
  if (raw.length <= MOST_HERE) {
    const { items, ...envelope } = readPage(raw)
    const kept = raw.slice()
    const handle = async () => (await writer.parseList(kept)).handle
    return { ...envelope, count: items.length, handle, drop: async () => undefined }
  }
  const parsed = await writer.parseList(raw)
  return { ...parsed, handle: async () => parsed.handle, drop: () => writer.dropWindow(parsed.handle) }
}

/** `known` is the length that was proven last, null where none was; `isSought`: whether looks may be spent on it. */
export function listLength(run: Run, walkId: number, known: number | null, isSought: boolean): Length {
  let index = 0
  let windows = 0
  let reach: Reach | null = null
  let looking: Promise<void> | null = null
  let isOver = false
  const taking: Promise<unknown>[] = []

  const look = async (skip: number): Promise<boolean | null> => {
    if (isOver) return null
    const window = { skip, take: Math.min(LOOKED_AT, run.config.sync.window) }
    const decode = (raw: Uint8Array<ArrayBuffer>) => countItems(run.writer, raw)
    const discard = ({ drop }: CountedTasks): void => void drop().catch(() => undefined)
    const answer = await run.service.list(window, decode, { maxRetries: 0, discard })
    if (answer.kind === 'failed') return null
    if (answer.kind === 'refused') return false
    const { count, handle } = answer.value
    taking.push(takeIn(handle, skip, answer.startedAt))
    return count > 0
  }

  /** The next look does not wait for this. The walk will tell what is wrong with the mirror. */
  async function takeIn(held: CountedTasks['handle'], skip: number, readAt: number): Promise<void> {
    try {
      const handle = await held()
      await run.account.saw(await run.writer.view(handle, walkId))
      await run.writer.takeIn({ handle, walkId: null, skip, readAt, now: run.now() })
    } catch (error) {
      run.log.debug({ error: (error as Error).message }, 'What a look showed was not taken in')
    }
  }

  async function seek(): Promise<void> {
    try {
      reach = await estimateEnd(look, index)
    } catch (error) {
      // Whatever is wrong will be wrong for the walk as well, and is told there.
      run.log.debug({ error: (error as Error).message }, 'The length of the list is not known')
    }
  }

  return {
    reached(at) {
      if (at <= index) return
      index = at
      windows += 1
      if (!isSought || known !== null || looking !== null) return
      if (windows >= WINDOWS_BEFORE && index >= ITEMS_BEFORE) looking = seek()
    },
    told() {
      if (known !== null) return { total: known, isEstimate: false }
      if (reach === null || reach.high < index) return { total: null, isEstimate: true }
      return { total: roundedMiddle({ low: Math.max(reach.low, index), high: reach.high }), isEstimate: true }
    },
    async end() {
      isOver = true
      await looking
      await Promise.all(taking)
    },
  }
}
