// One error class with facts, and the table that maps error codes to exit codes.
import { getSystemErrorMessage } from 'node:util'

/** Exit codes of the command line (design.md section 3). An unknown code is a failure. */
export const EXIT = {
  done: 0,
  bug: 1,
  usage: 2,
  partial: 3,
  service: 4,
  keyRefused: 5,
  locked: 6,
  mirror: 7,
  sighup: 129,
  sigint: 130,
  sigterm: 143,
} as const

/** Every code a `MirrorError` can carry, and the exit code it stands for. */
const EXIT_CODE_OF = {
  bug: EXIT.bug,
  'usage-invalid': EXIT.usage,
  'config-invalid': EXIT.usage,
  partial: EXIT.partial,
  'rejected-full': EXIT.partial,
  'not-in-mirror': EXIT.partial,
  'mirror-missing': EXIT.partial,
  'service-unreachable': EXIT.service,
  'service-failing': EXIT.service,
  'service-refused': EXIT.service,
  'body-invalid': EXIT.service,
  'wait-too-long': EXIT.service,
  'not-before': EXIT.service,
  'duration-reached': EXIT.service,
  'key-refused': EXIT.keyRefused,
  'mirror-locked': EXIT.locked,
  'mirror-damaged': EXIT.mirror,
  'mirror-unproven': EXIT.partial,
  'mirror-foreign': EXIT.mirror,
  'mirror-newer': EXIT.mirror,
  'mirror-unwritable': EXIT.mirror,
  'mirror-unreadable': EXIT.mirror,
  'other-service': EXIT.mirror,
  'other-account': EXIT.mirror,
  'disk-full': EXIT.mirror,
  'too-many-files': EXIT.mirror,
  'snapshot-damaged': EXIT.mirror,
  'snapshot-newer': EXIT.mirror,
  'snapshot-unwritable': EXIT.mirror,
  'value-refused': EXIT.mirror,
  interrupted: EXIT.sigint,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof EXIT_CODE_OF

/** Facts for the log: chosen scalars only, never a secret, a whole request or a task. */
export type ErrorFacts = Record<string, string | number | boolean | null | undefined>

/** `message` and `hint` (what to do next) are for the terminal; `code`, `facts` and `cause` for the log. */
export class MirrorError extends Error {
  readonly code: ErrorCode
  readonly facts: ErrorFacts
  readonly hint: string | undefined

  constructor(code: ErrorCode, message: string, detail: { facts?: ErrorFacts; hint?: string; cause?: unknown } = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'MirrorError'
    this.code = code
    this.facts = detail.facts ?? {}
    this.hint = detail.hint
  }
}

/** True for a `MirrorError` of one of `codes` (any code where none is given). */
export function isMirrorError(error: unknown, ...codes: ErrorCode[]): error is MirrorError {
  return error instanceof MirrorError && (codes.length === 0 || codes.includes(error.code))
}

/** Replaces an error caused by a limit: `too-many-files`, or `usage-invalid` for a long name or a lost folder. */
export function fileLimitOr(error: unknown): unknown {
  if (isMirrorError(error, 'too-many-files')) return error
  const isTold = isMirrorError(error, 'usage-invalid', 'config-invalid')
  let at: unknown = error
  for (let depth = 0; depth < 8 && at instanceof Error; depth += 1) {
    const code = 'code' in at ? String(at.code) : ''
    // Node's module loader and its threads say so only in the message.
    if (/^(EMFILE|ENFILE)$/.test(code) || /\b(EMFILE|ENFILE|too many open files)\b/i.test(at.message)) {
      return new MirrorError('too-many-files', 'No more files can be opened: the limit of this process is reached', {
        hint: 'Raise it (ulimit -n, or LimitNOFILE of the unit; 256 is plenty) and run the same command again.',
        cause: error,
      })
    }
    if (/\buv_cwd\b/.test(at.message)) {
      return new MirrorError('usage-invalid', 'The folder that this was started in does not exist any more', {
        hint: 'Change into another one, or into the new one of that name, and run the same command again.',
        cause: error,
      })
    }
    if (!isTold && (code === 'ENAMETOOLONG' || /^ENAMETOOLONG\b/.test(at.message))) {
      const path = 'path' in at ? String(at.path) : ''
      const shown = path.length > MOST_SHOWN ? `${path.slice(0, MOST_SHOWN)}...` : path
      return new MirrorError('usage-invalid', `The file system takes no name as long${shown && ` as ${shown}`}`, {
        hint: 'Most take 255 bytes, and 4,095 for a whole path; beside the mirror there are files with longer names than its own.',
        cause: error,
      })
    }
    at = at.cause
  }
  return error
}

/** Characters of a path that is too long. */
const MOST_SHOWN = 100

/** The exit code of an error; whatever is no `MirrorError` is a bug (1). */
export function exitCodeOf(thrown: unknown): number {
  const error = fileLimitOr(thrown)
  return error instanceof MirrorError ? EXIT_CODE_OF[error.code] : EXIT.bug
}

/** The exit code of the signal that stopped the program; null where none did, or where the reason has no exit code. */
export function stopCodeOf({ aborted, reason }: AbortSignal): number | null {
  return aborted && isMirrorError(reason) && typeof reason.facts.exitCode === 'number' ? reason.facts.exitCode : null
}

/** Whether `error` only says that `signal` stopped the work. */
export function isStop(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false
  return error === signal.reason || isMirrorError(error, 'interrupted') || isCode(error, 'ABORT_ERR')
}

/** Whether it is an error, of Node or of this program, with this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** The worst of several: signal > 7 > 5 > 4 > 3; then 1, 2 and 6 in the order given, and 0 last. */
export function worstExitCode(...codes: number[]): number {
  const rank = [
    EXIT.sigterm,
    EXIT.sigint,
    EXIT.sighup,
    EXIT.mirror,
    EXIT.keyRefused,
    EXIT.service,
    EXIT.partial,
  ] as number[]
  for (const code of rank) if (codes.includes(code)) return code
  return codes.find((code) => code !== EXIT.done) ?? EXIT.done
}

/** An error as another thread or process gets it; an unforeseen one has its stack. */
export type PlainError =
  | (Pick<MirrorError, 'code' | 'message' | 'hint' | 'facts'> & { cause: string | undefined })
  | Pick<Error, 'message' | 'stack'>

export function plainError(thrown: unknown): PlainError {
  const error = fileLimitOr(thrown)
  if (!(error instanceof MirrorError))
    return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) }
  const { code, message, hint, facts, cause } = error
  return { code, message, hint, facts, cause: cause instanceof Error ? cause.message : undefined }
}

export function errorOf(plain: PlainError): Error {
  if (!('code' in plain)) return Object.assign(new Error(plain.message), plain)
  const { code, message, facts, hint, cause } = plain
  return new MirrorError(code, message, { facts, hint, cause: cause === undefined ? undefined : new Error(cause) })
}

/** What the system says of a file or an address, such as "no such file or directory"; else the error's own message. */
export function systemWords(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException
  return typeof errno === 'number' ? getSystemErrorMessage(errno) : message
}
