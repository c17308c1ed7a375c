// Text for people: text of third parties, counts, lists of words. Imports nothing.

/**
 * What controls a terminal or changes the direction of text: C0 except line feed and tab, DEL, C1, the bidirectional
 * controls (UAX #9), line and paragraph separator, zero-width and invisible format characters.
 */
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g

/** `text` with such characters written as `\u001b`; for everything printed. As JSON, the text means the same. */
export function printable(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** `text`, a message, with what may be user and password of a URL masked, as in `s3://KEY:SECRET@bucket`. */
export function withoutPasswords(text: string): string {
  return text.replace(/\S+/g, (word) => {
    const from = word.search(/(?<!\bfile):\/\/|(?<=\bs3):/i)
    const to = word.lastIndexOf('@')
    return from < 0 || to < from ? word : `${word.slice(0, from)}://[masked]${word.slice(to)}`
  })
}

/** Characters of text of others in a message of one line. */
const MOST_CHARACTERS = 120

/** `text` as part of one line, cut short: printable ASCII stays, each run of anything else becomes one `?`. */
export function oneLine(text: string): string {
  const short = text.slice(0, MOST_CHARACTERS)
  return short.replace(/[^\x20-\x7e]+/g, '?') + (text.length > MOST_CHARACTERS ? '...' : '')
}

/** 12345 is "12,345". */
export function grouped(value: number | bigint): string {
  // `toLocaleString` first loads its tables: 10 ms of a run that takes 200.
  return typeof value === 'bigint' || Number.isInteger(value)
    ? String(value).replace(/\B(?=(\d{3})+$)/g, ',')
    : value.toLocaleString('en-US')
}

/** "1 task", "12,345 tasks". */
export function countText(value: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(value)} ${value === 1 ? noun : plural}`
}

/** "2026-11-20 06:24:00 UTC". */
export function moment(ms: number): string {
  const iso = new Date(ms).toISOString()
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`
}

/** Such as "a, b or c". */
export function listed(words: readonly string[], conjunction: 'and' | 'or'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`
}

/** `text` as one word of a shell, quoted where needed. */
export function shellWord(text: string): string {
  if (/^[\w./@%+:,-][\w./@%+=:,-]*$/.test(text)) return text
  return /'/.test(text) && !/["$`\\!]/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`
}

/** How the user calls this program, so that commands that are printed work when typed. */
export function calledAs(env: NodeJS.ProcessEnv): string {
  // npm names its own command to the programs it starts; this one may then be in no PATH but npm's.
  return env.npm_command === undefined ? 'task-mirror' : 'npx task-mirror'
}

/** `text` for people, with commands in it as the user calls this program (`command`). */
export function asCalled(text: string, command: string): string {
  return text.replaceAll('`task-mirror ', `\`${command} `)
}

/** Outcome of a run by its index from the newest. Runs hold a lock: an older one without an outcome was killed. */
export function runOutcome(outcome: string | null, index: number): string {
  return outcome ?? (index === 0 ? 'running or killed' : 'killed')
}

/** How to give several values of `flag`, where `value` has a comma and may mean that; else nothing. */
export function severalText(flag: string, value: string): string {
  return value.includes(',') ? ` Several are written ${flag} ${value.replace(/[\s,]+/g, ' ').trim()}.` : ''
}

/** An option as a flag: `withMeta` is `--with-meta`. */
export function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
