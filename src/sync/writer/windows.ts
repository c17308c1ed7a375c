// Windows on the writing side: held from when they have come until they are taken in or dropped; looked up with the
// walk's marks, taken in with all that describes them. No network.
import { boundValues, rowOf } from '../../mirror/row-bytes.ts'
import { Met } from '../../mirror/tables/evidence.ts'
import { placesOf } from '../../mirror/tables/places.ts'
import type { WalkKind } from '../../mirror/tables/walks.ts'
import { TASK_COLUMNS } from '../../task/columns.ts'
import type { Moment } from '../../task.ts'
import { isOther } from '../identity.ts'
import { comparedOf, FormSample } from './form-sample.ts'
import { storedTask } from './intake.ts'
import {
  type HashedWindow,
  listedHash,
  listedTask,
  type PreparedWindow,
  prepareWindow,
  release,
  type Summary,
  summaryOf,
  withHashes,
} from './prepare.ts'
import { type HeldWindow, type TakeIn, WindowTaking } from './take-window.ts'
import type { Writing } from './writing.ts'

const NOTHING_KNOWN = { isChanged: false, showsLess: false, isHeldOtherwise: false }

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

/** What the mirror holds of the items of a window, by index. */
export interface KnownState {
  /** Seqs of live tasks; 0 where it holds none. */
  seqs: Float64Array
  /** 1 where the list shows the task as it did last. */
  isAsBefore: Uint8Array
  /** When the read began that brought what the mirror holds of the task, epoch ms; 0 where it holds none. */
  readAt: Float64Array
}

/** Integers of the items of a window, by index; NaN where an item has none. Epoch ms. */
export interface WindowMoments {
  timeframe: Float64Array
  createdAt: Float64Array
  completedAt: Float64Array
}

/** More than are usually looked up ahead of being taken in; a window looked up before these is looked up again. */
const RECENT = 16

export interface TakenIn {
  /** Items of the window that the walk had not met before. */
  newlyMet: number
}

export function windowIntake(writing: Writing) {
  const held = new Map<number, HeldWindow>()
  /** The windows taken in last. */
  const recent: { piece: number; ids: ReadonlySet<string> }[] = []

  // One read transaction for a window: taking SQLite's read lock anew for every id costs as much as the look-up.
  const findAll = writing.db.transaction(({ window, unfit }: HeldWindow) =>
    window.ids.map((id, index) =>
      unfit.has(index) ? undefined : writing.tables.tasks.find(id, listedHash(window, index)),
    ),
  )

  function keep(handle: number, window: HashedWindow): void {
    held.set(handle, { window, unfit: new Map(window.unfit), known: [], viewedAt: -1 })
  }

  /** What the mirror holds now of a window's items, by index: looked up again if there was work since the last time. */
  function find(holding: HeldWindow): HeldWindow['known'] {
    if (holding.viewedAt !== writing.pieces()) holding.known = findAll(holding)
    holding.viewedAt = writing.pieces()
    return holding.known
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

/** What windows show that are not taken in yet, and what the mirror holds of them. */
function windowReads(
  writing: Writing,
  held: ReadonlyMap<number, HeldWindow>,
  find: (holding: HeldWindow) => HeldWindow['known'],
) {
  const { tasks } = writing.tables

  return {
    knownState(handle: number): KnownState {
      const known = find(held.get(handle) as HeldWindow).map((row) => (row?.deletedAt === null ? row : undefined))
      return {
        seqs: Float64Array.from(known, (row) => row?.seq ?? 0),
        isAsBefore: Uint8Array.from(known, (row) => (row?.isListedSo === true ? 1 : 0)),
        readAt: Float64Array.from(known, (row) => row?.readAt ?? 0),
      }
    },

    /** Chooses a few tasks of a window to be compared with their details, as if it were a list; returns their ids. */
    compareListed(handle: number): string[] {
      const { window, unfit } = held.get(handle) as HeldWindow
      const sample = new FormSample({}, true, 0)
      sample.enter(0, 'full')
      for (const index of window.ids.keys())
        if (!unfit.has(index)) sample.offer(listedTask(window, index), index, NOTHING_KNOWN)
      sample.leave()
      writing.compared.clear()
      for (const item of sample.items()) writing.compared.set(item.id, comparedOf(item))
      return [...writing.compared.keys()]
    },

    /** Notes those of a window's items whose tasks are being compared and among `ids`; returns their ids. */
    noteListed(handle: number, ids: string[]): string[] {
      const { window, unfit } = held.get(handle) as HeldWindow
      return window.ids.filter((id, index) => {
        const forms = unfit.has(index) || !ids.includes(id) ? undefined : writing.compared.get(id)
        if (forms === undefined || forms.listed.length > 1) return false
        forms.listed.push(storedTask(rowOf(listedTask(window, index).bytes)))
        return true
      })
    },

    /** The moments that a window shows of its tasks. */
    taskMoments(handle: number): WindowMoments {
      const { window, unfit } = held.get(handle) as HeldWindow
      const rows = window.ids.map((_, index) => (unfit.has(index) ? [] : boundValues(listedTask(window, index).bytes)))
      const integers = (column: (typeof TASK_COLUMNS)[number]) => {
        const place = TASK_COLUMNS.indexOf(column)
        return Float64Array.from(rows, (row) => (row[place] == null ? Number.NaN : Number(row[place])))
      }
      return {
        timeframe: integers('timeframe'),
        createdAt: integers('created_at'),
        completedAt: integers('completed_at'),
      }
    },

    /**
     * The highest seq from before any walk took in anything, since the last complete one before `walkId` (of `kind`,
     * where given). What walks met since stands at the front of the list like what they did not meet.
     */
    certainSeq: (walkId: number, kind: WalkKind | null = null): number =>
      writing.walks.seqAfterComplete(walkId, kind) ?? Number.MAX_SAFE_INTEGER,

    /** Which rows stand side by side, by createdAt, among all that the mirror holds: see tables/places.ts. */
    placesOf: (seqs: number[]): number[] => placesOf(writing.db, seqs),

    /** The seq of the live task created last before `bound`, epoch ms; null where there is none. */
    newestSeq: (bound: number): number | null => tasks.newestSeq(bound) ?? null,
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
      const isOtherTask = !row.isListedSo && isOtherThan(row.seq, index)
      // A tombstone may be of an account that was here before.
      if (row.deletedAt === null || isOtherTask) found.known += 1
      if (isOtherTask) found.others += 1
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

/** Whether the row of an id may have changed since work number `piece`; `pieces` is the number of the last work. */
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
