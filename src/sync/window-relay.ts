// Windows on the main thread's side of the writer: prepared here, in steps, so that the writer's answers never wait long
// for this thread; what this thread knows of a window does not come back; and the next window is looked up while the
// walk still reads the answer for the last. Knows no tables.
import { setImmediate as pause } from 'node:timers/promises'
import type { Moment } from '../task.ts'
import { type PreparedWindow, prepareInSteps } from './prepare.ts'
import type { Looked, TakeIn, TakenIn, Viewed } from './windows.ts'
import type { ParsedAnswer } from './writing.ts'

/** Calls a method of the session in the writer thread; calls are carried out in the order they are made. */
export type Call = (method: string, args: unknown[]) => Promise<unknown>

export interface WindowRelay {
  parseList(raw: Uint8Array): Promise<ParsedAnswer>
  view(handle: number, walkId: number): Promise<Viewed>
  takeIn(step: TakeIn): Promise<TakenIn>
  dropWindow(handle: number): Promise<void>
  /** To be called with any other call: what was looked up before it may no longer be so. */
  otherCall(): void
}

export function windowRelay(call: Call, finalStatuses: ReadonlySet<string>): WindowRelay {
  // In the order they came, which is nearly always that in which the walk will want them.
  const held = new Map<number, { ids: string[]; moments: Moment[] }>()
  let early: { handle: number; walkId: number; looked: Promise<Looked> } | null = null
  let last: Promise<unknown> = Promise.resolve()

  const look = (handle: number, walkId: number) => call('look', [handle, walkId]) as Promise<Looked>

  async function prepare(raw: Uint8Array): Promise<PreparedWindow> {
    const steps = prepareInSteps(raw, finalStatuses)
    for (;;) {
      const { value, done } = steps.next()
      if (done === true) return value
      await pause()
    }
  }

  return {
    async parseList(raw) {
      // One after another: two at once would both be late.
      const prepared = last.then(() => prepare(raw))
      last = prepared.catch(() => undefined)
      const window = await prepared
      const parsed = (await call('hold', [window])) as ParsedAnswer
      held.set(parsed.handle, { ids: window.ids, moments: window.moments })
      return parsed
    },

    async view(handle, walkId) {
      const { ids, moments } = held.get(handle) as { ids: string[]; moments: Moment[] }
      const ready = early?.handle === handle && early.walkId === walkId ? early.looked : null
      early = null
      return { ids, moments, ...(await (ready ?? look(handle, walkId))) }
    },

    async takeIn(step) {
      held.delete(step.handle)
      early = null
      const taken = call('takeIn', [step])
      const [next] = held.keys()
      if (next !== undefined && step.walkId !== null) {
        const looked = look(next, step.walkId)
        // Whoever wants it learns of it; a window that was dropped meanwhile is nobody's.
        looked.catch(() => undefined)
        early = { handle: next, walkId: step.walkId, looked }
      }
      return taken as Promise<TakenIn>
    },

    async dropWindow(handle) {
      held.delete(handle)
      if (early?.handle === handle) early = null
      await call('dropWindow', [handle])
    },

    otherCall() {
      early = null
    },
  }
}
