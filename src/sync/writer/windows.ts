// Windows on the writing side: looked up with the walk's marks, taken in with all that describes them. No network.
import { rowOf } from '../../mirror/row-bytes.ts'
import { Met } from '../../mirror/tables/evidence.ts'
import type { Moment } from '../../task.ts'
import { isOther } from '../identity.ts'
import {
  type HashedWindow,
  listedTask,
  type PreparedWindow,
  prepareWindow,
  release,
  type Summary,
  summaryOf,
  withHashes,
} from './prepare.ts'
import { type TakeIn, WindowTaking } from './take-window.ts'
import { finder, type HeldWindow, windowReads } from './window-reads.ts'
import type { Writing } from './writing.ts'

/** What the mirror says of the items of a window, by index. */
export interface Looked {
  met: Uint8Array
  held: Uint8Array
  /** How many of them the mirror holds, and how many of these carry another `createdAt` or `userId`. */
  known: number
  others: number
}

export interface Viewed extends Looked {
  ids: string[]
  moments: Moment[]
  /** How many of the items the mirror does not hold. */
  unknown: number
}

/** More than are usually looked up ahead of being taken in; a window looked up before these is looked up again. */
const RECENT = 16

export interface TakenIn {
  /** Items of the window that the walk had not met before. */
  newlyMet: number
}

export function windowIntake(writing: Writing) {
  const held = new Map<number, HeldWindow>()
  const find = finder(writing)
  /** The windows taken in last. */
  const recent: { piece: number; ids: ReadonlySet<string> }[] = []

  function keep(handle: number, window: HashedWindow): void {
    held.set(handle, { window, unfit: new Map(window.unfit), known: [], viewedAt: -1 })
  }

  /** What the mirror and the marks of `walkId` say of the items of a window, as they are now. */
  function look(handle: number, walkId: number): Looked {
    const holding = held.get(handle) as HeldWindow
    find(holding)
    return looked(writing, holding, walkId)
  }

  return {
    ...windowReads(writing, held, find),

    /** Keeps a window until it is taken in or dropped; looks it up for `walkId`, and hashes it where nobody has. */
    hold(handle: number, given: PreparedWindow | HashedWindow, walkId: number | null): Looked | null {
      keep(handle, 'hashes' in given ? given : withHashes(given))
      return walkId === null ? null : look(handle, walkId)
    },

    /** `hold` of an answer that would take the other thread too long. Throws `body-invalid` as `prepareWindow` does. */
    prepare(handle: number, raw: Uint8Array): Summary {
      const window = withHashes(prepareWindow(raw, writing.rules.finalStatuses))
      release(raw)
      keep(handle, window)
      return summaryOf(window)
    },

    look,

    /** Takes a window in: rows, marks, progress, counts, set-aside items, in one transaction that others may share. */
    takeIn(step: TakeIn): TakenIn {
      const holding = held.get(step.handle) as HeldWindow
      held.delete(step.handle)
      const taking = new WindowTaking(writing, holding, step)
      const hasChanged = changedSince(holding.viewedAt, writing.pieces(), recent)
      writing.throwBroken()
      writing.sample?.enter(step.walkId, step.walkId === null ? null : writing.walks.kindOf(step.walkId))
      // If the set-aside store is full, this window is rolled back, and none before it.
      const inTransaction = holding.unfit.size === 0 ? writing.gather : writing.commit
      inTransaction(() => taking.take(hasChanged))
      writing.sample?.leave()
      recent.push({ piece: writing.pieces(), ids: taking.ids })
      if (recent.length > RECENT) recent.shift()
      release(holding.window.rows)
      return { newlyMet: taking.newlyMet }
    },

    markMet: (walkId: number, ids: string[]): number => markMet(writing, walkId, ids),

    dropWindow(handle: number): void {
      const holding = held.get(handle)
      if (holding !== undefined) release(holding.window.rows)
      held.delete(handle)
    },
  }
}

function looked(writing: Writing, holding: HeldWindow, walkId: number): Looked {
  const { window, unfit } = holding
  const { ids } = window
  const { tables, unfitMet } = writing
  const marks = writing.marks(walkId)
  const found = { met: new Uint8Array(ids.length), held: new Uint8Array(ids.length), known: 0, others: 0 }
  const isOtherThan = (seq: number, index: number) =>
    isOther(tables.tasks.identity(seq), rowOf(listedTask(window, index).bytes))
  holding.known.forEach((row, index) => {
    if (row !== undefined) {
      found.known += 1
      if (!row.isListedSo && isOtherThan(row.seq, index)) found.others += 1
      found.met[index] = marks.has(row.seq) ? 1 : 0
      found.held[index] = row.seq <= marks.highestBefore ? 1 : 0
    } else if (unfit.has(index)) found.met[index] = unfitMet.has(ids[index] as string) ? 1 : 0
  })
  return found
}

/** Marks rows that were taken in before as met; returns how many had not been. */
function markMet(writing: Writing, walkId: number, ids: string[]): number {
  writing.throwBroken()
  const marks = writing.marks(walkId)
  const met = new Met()
  writing.commit(() => {
    for (const id of ids) {
      const known = writing.tables.tasks.find(id)
      // An item without a row was set aside.
      if (known === undefined) writing.unfitMet.add(id)
      else if (marks.add(known.seq)) met.add(id)
    }
    marks.save()
    writing.walks.countMet(walkId, met.count)
    writing.evidence.add(walkId, '[]', met)
  })
  return met.count
}

/** Whether the row of an id may have changed since there had been `piece` pieces of work; `pieces`: how many by now. */
function changedSince(
  piece: number,
  pieces: number,
  recent: readonly { piece: number; ids: ReadonlySet<string> }[],
): (id: string) => boolean {
  const since = recent.filter((window) => window.piece > piece)
  // There was work of another kind, or longer ago than is kept in mind.
  if (since.length !== pieces - piece) return () => true
  return (id) => since.some((window) => window.ids.has(id))
}
