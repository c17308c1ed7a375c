// Entry of the process that copies a mirror; see vacuum.ts.

import { connect } from '../connect.ts'
import { explaining } from '../explain.ts'
import { answerOnce } from './statement-process.ts'
import type { Vacuumed, VacuumRequest } from './vacuum.ts'

answerOnce(({ path, out }: VacuumRequest): Vacuumed => explaining(path, () => vacuum(path, out)))

function vacuum(path: string, out: string): Vacuumed {
  const db = connect(path, { readonly: true, timeout: 5_000 })
  try {
    db.prepare('VACUUM INTO ?').run(out)
  } finally {
    db.close()
  }
  const copy = connect(out, { fileMustExist: true })
  try {
    // Readers of a read-only place could not make the files that WAL needs.
    copy.pragma('journal_mode = DELETE')
    return copy.prepare('SELECT count(*) AS tasks, coalesce(max(change_seq), 0) AS cut FROM tasks').get() as Vacuumed
  } finally {
    copy.close()
  }
}
