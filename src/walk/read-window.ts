// Reads one window, whatever its size has to be: halves it where the service cannot serve it, doubles it again after a
// success, and pins the one position that cannot be read at any size (design.md 6.1, "Guards").
import { CHECK_ADDRESS } from '../config/target.ts'
import { MirrorError } from '../errors.ts'
import { isNothing, type Reader, type ReaderOptions } from './reader.ts'
import type { ItemsWindow, NoWindow, WindowAnswer } from './source.ts'

export type Reading =
  | ItemsWindow
  /** No item at this position: an empty answer; or a refusal (4xx), which is kept, of even a single item. */
  | { kind: 'nothing'; refusal: NoWindow | null }
  /** The item at `skip` cannot be read at any size; everything before it within the window was met already. */
  | { kind: 'unreadable'; skip: number; answer: NoWindow }

interface WindowOptions extends ReaderOptions {
  /** All up to the first position that cannot be read, and not only a part of that. */
  whole?: boolean
}

/** Indexes tried beside the first before a walk says that the service lists nothing: a few items may be unreadable. */
const CANARIES = [1, 2, 10, 100, 1000]

/**
 * Reads a window at `skip`, at the size that works. Throws `MirrorError` `service-failing` or `service-refused` where
 * even one item from the start of the list is not answered.
 */
export async function readWindow(reader: Reader, skip: number, options: WindowOptions = {}): Promise<Reading> {
  const answer = await reader.read(skip, reader.take, options)
  if (answer.kind === 'items') {
    grow(reader)
    return answer.ids.length === 0 ? nothing(reader, answer) : answer
  }
  if (answer.kind === 'refused' && skip > 0) {
    const one = await reader.look(skip, 1, { once: options.once === true, maxRetries: 1 })
    if (isNothing(one)) return { kind: 'nothing', refusal: one.kind === 'refused' ? one : null }
  }
  // After a failure the start of the list is asked for: does the service work at all? Not after a refusal, which may be
  // about the size; nor while a run is owed, as another run of its createdAt may stand there and be taken for it.
  const asksStart = answer.kind === 'failed' && reader.kernel.owed === undefined
  if (asksStart) await requireAnswerAtStart(reader, skip, answer)
  const reading = await shrink(reader, skip, answer, { whole: options.whole === true, asksStart })
  return reading.kind === 'items' && reading.ids.length === 0 ? nothing(reader, reading) : reading
}

/** A window at `skip`, up to a position that cannot be read; or that position, where nothing is read before it. */
export async function readUpTo(reader: Reader, skip: number): Promise<ItemsWindow | 'nothing' | number> {
  const reading = await readWindow(reader, skip, { fresh: true })
  if (reading.kind === 'items') return reading
  // If the walk has come further, this is no end of the list.
  const isWithin = skip <= (reader.kernel.state.floor?.index ?? 0)
  if (reading.kind === 'nothing') return reading.refusal !== null && isWithin ? skip : 'nothing'
  // The walk has set aside the position that cannot be read: only what stands before it is read.
  const upTo = reading.skip === skip ? null : await reader.read(skip, reading.skip - skip, { fresh: true })
  return upTo?.kind === 'items' ? upTo : reading.skip
}

/** Doubles the size again after a success, more and more rarely where doubling keeps failing. */
function grow(reader: Reader): void {
  if (reader.take >= reader.window) {
    reader.take = reader.window
    return
  }
  reader.successes += 1
  if (reader.successes < reader.patience) return
  reader.successes = 0
  reader.take = Math.min(reader.window, reader.take * 2)
}

function nothing(reader: Reader, answer: WindowAnswer): Reading {
  reader.drop(answer)
  return { kind: 'nothing', refusal: null }
}

async function requireAnswerAtStart(reader: Reader, skip: number, failed: NoWindow): Promise<void> {
  let first: NoWindow | null = skip === 0 && failed.asked === 1 ? failed : null
  for (const index of first === null ? [0, ...CANARIES] : CANARIES) {
    const canary = await reader.look(index, 1, { once: true, maxRetries: 1 })
    if (canary.kind !== 'items') first ??= canary
    else if (first === null || canary.ids.length > 0) return
  }
  throw unlisted(first as NoWindow)
}

/** The error where not even one task is listed. `status` is null where there was none. */
export function unlisted(answer: Pick<NoWindow, 'kind' | 'status' | 'message'> & { reason?: string }): MirrorError {
  const { kind, status, message, reason } = answer
  const isRefused = kind === 'refused'
  const what = isRefused ? `refuses to list even one task (status ${status})` : 'fails to list even one task'
  const isBusy = !isRefused && (reason === 'status' || reason === 'timeout' || (status ?? 0) >= 400)
  return new MirrorError(isRefused ? 'service-refused' : 'service-failing', `The service ${what}: ${message}`, {
    facts: { reason, status },
    hint: isBusy
      ? 'What was committed is kept: run the same command again when the service is well.'
      : `${CHECK_ADDRESS} What was committed is kept.`,
  })
}

/** Halves the size until an answer brings something new, else closes in on the first position that cannot be read. */
async function shrink(
  reader: Reader,
  skip: number,
  first: NoWindow,
  { whole, asksStart }: { whole: boolean; asksStart: boolean },
): Promise<Reading> {
  let good = 0
  let bad = first.asked
  let failure = first
  let best: ItemsWindow | null = null
  reader.successes = 0
  // A size that is too large now will be so again, so it is doubled slowly; a position that fails is soon left behind.
  const aboutSize = first.kind === 'refused' || first.reason === 'timeout'
  reader.patience = aboutSize ? Math.min(64, reader.patience * 2) : 1
  while (bad - good > 1) {
    const take = good === 0 ? Math.min(Math.floor(bad / 2), reader.window) : Math.floor((good + bad) / 2)
    const answer = await reader.read(skip, take, { fresh: true, maxRetries: 1 })
    if (answer.kind !== 'items') {
      bad = take
      failure = answer
      continue
    }
    if (best !== null) reader.drop(best)
    best = answer
    good = take
    const enough = answer.ids.length < take || (first.kind !== 'refused' && !whole) || bad - good <= good / 8
    if (enough && (answer.met.includes(0) || answer.ids.length < take)) {
      reader.take = take
      return answer
    }
  }
  if (best?.met.includes(0) === true) {
    reader.take = good
    return best
  }
  if (best !== null) {
    // If the next item can be read alone, the size was refused and not the position, and `good` is the largest size.
    const alone = await reader.look(skip + good, 1, { maxRetries: 1 })
    if (alone.kind === 'items') {
      reader.take = good
      return best
    }
    failure = alone
  }
  if (best !== null) reader.drop(best)
  else if (!asksStart) await requireAnswerAtStart(reader, skip, failure)
  // Positions that cannot be read mostly stand at equal distances, so the next windows are to be that large.
  const apart = skip + good - reader.unreadable
  reader.unreadable = skip + good
  reader.take = apart > 0 ? Math.min(reader.window, apart) : 1
  return { kind: 'unreadable', skip: skip + good, answer: failure }
}
