// Windows on the writing side: parsed from raw bytes, viewed with the walk's marks, taken in with everything that
// describes them. Knows the wire format and the mirror, not the network.
import type { Marks } from '../mirror/marks.ts'
import type { RunCounts } from '../mirror/runs.ts'
import type { KnownTask } from '../mirror/tasks.ts'
import type { WalkProgress } from '../mirror/walks.ts'
import type { UnfitItem } from '../service/wire.ts'
import type { Moment } from '../task.ts'
import { countOutcome, type ListedTask, takeListed } from './intake.ts'
import { listedTask, type PreparedWindow, prepareWindow } from './prepare.ts'
import type { ParsedAnswer, Writing } from './writing.ts'

/** What the mirror says of the items of a window, by index. */
export interface Looked {
  met: Uint8Array
  held: Uint8Array
  /** How many of them the mirror holds. */
  known: number
}

export interface Viewed extends Looked {
  ids: string[]
  moments: Moment[]
}

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
  newlyMet: number
  counts: Partial<RunCounts>
}

interface Held {
  window: PreparedWindow
  unfit: Map<number, UnfitItem>
  known: (KnownTask | undefined)[]
  /** How much work there had been when `known` was looked up. */
  viewedAt: number
}

export function windowIntake(writing: Writing) {
  const { tables, runId } = writing
  const held = new Map<number, Held>()

  /** Set aside is met: at its place, and as the row the mirror may hold of it. */
  function takeUnfit(
    item: UnfitItem,
    identity: string,
    skip: number,
    now: number,
    marks: Marks | null,
    taken: TakenIn,
  ) {
    if (marks !== null) {
      const row = item.taskId === null ? undefined : tables.tasks.find(item.taskId)
      if (row !== undefined) marks.add(row.seq)
      if (!writing.unfitMet.has(identity)) taken.newlyMet += 1
      writing.unfitMet.add(identity)
    }
    const { taskId, reason, message, raw } = item
    if (tables.setAside.add({ source: 'list', skip, taskId, reason, message, raw }, runId, now)) {
      taken.counts.rejected = (taken.counts.rejected ?? 0) + 1
    }
  }

  function hold(window: PreparedWindow): ParsedAnswer {
    const handle = writing.nextHandle()
    held.set(handle, { window, unfit: new Map(window.unfit), known: [], viewedAt: -1 })
    const { statusCode, message, hasPayload } = window
    return { handle, statusCode, message, hasPayload, count: window.ids.length }
  }

  // One read transaction for a window: taking SQLite's read lock anew for every id costs as much as the look-up.
  const findAll = writing.db.transaction((ids: string[], unfit: Map<number, UnfitItem>) =>
    ids.map((id, index) => (unfit.has(index) ? undefined : tables.tasks.find(id))),
  )

  /** `view` without what the one who prepared the window knows already. */
  function look(handle: number, walkId: number): Looked {
    const holding = held.get(handle) as Held
    const { ids } = holding.window
    const marks = writing.marks(walkId)
    const met = new Uint8Array(ids.length)
    const heldBefore = new Uint8Array(ids.length)
    let known = 0
    holding.known = findAll(ids, holding.unfit)
    holding.known.forEach((row, index) => {
      if (row !== undefined) {
        known += 1
        met[index] = marks.has(row.seq) ? 1 : 0
        heldBefore[index] = row.seq <= marks.highestBefore ? 1 : 0
      } else if (holding.unfit.has(index)) met[index] = writing.unfitMet.has(ids[index] as string) ? 1 : 0
    })
    holding.viewedAt = writing.pieces()
    return { met, held: heldBefore, known }
  }

  return {
    /** Keeps a window prepared elsewhere until it is taken in or dropped. */
    hold,

    /** Throws `MirrorError` `body-invalid` for what is no answer of the service. */
    parseList(raw: Uint8Array): ParsedAnswer {
      return hold(prepareWindow(raw, writing.rules.finalStatuses))
    },

    look,

    /** What the walk sees of a parsed window; marks are those of `walkId` as they are now. */
    view(handle: number, walkId: number): Viewed {
      const { ids, moments } = (held.get(handle) as Held).window
      return { ids, moments, ...look(handle, walkId) }
    },

    /** Takes a viewed window in: rows, marks, walk progress, counts and set-aside items in one transaction, which the
     * next windows may share. */
    takeIn(step: TakeIn): TakenIn {
      const holding = held.get(step.handle) as Held
      held.delete(step.handle)
      const { window, unfit } = holding
      const marks = step.walkId === null ? null : writing.marks(step.walkId)
      const fresh = holding.viewedAt === writing.pieces()
      const taken: TakenIn = { newlyMet: 0, counts: { windows: 1, seen: 0 } }
      const { counts } = taken
      writing.gather(() => {
        const inWindow = new Set<string>()
        window.ids.forEach((id, index) => {
          const item = unfit.get(index)
          if (item !== undefined) {
            takeUnfit(item, id, step.skip + index, step.now, marks, taken)
            return
          }
          // An id that the window lists twice has changed its row meanwhile.
          const known = fresh && !inWindow.has(id) ? holding.known[index] : tables.tasks.find(id)
          inWindow.add(id)
          const seq = takeTask(listedTask(window, index), known, step, counts)
          if (marks?.add(seq) === true) taken.newlyMet += 1
        })
        marks?.save()
        if (step.walkId !== null && step.progress !== undefined) {
          writing.walks.progress(step.walkId, step.progress, 1, taken.newlyMet, step.now)
        }
        writing.runs.count(runId, counts)
      })
      return taken
    },

    /** Marks rows as met that were taken in before; returns how many were not. */
    markMet(walkId: number, ids: string[]): number {
      const marks = writing.marks(walkId)
      let newly = 0
      writing.commit(() => {
        for (const id of ids) {
          const known = tables.tasks.find(id)
          // Without a row it is an item that was set aside.
          if (known === undefined) writing.unfitMet.add(id)
          else if (marks.add(known.seq)) newly += 1
        }
        marks.save()
        writing.walks.countMet(walkId, newly)
      })
      return newly
    },

    dropWindow: (handle: number): void => void held.delete(handle),
  }

  function takeTask(
    listed: ListedTask,
    known: KnownTask | undefined,
    step: TakeIn,
    counts: Partial<RunCounts>,
  ): number {
    // Older than what this run has taken in already: a detail, or a window that was asked for later but lay further up.
    const newer =
      known !== undefined &&
      ((writing.detailReadAt.get(known.seq) ?? Number.NEGATIVE_INFINITY) > step.readAt ||
        (writing.seen.has(known.seq) && known.readAt > step.readAt))
    const { seq, outcome } = newer
      ? { seq: known.seq, outcome: 'unchanged' as const }
      : takeListed(tables, writing.rules, known, listed, step.readAt, step.now)
    const first = writing.seen.add(seq)
    if (first) counts.seen = (counts.seen ?? 0) + 1
    if (first || outcome !== 'unchanged') countOutcome(counts, outcome)
    if (outcome !== 'unchanged') tables.setAside.resolve(listed.row.id, step.now)
    return seq
  }
}
