// Which slice of the list a request for {skip, take} gets: limits, caps and quirks of paging, as pure functions.
import type { SimulatorOptions } from './options.ts'

/** Indexes `from` (inclusive) to `to` (exclusive) of the list. */
interface ListSlice {
  kind: 'stretch'
  from: number
  to: number
}

export interface Refusal {
  kind: 'refusal'
  status: number
  message: string
}

/** `total` counts the tasks in the list; `skip` and `take` are whole numbers from 0. */
export function sliceOf(options: SimulatorOptions, total: number, skip: number, take: number): ListSlice | Refusal {
  if (take > options.takeLimit) return refusal(400, `take must be at most ${options.takeLimit}`)
  if (options.skipLimit > 0 && skip + take > options.skipLimit) {
    return refusal(400, `skip + take must be at most ${options.skipLimit}`)
  }
  let from = options.ignoreSkip ? 0 : skip
  if (from >= total && total > 0 && take > 0) {
    if (options.wrap) from %= total
    else if (options.repeatLast) from = Math.floor((total - 1) / take) * take
    else if (options.pastEnd !== 'empty') return refusal(Number(options.pastEnd), 'There are no tasks at this index')
  }
  let count = options.pageOfOne ? Math.min(take, 1) : take
  if (options.capItems > 0) count = Math.min(count, options.capItems)
  if (options.shortBy > 0) count = Math.min(count, Math.max(1, count - options.shortBy))
  from = Math.min(from, total)
  return { kind: 'stretch', from, to: Math.min(from + count, total) }
}

/** How many of `take` items window number `read` may hold. Some windows are cut, as options say. */
export function cutTake({ cutTo, cutFrom, cutFor }: SimulatorOptions, read: number, take: number): number {
  return read >= cutFrom && read < cutFrom + cutFor ? Math.max(1, Math.ceil(cutTo * take)) : take
}

/** How many of `texts` fit into `capBytes` UTF-8 bytes, not counting commas; at least one. 0 means no cap. */
export function fittingCount(texts: readonly string[], capBytes: number): number {
  if (capBytes === 0) return texts.length
  let bytes = 0
  for (let i = 0; i < texts.length; i++) {
    bytes += Buffer.byteLength(texts[i]!)
    if (bytes > capBytes) return Math.max(1, i)
  }
  return texts.length
}

function refusal(status: number, message: string): Refusal {
  return { kind: 'refusal', status, message }
}
