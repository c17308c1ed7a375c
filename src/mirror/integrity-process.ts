// Entry of the process that checks a mirror's file; see verify.ts.
import { connect } from './open.ts'
import type { IntegrityAnswer } from './verify.ts'

process.once('message', (message) => {
  process.send?.(check((message as { path: string }).path))
  process.disconnect()
})

function check(path: string): IntegrityAnswer {
  try {
    const db = connect(path, { readonly: true, timeout: 5_000 })
    try {
      return { found: db.prepare('PRAGMA integrity_check(5)').pluck().all() as string[] }
    } finally {
      db.close()
    }
  } catch (error) {
    const { message, code = '' } = error as Error & { code?: string }
    return { error: message, code }
  }
}
