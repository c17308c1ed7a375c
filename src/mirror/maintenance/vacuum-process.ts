// Entry of the process that copies a mirror; see vacuum.ts.

import { connect, lend } from '../connect.ts'
import { explaining } from '../explain.ts'
import { answerOnce } from './statement-process.ts'
import type { Vacuumed, VacuumRequest } from './vacuum.ts'

answerOnce(({ path, out }: VacuumRequest): Vacuumed => explaining(path, () => vacuum(path, out)))

function vacuum(path: string, out: string): Vacuumed {
  lend(connect(path, { readonly: true, timeout: 5_000 }), (db) => db.prepare('VACUUM INTO ?').run(out))
  return lend(connect(out, { fileMustExist: true }), (copy) => {
    // Not WAL: readers of a read-only place could not make the files that it needs.
    copy.pragma('journal_mode = DELETE')
    return copy.prepare('SELECT count(*) AS tasks, coalesce(max(change_seq), 0) AS cut FROM tasks').get() as Vacuumed
  })
}
