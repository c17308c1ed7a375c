// The result of one check of `doctor`. Pure.
import { withoutPasswords } from '../shown.ts'

export type CheckName =
  | 'node'
  | 'configuration'
  | 'key file'
  | 'folder'
  | 'mirror'
  | 'file system'
  | 'disk'
  | 'WAL'
  | 'service'
  | 'key'
  | 'clock'
  | 'schedule'
  | 'last run'
  | 'verdict'

export interface Check {
  name: CheckName
  /** `note`: nothing is wrong, but there is something to know, or no answer. Only `wrong` counts for the exit code. */
  state: 'ok' | 'note' | 'wrong'
  /** What was seen, one line. */
  found: string
  /** What to do, one line; null where nothing is to be done. */
  todo: string | null
}

/** Longest `found`, in characters. `todo` may hold a command, so it is never cut. */
const LONGEST = 400

/** Text from others may hold line breaks, with which it could pass for another check, and passwords. */
const shownText = (text: string): string =>
  withoutPasswords(text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim())

function check(name: CheckName, state: Check['state'], found: string, todo: string | null): Check {
  const seen = shownText(found)
  const short = seen.length > LONGEST ? `${seen.slice(0, LONGEST - 1)}…` : seen
  return { name, state, found: short, todo: todo === null ? null : shownText(todo) }
}

export const ok = (name: CheckName, found: string): Check => check(name, 'ok', found, null)
export const note = (name: CheckName, found: string, todo: string | null = null): Check =>
  check(name, 'note', found, todo)
export const wrong = (name: CheckName, found: string, todo: string): Check => check(name, 'wrong', found, todo)

/** A check that failed with an error, in the words that the error has for users. */
export function wrongBy(name: CheckName, { message, hint }: { message: string; hint?: string | undefined }): Check {
  return wrong(name, message, hint ?? 'Run it again with --log-level debug to see more.')
}
