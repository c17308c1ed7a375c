// Windows on the main thread's side of the writer: prepared here and handed over without waiting for an answer, so that
// the writer always has the next one at hand. What it said of a window's items before other windows were taken in is
// brought up to date here. Knows no tables.
import type { Moment } from '../../task.ts'
import { type PreparedWindow, type Summary, summaryOf, withHashes } from './prepare.ts'
import type { TakeIn } from './take-window.ts'
import type { KnownState } from './window-reads.ts'
import type { Looked, TakenIn, Viewed } from './windows.ts'
import type { ParsedList } from './writing.ts'

/** Calls a method of the session in the writer thread, in the order of the calls; `transfer` is given away. */
export type Call = (method: string, args: unknown[], transfer?: ArrayBuffer[]) => Promise<unknown>

export interface WindowRelay {
  parseList(raw: Uint8Array): Promise<ParsedList>
  view(handle: number, walkId: number): Promise<Viewed>
  /** As the mirror is now: windows handed over to be taken in before are in it. */
  knownState(handle: number): Promise<KnownState>
  /** Answers before it is done. An error is thrown by this or a later call, and the rest of the walk is refused. */
  takeIn(step: TakeIn): Promise<TakenIn>
  dropWindow(handle: number): Promise<void>
  /** Waits until everything is taken in and committed; throws what it was not for, where no call has told it. */
  settle(): Promise<void>
  /** Call before any other: look-ups may no longer hold. Throws what a window was not taken in for. */
  otherCall(): void
}

/** What the writer says of a window, and how many windows had been taken in when it was asked. */
interface LookUp {
  walkId: number
  looked: Promise<Looked>
  after: number
}

interface Held {
  ids: string[]
  moments: Moment[]
  asked: LookUp | null
  /** As last viewed, and by which walk. */
  viewed: { walkId: number; met: Uint8Array; after: number } | null
}

/** Rejects with `body-invalid`; null where it would hold this thread up, so that the writer does it. */
export type Prepare = (raw: Uint8Array) => Promise<PreparedWindow | null>

/** With fewer calls than this before it the writer has time to hash a window itself: it waits for this thread. */
const BUSY = 3

/** `prepare` is never called twice at once. */
export function windowRelay(callWriter: Call, prepare: Prepare): WindowRelay {
  let unanswered = 0
  const held = new Map<number, Held>()
  /** What views are waiting for just now. */
  const awaited = new Set<LookUp>()
  /** Windows taken in by walks so far, and which of them brought an id last, of those that matter still. */
  let count = 0
  let takenBy: number | null = null
  const takenAt = new Map<string, number>()
  const recent: { number: number; ids: string[] }[] = []
  let handles = 0
  /** The walk that windows are most likely wanted for. */
  let current: number | null = null
  let failed: { error: unknown } | null = null
  let last: Promise<unknown> = Promise.resolve()
  let lastTaken: Promise<unknown> = Promise.resolve()

  const call: Call = async (...given) => {
    unanswered += 1
    try {
      return await callWriter(...given)
    } finally {
      unanswered -= 1
    }
  }

  function throwFailed(): void {
    if (failed === null) return
    const { error } = failed
    failed = null
    throw error
  }

  function noteFailure(done: Promise<unknown>): void {
    done.catch((error) => {
      failed ??= { error }
    })
  }

  /** An error of `answer` is told here, and need not be told again. */
  async function told<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } catch (error) {
      if (failed?.error === error) failed = null
      throw error
    }
  }

  /** Marks as met what `walkId` took in since `after`. */
  function bringUpToDate(met: Uint8Array, ids: string[], walkId: number, after: number): void {
    if (walkId !== takenBy || after === count) return
    for (const [index, id] of ids.entries()) if ((takenAt.get(id) ?? -1) >= after) met[index] = 1
  }

  function noteTaken(walkId: number, ids: string[]): void {
    if (walkId !== takenBy) {
      takenAt.clear()
      recent.length = 0
      takenBy = walkId
    }
    for (const id of ids) takenAt.set(id, count)
    recent.push({ number: count, ids })
    count += 1
  }

  /** Windows that all that is held was looked up after matter to nobody. */
  function forget(): void {
    let needed = count
    for (const { asked, viewed } of held.values())
      needed = Math.min(needed, asked?.after ?? needed, viewed?.after ?? needed)
    for (const { after } of awaited) needed = Math.min(needed, after)
    for (let oldest = recent[0]; oldest !== undefined && oldest.number < needed; oldest = recent[0]) {
      for (const id of oldest.ids) if (takenAt.get(id) === oldest.number) takenAt.delete(id)
      recent.shift()
    }
  }

  return {
    async parseList(raw) {
      // One after another: two at once would both be late.
      const prepared = last.then(() => prepare(raw))
      last = prepared.catch(() => undefined)
      const window = await prepared
      handles += 1
      const handle = handles
      if (window === null) {
        const parsed = (await call('prepare', [handle, raw], [raw.buffer as ArrayBuffer])) as Summary
        held.set(handle, { ids: parsed.ids, moments: parsed.moments, asked: null, viewed: null })
        return { handle, ...parsed }
      }
      const given = unanswered < BUSY ? window : withHashes(window)
      const answer = call('hold', [handle, given, current], [window.rows.buffer]) as Promise<Looked | null>
      noteFailure(answer)
      const asked = current === null ? null : { walkId: current, looked: answer as Promise<Looked>, after: count }
      held.set(handle, { ids: window.ids, moments: window.moments, asked, viewed: null })
      return { handle, ...summaryOf(window) }
    },

    async view(handle, walkId) {
      throwFailed()
      const window = held.get(handle) as Held
      const { ids, moments } = window
      current = walkId
      const early = window.asked?.walkId === walkId ? window.asked : null
      const asked = early ?? { walkId, looked: call('look', [handle, walkId]) as Promise<Looked>, after: count }
      window.asked = null
      window.viewed = null
      awaited.add(asked)
      try {
        const { met, held: heldBefore, known, others } = await told(asked.looked)
        throwFailed()
        bringUpToDate(met, ids, walkId, asked.after)
        window.viewed = { walkId, met, after: count }
        return { ids, moments, met, held: heldBefore, known, others }
      } finally {
        awaited.delete(asked)
      }
    },

    knownState: (handle) => call('knownState', [handle]) as Promise<KnownState>,

    async takeIn(step) {
      throwFailed()
      const { ids, viewed } = held.get(step.handle) as Held
      held.delete(step.handle)
      const { walkId } = step
      const done = call('takeIn', [step]) as Promise<TakenIn>
      if (walkId === null || viewed?.walkId !== walkId) {
        forget()
        return done
      }
      noteFailure(done)
      lastTaken = done.catch(() => undefined)
      bringUpToDate(viewed.met, ids, walkId, viewed.after)
      const newly = new Set(ids.filter((_, index) => viewed.met[index] === 0))
      noteTaken(walkId, ids)
      forget()
      return { newlyMet: newly.size }
    },

    async dropWindow(handle) {
      held.delete(handle)
      await call('dropWindow', [handle])
    },

    async settle() {
      await lastTaken
      // Also where a window has failed: what the last transaction could not be ended for is not left to the next one.
      const flushed = call('flush', [])
      noteFailure(flushed)
      await flushed.catch(() => undefined)
      throwFailed()
    },

    otherCall() {
      current = null
      for (const window of held.values()) window.asked = null
      throwFailed()
    },
  }
}
