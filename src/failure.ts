// How an error is reported: message and hint on a terminal, otherwise everything in the log.
import { type ErrorFacts, fileLimitOr, MirrorError } from './errors.ts'
import type { Log } from './log.ts'
import { asCalled, calledAs, printable, withoutPasswords } from './shown.ts'

/** Reports `error` on stderr, once. `log` is null before there is one; `facts` say what was being done, for the log. */
export function tellError(
  thrown: unknown,
  log: Log | null,
  stderr: { isTTY: boolean; env: NodeJS.ProcessEnv; write(text: string): void },
  facts: ErrorFacts = {},
): void {
  const error = fileLimitOr(thrown)
  if (log === null || stderr.isTTY || !isLogged(error, log, facts))
    stderr.write(printable(asCalled(withoutPasswords(words(error)), calledAs(stderr.env))))
  if (!(error instanceof MirrorError) && error instanceof Error) log?.debug({ stack: error.stack }, 'Where it happened')
}

/** False where the log cannot be written: its first line loads it, which a low limit of open files can prevent. */
function isLogged(error: unknown, log: Log, facts: ErrorFacts): boolean {
  try {
    logError(error, log, facts)
    return true
  } catch {
    return false
  }
}

function logError(error: unknown, log: Log, facts: ErrorFacts): void {
  if (error instanceof MirrorError) {
    const cause = error.cause instanceof Error ? error.cause.message : undefined
    log.error({ ...facts, ...error.facts, code: error.code, hint: error.hint, cause }, error.message)
  } else {
    log.error({ ...facts, code: 'bug', hint: 'Run it again with --log-level debug to see where.' }, unforeseen(error))
  }
}

function words(error: unknown): string {
  if (!(error instanceof MirrorError)) {
    return `task-mirror: ${unforeseen(error)}\n  Run it again with --log-level debug to see where.\n`
  }
  const hint = error.hint === undefined ? '' : `  ${error.hint}\n`
  return `task-mirror: ${error.message.replaceAll('\n', '\n             ')}\n${hint}`
}

/** One line, because messages of other libraries may have several. */
function unforeseen(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return `unforeseen failure: ${message.split('\n')[0]}`
}
