// `get --refresh`: one task asked for by id and taken in like any other detail.
import { EXIT, MirrorError } from '../../errors.ts'
import type { Answer } from '../../service/service.ts'
import { seeAccount } from '../account.ts'
import type { RunContext } from '../context.ts'
import { askForTask, checkAccount, foundStep, isFound } from '../steps/details.ts'
import { runOneOff } from './one-off-run.ts'

/** Returns why the mirror lacks what the service answers, or null. Throws `service-failing`, and as `runOneOff`. */
export function refreshTask(context: RunContext, id: string): Promise<string | null> {
  return runOneOff<string | null>(context, 'get', async (run) => {
    const detail = await askForTask(run, id)
    if (!isFound(detail)) return { value: absent(id, detail.answer), exitCode: EXIT.partial }
    // With another key, one task that the mirror does not hold does not tell whose it is.
    if (run.account.hasOtherKey) await seeAccount(run)
    await checkAccount(run, detail)
    const [taken] = await run.writer.takeDetails([foundStep(detail, true)], run.now())
    if (taken?.outcome === 'behind') {
      const why = `The service's answer for ${id} lags behind what its list has shown; the mirror keeps the later state`
      return { value: why, exitCode: EXIT.partial }
    }
    if (taken?.outcome !== 'set-aside') return { value: null, exitCode: EXIT.done }
    const why = `The service's answer for ${id} cannot be taken in; it was set aside, see \`task-mirror rejected\``
    return { value: why, exitCode: EXIT.partial }
  })
}

/** What an answer without a task says; throws where it does not answer the question at all. */
function absent(id: string, answer: Answer<unknown>): string {
  if (answer.kind === 'failed') {
    throw new MirrorError('service-failing', `The service fails to answer for the task ${id}: ${answer.message}`, {
      facts: { id, reason: answer.reason, httpStatus: answer.httpStatus },
      hint: 'Try again later; without --refresh the mirror is read alone.',
    })
  }
  if (answer.kind === 'ok') return `The service knows no task with the id ${id} (it answers without an item)`
  const { httpStatus, message } = answer
  if (httpStatus === 0) return `The service cannot be asked for the id ${id}: ${message}`
  return `The service gives no task for the id ${id} (HTTP ${httpStatus}: ${message})`
}
