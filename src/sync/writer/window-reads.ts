// What windows show that have come and are not taken in yet, and what the mirror holds of them. Reads only.
import { boundValues, rowOf } from '../../mirror/row-bytes.ts'
import type { KnownTask } from '../../mirror/tables/tasks.ts'
import type { UnfitItem } from '../../service/decode/wire.ts'
import { TASK_COLUMNS } from '../../task/columns.ts'
import { comparedOf, FormSample } from './form-sample.ts'
import { storedTask } from './intake.ts'
import { type HashedWindow, listedHash, listedTask } from './prepare.ts'
import type { Writing } from './writing.ts'

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

export interface HeldWindow {
  window: HashedWindow
  unfit: Map<number, UnfitItem>
  known: (KnownTask | undefined)[]
  /** How many pieces of work there had been when `known` was looked up. */
  viewedAt: number
}

const NOTHING_KNOWN = { isChanged: false, showsLess: false, isHeldOtherwise: false }

type Finder = (holding: HeldWindow) => (KnownTask | undefined)[]

/** What the mirror holds now of a window's items, by index: looked up again if there was work since the last time. */
export function finder(writing: Writing): Finder {
  // One read transaction for a window: taking SQLite's read lock anew for every id costs as much as the look-up.
  const findAll = writing.db.transaction(({ window, unfit }: HeldWindow) =>
    window.ids.map((id, index) =>
      unfit.has(index) ? undefined : writing.tables.tasks.find(id, listedHash(window, index)),
    ),
  )
  return (holding) => {
    if (holding.viewedAt !== writing.pieces()) holding.known = findAll(holding)
    holding.viewedAt = writing.pieces()
    return holding.known
  }
}

/** `held`: the windows that are not taken in yet, by handle. */
export function windowReads(writing: Writing, held: ReadonlyMap<number, HeldWindow>, find: Finder) {
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
  }
}
