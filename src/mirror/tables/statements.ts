// Runs statements that must write exactly one row, and checks that: a trigger can make SQLite skip a row in silence.
import type { RunResult, Statement } from 'better-sqlite3'
import { MirrorError } from '../../errors.ts'

/** Runs `statement`; throws `mirror-damaged` unless it changed exactly one row. */
export function writeOne(statement: Statement, ...values: unknown[]): RunResult {
  const done = statement.run(...values)
  if (done.changes !== 1) throw notWritten(done.changes)
  return done
}

export function notWritten(changes: number): MirrorError {
  return new MirrorError('mirror-damaged', `SQLite wrote ${changes} rows where it had to write one`, {
    facts: { changes },
    hint: 'Somebody changed the mirror while this run wrote to it: nothing of this step is kept. Run `task-mirror verify`.',
  })
}
