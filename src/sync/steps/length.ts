// How long the list of a walk is, as far as known: for progress only, never for what the walk asks or proves. Where no
// walk has proven it yet, a few looks beside the first long walk tell about where it ends; what they show is taken in.
import { estimateEnd, type Reach, roundedMiddle } from '../../walk/measure/estimate.ts'
import type { Run } from '../context.ts'
import { takeBeside } from './beside.ts'

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

/** `known` is the length that was proven last, null where none was; `isSought`: whether looks may be spent on it. */
export function listLength(run: Run, walkId: number, known: number | null, isSought: boolean): Length {
  let index = 0
  let windows = 0
  let reach: Reach | null = null
  let looking: Promise<void> | null = null
  let isOver = false
  const taking: Promise<unknown>[] = []
  const note = (error: Error): void => run.log.debug({ error: error.message }, 'The length of the list is not known')

  const look = async (skip: number): Promise<boolean | null> => {
    if (isOver) return null
    const window = { skip, take: Math.min(LOOKED_AT, run.config.sync.window) }
    const answer = await run.service.list(window, { maxRetries: 0, isLook: true })
    if (answer.kind === 'failed') return null
    if (answer.kind === 'refused') return false
    const { handle, count } = answer.value
    // The next look does not wait for this. The walk will tell what is wrong with the mirror.
    taking.push(takeBeside(run, { handle, skip, startedAt: answer.startedAt }, walkId).catch(note))
    return count > 0
  }

  async function seek(): Promise<void> {
    try {
      reach = await estimateEnd(look, index)
    } catch (error) {
      // Whatever is wrong will be wrong for the walk as well, and is told there.
      note(error as Error)
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
