// Windows on the writing side: parsed from raw bytes, viewed with the walk's marks, taken in with everything that
// describes them. Knows the wire format and the mirror, not the network.
import { createHash } from 'node:crypto'
import type { Marks } from '../mirror/marks.ts'
import type { RunCounts } from '../mirror/runs.ts'
import type { KnownTask } from '../mirror/tasks.ts'
import type { WalkProgress } from '../mirror/walks.ts'
import { type Page, readPage, type UnfitItem } from '../service/wire.ts'
import type { Moment, Task } from '../task.ts'
import { countOutcome, takeListed } from './intake.ts'
import type { ParsedAnswer, Writing } from './writing.ts'

export interface Viewed {
  ids: string[]
  moments: Moment[]
  met: Uint8Array
  held: Uint8Array
  /** How many of them the mirror holds. */
  known: number
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
  page: Page
  ids: string[]
  known: (KnownTask | undefined)[]
  /** How many transactions there had been when `known` was looked up. */
  viewedAt: number
}

export function windowIntake(writing: Writing) {
  const { tables, runId } = writing
  const held = new Map<number, Held>()

  const momentOf = (task: Task): Moment => {
    const created = task.createdAt
    return typeof created === 'number' && Number.isSafeInteger(created) ? created : null
  }

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

  return {
    /** Throws `MirrorError` `body-invalid` for what is no answer of the service. */
    parseList(raw: Uint8Array): ParsedAnswer {
      const page = readPage(raw)
      const handle = writing.nextHandle()
      held.set(handle, { page, ids: [], known: [], viewedAt: -1 })
      const { statusCode, message, hasPayload } = page
      return { handle, statusCode, message, hasPayload, count: page.items.length }
    },

    /** What the walk sees of a parsed window; marks are those of `walkId` as they are now. */
    view(handle: number, walkId: number): Viewed {
      const window = held.get(handle) as Held
      const { items } = window.page
      const marks = writing.marks(walkId)
      const moments: Moment[] = []
      const met = new Uint8Array(items.length)
      const heldBefore = new Uint8Array(items.length)
      let known = 0
      window.ids = items.map((item) => (item.kind === 'task' ? item.task.id : unfitIdentity(item.raw)))
      window.known = items.map((item, index) => {
        const id = window.ids[index] as string
        if (item.kind === 'unfit') {
          moments.push(item.createdAt)
          met[index] = writing.unfitMet.has(id) ? 1 : 0
          return undefined
        }
        moments.push(momentOf(item.task))
        const row = tables.tasks.find(id)
        if (row === undefined) return undefined
        known += 1
        met[index] = marks.has(row.seq) ? 1 : 0
        heldBefore[index] = row.seq <= marks.highestBefore ? 1 : 0
        return row
      })
      window.viewedAt = writing.commits()
      return { ids: window.ids, moments, met, held: heldBefore, known }
    },

    /** Takes a viewed window in: rows, marks, walk progress, counts and set-aside items in one transaction. */
    takeIn(step: TakeIn): TakenIn {
      const window = held.get(step.handle) as Held
      held.delete(step.handle)
      const marks = step.walkId === null ? null : writing.marks(step.walkId)
      const fresh = window.viewedAt === writing.commits()
      const taken: TakenIn = { newlyMet: 0, counts: { windows: 1, seen: 0 } }
      const { counts } = taken
      writing.commit(() => {
        const inWindow = new Set<string>()
        window.page.items.forEach((item, index) => {
          const id = window.ids[index] as string
          if (item.kind === 'unfit') {
            takeUnfit(item, id, step.skip + index, step.now, marks, taken)
            return
          }
          // An id that the window lists twice has changed its row meanwhile.
          const known = fresh && !inWindow.has(id) ? window.known[index] : tables.tasks.find(id)
          inWindow.add(id)
          const seq = takeTask(item.task, known, step, counts)
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

    dropWindow: (handle: number): void => void held.delete(handle),
  }

  function takeTask(task: Task, known: KnownTask | undefined, step: TakeIn, counts: Partial<RunCounts>): number {
    // Older than what this run has taken in already: a detail, or a window that was asked for later but lay further up.
    const newer =
      known !== undefined &&
      ((writing.detailReadAt.get(known.seq) ?? Number.NEGATIVE_INFINITY) > step.readAt ||
        (writing.seen.has(known.seq) && known.readAt > step.readAt))
    const { seq, outcome } = newer
      ? { seq: known.seq, outcome: 'unchanged' as const }
      : takeListed(tables, writing.rules, known, task, step.readAt, step.now)
    const first = writing.seen.add(seq)
    if (first) counts.seen = (counts.seen ?? 0) + 1
    if (first || outcome !== 'unchanged') countOutcome(counts, outcome)
    if (outcome !== 'unchanged') tables.setAside.resolve(task.id, step.now)
    return seq
  }
}

/** Names an item without a usable id: no id can begin with this. */
function unfitIdentity(raw: string): string {
  return `\u0000${createHash('sha256').update(raw).digest('base64')}`
}
