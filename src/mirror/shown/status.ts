// What the mirror holds and how fresh it is: the figures of `status`. Reads indexes and small tables only.
import type { Order } from '../../task.ts'
import type { Db } from '../connect.ts'
import { pathText } from '../forms/differences.ts'
import type { SummaryField, UnevenField } from '../forms/forms.ts'
import { type Facts, readFacts } from '../tables/facts.ts'
import { HIDDEN, NO_RESULT, type OwedReason } from '../tables/owed.ts'
import { lastRuns, type RunRow } from '../tables/runs.ts'
import type { WalkRow } from '../tables/walks.ts'
import { walBytes } from '../wal.ts'
import { freshAtOf, type LastFullWalk, lastFullWalkOf } from './history.ts'

/** A walk that has ended, or a full walk that is under way, or was cut off and can be resumed. */
export type WalkFigures = Pick<
  WalkRow,
  'id' | 'kind' | 'verdict' | 'reason' | 'rangeSince' | 'rangeUntil' | 'met' | 'drift' | 'startedAt' | 'updatedAt'
>

export interface MirrorStatus {
  baseUrl: string | null
  /**
   * `late`: past their timeframe; null where `probe` has not found that it reads as a moment. `hidden`: live tasks that
   * the list no longer shows but that are found by id. `setAside`: items set aside and not taken in since.
   */
  tasks: { live: number; open: number; late: number | null; hidden: number; deleted: number; setAside: number }
  /** What is owed, besides the checks of open tasks. */
  owed: {
    details: number
    candidates: number
    /** Of the details: of final tasks whose detail has no result yet. */
    withoutResult: number
  }
  /** How the list and the details of tasks differ, as far as compared. */
  forms: FormFigures
  order: Order | null
  /** Number of items in the list when its end was last proven. */
  total: number | null
  frontier: number | null
  /** Until when the service asked to be left alone. */
  notBefore: number | null
  /** Start of the last complete walk of everything or the newest; in the future where a clock was wrong (`ageOf`). */
  freshAt: number | null
  lastFullWalk: LastFullWalk | null
  /** The last walk of each kind that ended, newest first; before them a full walk under way, or cut off since. */
  walks: WalkFigures[]
  /** The last runs, newest first. */
  runs: RunRow[]
  /** Size of the WAL; beyond `LARGE_WAL_BYTES` something keeps it from being folded back. */
  walBytes: number
}

interface FormFigures {
  /** Tasks compared so far, and when last, epoch ms. */
  compared: number
  comparedAt: number | null
  /** Fields of which details hold more than the list: those details are asked for. */
  summary: { field: string; how: SummaryField['how'] }[]
  /** Fields that differ, or change with every read, without a change of the task. */
  uneven: { field: string; how: UnevenField['how'] }[]
}

const SHOWN_RUNS = 5

/** What is owed of live tasks, by reason; reads no others. `late` as in late_tasks, a view that old mirrors lack. */
const OWED = `SELECT reason, count(*) FILTER (WHERE last_error IS NOT @hidden) AS tasks, count(*) FILTER (WHERE last_error = @hidden) AS hidden,
    count(*) FILTER (WHERE last_error = @noResult) AS withoutResult,
    count(*) FILTER (WHERE timeframe < (julianday('now') - 2440587.5) * 86400000) AS late
  FROM open_checks CROSS JOIN tasks ON id = task_id WHERE reason <> 'deleted' AND deleted_at IS NULL GROUP BY reason`

/** Reads everything in one transaction, so that the figures fit each other. */
export function readStatus(db: Db): MirrorStatus {
  return db.transaction(() => {
    const facts = readFacts(db)
    const count = (sql: string) => db.prepare(sql).pluck().get() as number
    type Owed = Record<'tasks' | 'hidden' | 'withoutResult' | 'late', number> & { reason: OwedReason }
    const rows = db.prepare(OWED).all({ noResult: NO_RESULT, hidden: HIDDEN }) as Owed[]
    const owed = (reason: OwedReason, what: keyof Omit<Owed, 'reason'> = 'tasks') =>
      rows.find((row) => row.reason === reason)?.[what] ?? 0
    const deleted = count('SELECT count(*) FROM tasks WHERE deleted_at IS NOT NULL')
    return {
      walBytes: walBytes(db.name),
      baseUrl: facts.base_url ?? null,
      tasks: {
        live: count('SELECT count(*) FROM tasks') - deleted,
        open: owed('open'),
        late: facts.timeframe?.isMoment === true ? owed('open', 'late') : null,
        hidden: owed('candidate', 'hidden'),
        deleted,
        setAside: count('SELECT count(*) FROM rejected_items WHERE replayed_at IS NULL'),
      },
      owed: {
        details: owed('detail'),
        candidates: owed('candidate'),
        withoutResult: owed('detail', 'withoutResult'),
      },
      forms: formFigures(facts),
      order: facts.order ?? null,
      total: facts.total ?? null,
      frontier: facts.frontier ?? null,
      notBefore: facts.not_before ?? null,
      freshAt: freshAtOf(db),
      lastFullWalk: lastFullWalkOf(db),
      walks: lastWalks(db),
      runs: lastRuns(db, SHOWN_RUNS),
    }
  })()
}

function formFigures({ forms_compared: compared, summary_fields = [], uneven_fields = [] }: Facts): FormFigures {
  return {
    compared: (compared?.final ?? 0) + (compared?.open ?? 0),
    comparedAt: compared?.at ?? null,
    summary: summary_fields.map(({ path, how }) => ({ field: pathText(path), how })),
    uneven: uneven_fields.map(({ path, how }) => ({ field: pathText(path), how })),
  }
}

function lastWalks(db: Db): WalkFigures[] {
  return db
    .prepare(
      `WITH ended AS (SELECT kind, max(id) AS id FROM walks WHERE finished_at IS NOT NULL GROUP BY kind)
       SELECT id, kind, verdict, reason, range_since AS rangeSince, range_until AS rangeUntil, met, drift,
         started_at AS startedAt, updated_at AS updatedAt
       FROM walks
       WHERE id IN (SELECT id FROM ended)
         OR id = (SELECT max(id) FROM walks WHERE kind = 'full' AND finished_at IS NULL AND windows > 0
           AND id > coalesce((SELECT id FROM ended WHERE kind = 'full'), 0))
       ORDER BY finished_at IS NULL DESC, id DESC`,
    )
    .all() as WalkFigures[]
}
