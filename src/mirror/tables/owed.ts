// `open_checks`: what is still to be asked: open tasks, details, candidates for deletion; tombstones, ever more rarely.
// And what look-ups have brought that the list has yet to show.
import { DAY_MS, latestKnown } from '../../clock.ts'
import type { Db } from '../connect.ts'
import { notWritten, writeOne } from './statements.ts'
import type { TaskMoments } from './tasks.ts'

/** `unlisted`: nothing is asked of what a look-up has brought, or brought back, and the list has not shown yet. */
export type OwedReason = 'open' | 'detail' | 'candidate' | 'unlisted' | 'deleted'

interface Owed {
  taskId: string
  seq: number
}

/** `most` of those that were not asked for since `since`, epoch ms; `now`: the clock, which dates no check later. */
export interface OwedPart {
  since: number
  now: number
  most: number
}

/** An open task that is due. */
interface OpenDue extends Owed, TaskMoments {
  /** Null where it was never checked. */
  checkedAt: number | null
  nextCheckAt: number
  /** Whether the row is in every digit what the list showed last. */
  isAsListed: boolean
}

/** What is owed of one task for one reason. */
export interface Debt {
  attempts: number
  /** Epoch ms; null where an earlier version wrote the row. */
  owedAt: number | null
  /** The task as the list showed it, JSON text; null where that is the row itself. */
  listed: string | null
  /** Why it was not settled when it was asked for last. */
  lastError: string | null
}

/** `last_error` of a detail that shows an earlier or another state than the list did. */
export const LAGS = 'the detail shows an earlier state than the list'
export const DISAGREES = 'the detail shows another state than the list'
const IS_DISPUTED = `coalesce(last_error IN ('${LAGS}', '${DISAGREES}'), 0)`
/** `last_error` of a final task whose detail has no result yet. */
export const NO_RESULT = 'final, but its detail has no result yet'
/** `last_error` of a task whose detail cannot be taken in. */
export const SET_ASIDE = 'its detail was set aside'
/** Whether that was before the list showed what it shows now: then the row is known to be old from now on. */
const IS_ASIDE_OF_OTHER = `last_error IS '${SET_ASIDE}' AND listed IS NOT excluded.listed`
/** `last_error` of a candidate that the service still has: not deleted, and no candidate until it is asked again. */
export const HIDDEN = 'listed no more, but found by id'
/** After so many failed attempts over so long, a detail with one of the first two is not expected soon any more. */
const EXPECTED = { attempts: 3, ms: DAY_MS }

function statements(db: Db) {
  return {
    put: db.prepare(
      `INSERT INTO open_checks (task_id, reason, next_check_at, owed_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    putListed: db.prepare(
      `INSERT INTO open_checks (task_id, reason, next_check_at, owed_at, listed) VALUES (?, 'detail', ?, ?, ?)
       ON CONFLICT (task_id, reason) DO UPDATE SET next_check_at = min(next_check_at, excluded.next_check_at),
         attempts = iif(${IS_ASIDE_OF_OTHER}, 0, attempts), owed_at = iif(${IS_ASIDE_OF_OTHER}, excluded.owed_at, owed_at),
         listed = excluded.listed`,
    ),
    find: db.prepare(
      `SELECT attempts, owed_at AS owedAt, listed, last_error AS lastError FROM open_checks
       WHERE task_id = ? AND reason = ?`,
    ),
    isOwed: db.prepare('SELECT 1 FROM open_checks WHERE task_id = ? AND reason = ?'),
    settle: db.prepare('DELETE FROM open_checks WHERE task_id = ? AND reason = ?'),
    settleResult: db.prepare("DELETE FROM open_checks WHERE task_id = ? AND reason = 'detail' AND last_error = ?"),
    postpone: db.prepare(
      `UPDATE open_checks SET checked_at = ?, next_check_at = ?, attempts = attempts + 1, last_error = ?
       WHERE task_id = ? AND reason = ?`,
    ),
    // Next time in half a minute times the square of the failures before: at once after the first, a day at most. For
    // tombstones in twelve hours after the first time, then twice as long each time, thirty days at most.
    retryLater: db.prepare(
      `UPDATE open_checks SET checked_at = @now, next_check_at = @now + CASE reason
         WHEN 'deleted' THEN min(2592000000, 43200000 * (1 << min(attempts, 10)))
         ELSE min(86400000, 30000 * attempts * attempts) END,
         attempts = attempts + 1,
         last_error = CASE WHEN ${IS_DISPUTED} AND @error <> '${SET_ASIDE}' THEN last_error ELSE @error END
       WHERE task_id = @taskId AND reason = @reason`,
    ),
    doubtHidden: db.prepare(
      `UPDATE open_checks SET next_check_at = min(next_check_at, max(?, coalesce(owed_at, 0) + ?))
       WHERE task_id = ? AND reason = 'candidate' AND last_error = '${HIDDEN}'`,
    ),
    dispute: db.prepare(
      `UPDATE open_checks SET attempts = 0, owed_at = ?, last_error = ?
       WHERE task_id = ? AND reason = 'detail' AND NOT ${IS_DISPUTED}`,
    ),
    due: db.prepare(
      `SELECT o.task_id AS taskId, t.seq AS seq FROM open_checks o JOIN tasks t ON t.id = o.task_id
       WHERE o.reason = @reason AND (o.next_check_at <= @by OR coalesce(o.checked_at, o.next_check_at) > @latest)
         AND (coalesce(o.checked_at, 0) < @since OR o.checked_at > @latest) AND t.deleted_at IS NULL
       ORDER BY o.checked_at NULLS FIRST, o.next_check_at, t.seq DESC LIMIT @most`,
    ),
    dueOpen: db.prepare(
      `SELECT o.task_id AS taskId, t.seq AS seq, o.checked_at AS checkedAt, o.next_check_at AS nextCheckAt,
         t.created_at AS createdAt, t.first_seen_at AS firstSeenAt, t.changed_at AS changedAt,
         t.content_hash IS t.list_hash AS isAsListed
       FROM open_checks o JOIN tasks t ON t.id = o.task_id
       WHERE o.reason = 'open' AND (o.next_check_at <= ? OR coalesce(o.checked_at, o.next_check_at) > ?)
         AND t.deleted_at IS NULL`,
    ),
    dueTombstones: db
      .prepare(
        `SELECT t.id FROM tasks t LEFT JOIN open_checks o ON o.task_id = t.id AND o.reason = 'deleted'
         WHERE t.deleted_at IS NOT NULL AND (o.task_id IS NULL OR o.next_check_at <= ? OR o.checked_at > ?)
         ORDER BY o.checked_at NULLS FIRST, t.deleted_at DESC, t.seq DESC`,
      )
      .pluck(),
    oweAllDetails: db.prepare(
      `INSERT INTO open_checks (task_id, reason, next_check_at, owed_at)
       SELECT id, 'detail', ?, ? FROM tasks WHERE deleted_at IS NULL AND (? IS NULL OR created_at >= ?) AND (? IS NULL OR created_at < ?)
       ON CONFLICT (task_id, reason) DO UPDATE SET next_check_at = excluded.next_check_at, checked_at = NULL`,
    ),
    count: db
      .prepare(
        'SELECT count(*) FROM open_checks o JOIN tasks t ON t.id = o.task_id WHERE o.reason = ? AND o.last_error IS NOT ? AND t.deleted_at IS NULL',
      )
      .pluck(),
    unexpected: db
      .prepare(
        `SELECT count(*) FROM open_checks o JOIN tasks t ON t.id = o.task_id
         WHERE o.reason = 'detail' AND t.deleted_at IS NULL AND o.last_error IN (?, ?) AND o.attempts >= ?
           AND (o.owed_at <= ? OR o.owed_at > ?)`,
      )
      .pluck(),
  }
}

export class OwedTable {
  readonly #sql: ReturnType<typeof statements>
  readonly #settleMs: number

  /** A check dated later than now by more than `settleMs` makes its row due: nobody knows when it was (clock.ts). */
  constructor(db: Db, settleMs: number) {
    this.#sql = statements(db)
    this.#settleMs = settleMs
  }

  owe(taskId: string, reason: OwedReason, dueAt: number): void {
    const { changes } = this.#sql.put.run(taskId, reason, dueAt, dueAt)
    if (changes === 0 && this.#sql.isOwed.get(taskId, reason) === undefined) throw notWritten(0)
  }

  /** Owes a detail that has to agree with `listed`, JSON text; null where that is the row itself. */
  oweDetail(taskId: string, dueAt: number, listed: string | null): void {
    writeOne(this.#sql.putListed, taskId, dueAt, dueAt, listed)
  }

  find(taskId: string, reason: OwedReason): Debt | undefined {
    return this.#sql.find.get(taskId, reason) as Debt | undefined
  }

  /** How many details are not expected soon any more, so that they are asked for more and more rarely. */
  unexpectedCount(now: number): number {
    const bounds = [now - EXPECTED.ms, latestKnown(now, this.#settleMs)]
    return this.#sql.unexpected.get(NO_RESULT, SET_ASIDE, EXPECTED.attempts, ...bounds) as number
  }

  settle(taskId: string, reason: OwedReason): void {
    this.#sql.settle.run(taskId, reason)
  }

  /** Settles what was owed for a result that the list shows by now. */
  settleResult(taskId: string): void {
    this.#sql.settleResult.run(taskId, NO_RESULT)
  }

  /** Notes that the task was asked for at `now`, and is asked for again at `next`, epoch ms. */
  postpone(
    taskId: string,
    reason: OwedReason,
    { now, next }: { now: number; next: number },
    error: string | null,
  ): void {
    this.#sql.postpone.run(now, next, error, taskId, reason)
  }

  /** Notes that a candidate, owed since `hiddenAt` or before, was found by id; `next`: when to ask again. Epoch ms. */
  hide(taskId: string, hiddenAt: number, check: { now: number; next: number }): void {
    this.owe(taskId, 'candidate', hiddenAt)
    this.postpone(taskId, 'candidate', check, HIDDEN)
  }

  /** A hidden task was not found by id: it is asked for as a candidate now, but not within `settleMs` of the walk. */
  doubtHidden(taskId: string, now: number): void {
    this.#sql.doubtHidden.run(now, this.#settleMs, taskId)
  }

  /** Owes the detail of every live task created in the half-open range. */
  oweAllDetails(dueAt: number, since: number | null, until: number | null): void {
    this.#sql.oweAllDetails.run(dueAt, dueAt, since, since, until, until)
  }

  /** Notes that a detail shows another state than the list: how long it goes on doing so counts from the first time. */
  dispute(taskId: string, now: number, why: string): void {
    this.#sql.dispute.run(now, why, taskId)
    this.retryLater(taskId, 'detail', now, why)
  }

  /** Notes that asking failed: the next run asks again, later runs more and more rarely. A dispute stays one. */
  retryLater(taskId: string, reason: OwedReason, now: number, error: string): void {
    this.#sql.retryLater.run({ taskId, reason, now, error })
  }

  /** Ids of tombstones that are due: the never asked first, then the youngest. */
  dueTombstones(dueBy: number): Iterable<string> {
    return this.#sql.dueTombstones.iterate(dueBy, latestKnown(dueBy, this.#settleMs)) as Iterable<string>
  }

  /** Rows that are due by `by`, the oldest check first. */
  due(reason: OwedReason, by: number, part?: OwedPart): Iterable<Owed> {
    const { since, now, most } = part ?? { since: Number.MAX_SAFE_INTEGER, now: by, most: -1 }
    const latest = latestKnown(now, this.#settleMs)
    return this.#sql.due.iterate({ reason, by, since, latest, most }) as Iterable<Owed>
  }

  /** Open tasks that are due, in no order. */
  *dueOpen(now: number): Generator<OpenDue> {
    for (const row of this.#sql.dueOpen.iterate(now, latestKnown(now, this.#settleMs)) as Iterable<OpenDue>)
      yield { ...row, isAsListed: Boolean(row.isAsListed) }
  }

  /** How many rows have this reason; hidden tasks do not count as candidates. */
  count(reason: OwedReason): number {
    return this.#sql.count.get(reason, HIDDEN) as number
  }
}
