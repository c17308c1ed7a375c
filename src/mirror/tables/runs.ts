// The rows of `runs`: one per run, counted up window by window so that a killed run shows what it had committed.
import type { Outcome, Verdict } from '../../task.ts'
import type { Db } from '../connect.ts'
import { writeOne } from './statements.ts'

export interface RunEnd {
  requests: number
  retries: number
  bytes: number
  waitedMs: number
  /** The steps in their order, such as `["full"]` or `["head", "open"]`. */
  plan: string[]
  outcome: Outcome
  verdict: Verdict | null
  drift: number
  exitCode: number
  error: { code: string; message: string } | null
}

const COUNTED = [
  'windows',
  'details',
  'seen',
  'inserted',
  'updated',
  'unchanged',
  'deleted',
  'restored',
  'rejected',
] as const

/** What a run counts while it works; names as in `--json`. */
export type RunCounts = Record<(typeof COUNTED)[number], number>

/** What is shown of a run. */
export interface RunRow {
  id: number
  command: string
  /** null while it runs, or when it was killed; so are `finishedAt` and `exitCode`. */
  outcome: Outcome | null
  verdict: Verdict | null
  requests: number
  inserted: number
  updated: number
  deleted: number
  rejected: number
  startedAt: number
  finishedAt: number | null
  exitCode: number | null
  /** Message of the error that ended it early. */
  error: string | null
}

/** The columns of a `RunRow`. */
const SHOWN = `id, command, outcome, verdict, requests, inserted, updated, deleted, rejected,
  started_at AS startedAt, finished_at AS finishedAt, exit_code AS exitCode, error`

/** The last runs, newest first; only those that meet `condition`. */
export function lastRuns(db: Db, limit: number, condition = 'true'): RunRow[] {
  const rows = db
    .prepare(`SELECT ${SHOWN} FROM runs WHERE ${condition} ORDER BY id DESC LIMIT ?`)
    .all(limit) as RunRow[]
  return rows.map((row) => ({ ...row, error: errorOf(row.error)?.message ?? null }))
}

/** The code of what ended the run early; null where nothing did. */
export function errorCodeOf(db: Db, runId: number): string | null {
  return errorOf(db.prepare('SELECT error FROM runs WHERE id = ?').pluck().get(runId) as string | null)?.code ?? null
}

/** From the column `error`. Damage there is for `verify` to find: all else that is shown of the mirror is sound. */
function errorOf(text: string | null): RunEnd['error'] {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return { code: 'mirror-damaged', message: 'how it ended is not readable: `task-mirror verify` tells more' }
  }
}

const KEPT_ROWS = 10_000

export function runTable(db: Db) {
  const insert = db.prepare('INSERT INTO runs (command, started_at, tool_version) VALUES (?, ?, ?)')
  const prune = db.prepare(`DELETE FROM runs WHERE id <= (SELECT max(id) FROM runs) - ${KEPT_ROWS}`)
  const count = db.prepare(`UPDATE runs SET ${COUNTED.map((name) => `${name} = ${name} + ?`).join(', ')} WHERE id = ?`)
  const plan = db.prepare('UPDATE runs SET plan = ? WHERE id = ?')
  const end = db.prepare(
    `UPDATE runs SET plan = @plan, outcome = @outcome, verdict = @verdict, drift = @drift, exit_code = @exitCode,
     error = @error, requests = @requests, retries = @retries, bytes = @bytes, waited_ms = @waitedMs, finished_at = @now
     WHERE id = @id`,
  )
  const last = db.prepare('SELECT max(started_at, coalesce(finished_at, 0)) FROM runs ORDER BY id DESC LIMIT 1').pluck()
  const get = db.prepare(`SELECT ${COUNTED.join(', ')} FROM runs WHERE id = ?`)
  return {
    begin(command: string, toolVersion: string, now: number): number {
      const done = writeOne(insert, command, now, toolVersion)
      prune.run()
      return Number(done.lastInsertRowid)
    },
    /** When the last run ended or, where it has not, began, epoch ms; null before the first one. */
    lastMoment: (): number | null => (last.get() ?? null) as number | null,
    /** Call inside the transaction of the rows that are counted. */
    count: (id: number, counts: Partial<RunCounts>): void =>
      void writeOne(count, ...COUNTED.map((name) => counts[name] ?? 0), id),
    setPlan: (id: number, steps: string[]): void => void writeOne(plan, JSON.stringify(steps), id),
    counts: (id: number): RunCounts => get.get(id) as RunCounts,
    end(id: number, run: RunEnd, now: number): void {
      const error = run.error === null ? null : JSON.stringify(run.error)
      writeOne(end, { ...run, plan: JSON.stringify(run.plan), error, now, id })
    },
  }
}

export type RunTable = ReturnType<typeof runTable>
