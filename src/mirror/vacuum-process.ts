// Entry of the process that copies a mirror; see vacuum.ts.
import { connect } from './open.ts'
import type { VacuumAnswer, VacuumRequest } from './vacuum.ts'

process.once('message', (message) => {
  process.send?.(vacuum(message as VacuumRequest))
  process.disconnect()
})

function vacuum({ path, out }: VacuumRequest): VacuumAnswer {
  try {
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
      const count = 'SELECT count(*) AS tasks, coalesce(max(change_seq), 0) AS cut FROM tasks'
      return copy.prepare(count).get() as VacuumAnswer
    } finally {
      copy.close()
    }
  } catch (error) {
    const { message, code = '' } = error as Error & { code?: string }
    return { error: message, code }
  }
}
