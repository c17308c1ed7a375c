// Windows on the writing side: looked up with the walk's marks, taken in with all that describes them. No network.

import { rowOf } from '../../mirror/row-bytes.ts'
import { Met } from '../../mirror/tables/evidence.ts'
import type { Marks } from '../../mirror/tables/marks.ts'
import type { RunCounts } from '../../mirror/tables/runs.ts'
import type { KnownTask } from '../../mirror/tables/tasks.ts'
import type { WalkProgress } from '../../mirror/tables/walks.ts'
import type { UnfitItem } from '../../service/decode/wire.ts'
import type { Moment } from '../../task.ts'
import { identityOf, isOther } from '../identity.ts'
import { anotherTask, countOutcome, isAnother } from './intake.ts'
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
import { type ListedTask, takeListed } from './take-listed.ts'
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
}

/** More than are usually looked up ahead of being taken in; what was looked up before is looked up again. */
const RECENT = 16

export interface TakeIn {
  handle: number
  /** Null: genuine items outside the chain, taken in without being met. */
  walkId: number | null
  skip: number
  /** When the window was asked for, epoch ms. */
  readAt: number
  now: number
  progress?: WalkProgress
}

export interface TakenIn {
  /** Items of the window that the walk had not met before. */
  newlyMet: number
}

interface Counted extends TakenIn {
  /** Rows that were marked for the first time. */
  met: Met
  counts: Partial<RunCounts>
}

export function windowIntake(writing: Writing) {
  const { tables, runId } = writing
  const held = new Map<number, HeldWindow>()
  const findAll = finder(writing)
  /** The ids of the windows taken in last. */
  const recent: { piece: number; ids: Set<string> }[] = []

  /** Set aside is met: at its place, and as the row the mirror may hold of it. */
  function takeUnfit(
    item: UnfitItem,
    identity: string,
    { skip, isFirst }: { skip: number; isFirst: boolean },
    now: number,
    marks: Marks | null,
    taken: Counted,
  ) {
    if (marks !== null) {
      const row = item.taskId === null ? undefined : tables.tasks.find(item.taskId)
      if (row !== undefined && item.taskId !== null && marks.add(row.seq)) taken.met.add(item.taskId)
      if (!writing.unfitMet.has(identity)) taken.newlyMet += 1
      writing.unfitMet.add(identity)
    }
    const { taskId, reason, message, raw } = item
    // What names it is not in this answer; it is in the one before, which shares this item.
    if (isFirst && taskId === null) return
    const known = taskId === null ? { identity } : {}
    if (tables.setAside.add({ source: 'list', skip, taskId, reason, message, raw, ...known }, runId, now)) {
      taken.counts.rejected = (taken.counts.rejected ?? 0) + 1
    }
  }

  function isOtherThan(seq: number, window: HashedWindow, index: number): boolean {
    return isOther(identityOf(tables.tasks.identity(seq)), identityOf(rowOf(listedTask(window, index).bytes)))
  }

  /** What the mirror and the marks of `walkId` say of the items of a window, as they are now. */
  function look(handle: number, walkId: number): Looked {
    const holding = held.get(handle) as HeldWindow
    const { ids } = holding.window
    const marks = writing.marks(walkId)
    const met = new Uint8Array(ids.length)
    const heldBefore = new Uint8Array(ids.length)
    let known = 0
    let others = 0
    holding.known = findAll(holding.window, holding.unfit)
    holding.known.forEach((row, index) => {
      if (row !== undefined) {
        known += 1
        if (!row.isListedSo && isOtherThan(row.seq, holding.window, index)) others += 1
        met[index] = marks.has(row.seq) ? 1 : 0
        heldBefore[index] = row.seq <= marks.highestBefore ? 1 : 0
      } else if (holding.unfit.has(index)) met[index] = writing.unfitMet.has(ids[index] as string) ? 1 : 0
    })
    holding.viewedAt = writing.pieces()
    return { met, held: heldBefore, known, others }
  }

  return {
    ...windowReads(writing, held, findAll),

    /** Keeps a window until it is taken in or dropped, looks it up for `walkId`, hashes it where nobody has. */
    hold(handle: number, given: PreparedWindow | HashedWindow, walkId: number | null): Looked | null {
      const window = 'hashes' in given ? given : withHashes(given)
      held.set(handle, { window, unfit: new Map(window.unfit), known: [], viewedAt: -1 })
      return walkId === null ? null : look(handle, walkId)
    },

    /** `hold` of an answer that the other thread would take too long for. Throws `body-invalid` as `prepareWindow` does. */
    prepare(handle: number, raw: Uint8Array): Summary {
      const window = withHashes(prepareWindow(raw, writing.rules.finalStatuses))
      release(raw)
      held.set(handle, { window, unfit: new Map(window.unfit), known: [], viewedAt: -1 })
      return summaryOf(window)
    },

    look,

    /** Takes a window in: rows, marks, progress, counts, set-aside items, in one transaction that others may share. */
    takeIn(step: TakeIn): TakenIn {
      const holding = held.get(step.handle) as HeldWindow
      held.delete(step.handle)
      const { window, unfit } = holding
      const marks = step.walkId === null ? null : writing.marks(step.walkId)
      const changed = changedSince(holding.viewedAt)
      writing.throwBroken()
      const taken: Counted = { newlyMet: 0, met: new Met(), counts: { windows: 1, seen: 0 } }
      const { counts } = taken
      const inWindow = new Set<string>()
      writing.sample.enter(step.walkId, (id) => writing.walks.get(id)?.kind ?? null)
      // Where the set-aside store is full, a window is taken back: that one, and none before it.
      const inTransaction = unfit.size === 0 ? writing.gather : writing.commit
      inTransaction(() => {
        window.ids.forEach((id, index) => {
          const item = unfit.get(index)
          if (item !== undefined) {
            const isFirst = index === 0 && step.skip > 0 && window.ids.length > 1
            takeUnfit(item, id, { skip: step.skip + index, isFirst }, step.now, marks, taken)
            return
          }
          // An id that the window lists twice has changed its row meanwhile.
          const known =
            changed(id) || inWindow.has(id) ? tables.tasks.find(id, listedHash(window, index)) : holding.known[index]
          inWindow.add(id)
          const listed = listedTask(window, index)
          const { seq, ...found } = takeTask(listed, known, step, step.skip + index, counts)
          writing.sample.offer(listed, step.skip + index, found)
          if (marks?.add(seq) === true) {
            taken.newlyMet += 1
            taken.met.add(id)
          }
        })
        marks?.save()
        if (step.walkId !== null && step.progress !== undefined) {
          writing.walks.progress(step.walkId, step.progress, 1, taken.newlyMet, step.readAt, step.now)
          writing.evidence.add(step.walkId, step.progress.evidence, taken.met)
        }
        writing.runs.count(runId, counts)
      })
      writing.sample.leave()
      recent.push({ piece: writing.pieces(), ids: inWindow })
      if (recent.length > RECENT) recent.shift()
      release(window.rows)
      return { newlyMet: taken.newlyMet }
    },

    /** Marks rows as met that were taken in before; returns how many were not. */
    markMet(walkId: number, ids: string[]): number {
      writing.throwBroken()
      const marks = writing.marks(walkId)
      const met = new Met()
      writing.commit(() => {
        for (const id of ids) {
          const known = tables.tasks.find(id)
          // Without a row it is an item that was set aside.
          if (known === undefined) writing.unfitMet.add(id)
          else if (marks.add(known.seq)) met.add(id)
        }
        marks.save()
        writing.walks.countMet(walkId, met.count)
        writing.evidence.add(walkId, '[]', met)
      })
      return met.count
    },

    dropWindow(handle: number): void {
      const holding = held.get(handle)
      if (holding !== undefined) release(holding.window.rows)
      held.delete(handle)
    },
  }

  /** Whether the row of an id may be another than it was after so many pieces of work. */
  function changedSince(piece: number): (id: string) => boolean {
    const since = recent.filter((window) => window.piece > piece)
    // Work of another kind, or longer ago than is kept in mind.
    if (since.length !== writing.pieces() - piece) return () => true
    return (id) => since.some((window) => window.ids.has(id))
  }

  function takeTask(
    listed: ListedTask,
    known: KnownTask | undefined,
    step: TakeIn,
    place: number,
    counts: Partial<RunCounts>,
  ): { seq: number; isChanged: boolean; showsLess: boolean } {
    if (known?.isListedSo === false) {
      const shown = rowOf(listed.bytes)
      if (isAnother(writing, known, shown)) {
        const item = { source: 'list' as const, skip: place, ...anotherTask(shown) }
        if (tables.setAside.add(item, runId, step.now)) counts.rejected = (counts.rejected ?? 0) + 1
        // Set aside is met.
        writing.seen.add(known.seq)
        return { seq: known.seq, isChanged: false, showsLess: false }
      }
    }
    // Older than what this run has taken in already: a detail, or a window that was asked for later but lay further up.
    const newer =
      known !== undefined &&
      ((writing.detailReadAt.get(known.seq) ?? Number.NEGATIVE_INFINITY) > step.readAt ||
        (writing.seen.has(known.seq) && known.readAt > step.readAt))
    const { seq, outcome, showsLess } = newer
      ? { seq: known.seq, outcome: 'unchanged' as const, showsLess: false }
      : takeListed(writing, known, listed, step)
    const first = writing.seen.add(seq)
    if (first) counts.seen = (counts.seen ?? 0) + 1
    if (first || outcome !== 'unchanged') countOutcome(counts, outcome)
    if (outcome !== 'unchanged') tables.setAside.resolve(listed.id, step.now)
    return { seq, isChanged: outcome === 'inserted' || outcome === 'updated', showsLess }
  }
}
