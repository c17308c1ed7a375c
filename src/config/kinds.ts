// The kinds of values that a configuration may hold, and what an error says was expected.
import { z } from 'zod'
import { LONGEST_MS } from './duration.ts'
import { beginsAtHome, WHOLE_PATH } from './whole-path.ts'

export const durationMs = (least: number) => z.int().min(least).max(LONGEST_MS)
export const count = (least: number, most: number) => z.int().min(least).max(most)
export const bytes = (least: number) => z.int().min(least).max(Number.MAX_SAFE_INTEGER)
export const expecting = (what: string) => ({ error: `expected ${what}` })
/** No name of a file, cron expression or header has a NUL. */
export const text = (what?: string) =>
  z
    .string()
    .min(1, what === undefined ? what : expecting(what))
    .refine((value) => !value.includes('\0'), expecting(what ?? 'text without NUL'))

/** Of a file or folder. What else is wrong with one that begins so is not told. */
export const filePath = () => text().refine((path) => !beginsAtHome(path), { ...expecting(WHOLE_PATH), abort: true })

/** SQLite's library leaves out white space around a name, and takes one of them for no file. */
export const databaseFile = () =>
  filePath().refine(
    (name) => name === name.trim() && name !== ':memory:' && !name.endsWith('/'),
    expecting('the name of a file, without white space around it or a slash at its end'),
  )

/** Without the white space around it that a file or a secret may end with. */
export const httpUrl = (what: string) =>
  text(what)
    .trim()
    .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), expecting(what))

/** Names or addresses of hosts, without port, as the WHATWG parser writes them. */
export const hostNames = () =>
  z.array(
    z
      .string()
      .refine(
        (value) => /^[^\s/?#@\\]+$/.test(value) && URL.parse(`http://${value}/`)?.host === value,
        expecting('a host name in small letters, without port'),
      ),
  )

export function hasUserInfo(url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
