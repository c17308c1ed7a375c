// Text as people may see it: that of third parties, counts, lists of words. Imports nothing.

/**
 * What a terminal obeys or what turns text around: C0 but line feed and tab, DEL, C1, the bidirectional controls (UAX #9),
 * line and paragraph separator, zero-width and invisible format characters.
 */
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g

/** `text` with such characters as `\u001b`: for everything printed. JSON text stays equal as JSON. */
export function printable(text: string): string {
  return text.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** 12345 is "12,345". */
export function grouped(value: number | bigint): string {
  // The language's own way loads its tables first: 10 ms of a run that takes 200.
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

/** `text` as one word of a shell, in quotes where it needs any. */
export function shellWord(text: string): string {
  if (/^[\w./@%+:,-][\w./@%+=:,-]*$/.test(text)) return text
  return /'/.test(text) && !/["$`\\!]/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`
}

/** How this program is called by whoever runs it: what is printed to be typed next has to work as it stands. */
export function calledAs(env: NodeJS.ProcessEnv): string {
  // npm tells what it starts which of its own commands it is; the program may then be in no PATH but npm's.
  return env.npm_command === undefined ? 'task-mirror' : 'npx task-mirror'
}

/** `text` for people, with the commands in it as `command`, by which this program is called. */
export function asCalled(text: string, command: string): string {
  return text.replaceAll('`task-mirror ', `\`${command} `)
}

/** Of a run, newest first: one without an outcome is over as soon as another has begun, since runs hold a lock. */
export function runOutcome(outcome: string | null, index: number): string {
  return outcome ?? (index === 0 ? 'running or killed' : 'killed')
}

/** How several values of `flag` are written, for a `value` with a comma, which may be meant; else nothing. */
export function severalText(flag: string, value: string): string {
  return value.includes(',') ? ` Several are written ${flag} ${value.replace(/[\s,]+/g, ' ').trim()}.` : ''
}

/** As the command line has it: `withMeta` is `--with-meta`. */
export function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
