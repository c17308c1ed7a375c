// When a job is due: a cron expression in a time zone, read by croner. Pure; moments are epoch ms.
import { Cron } from 'croner'
import { MirrorError } from '../errors.ts'

export interface Timetable {
  /** The first moment after `ms`; null where none follows. */
  next(ms: number): number | null
  /** The last moment before `ms`; null where there was none. */
  previous(ms: number): number | null
}

/** After a long sleep, at most this many moments are counted one by one. */
const MOST_COUNTED = 1000

/** Throws `config-invalid` that names `key` where croner cannot read `expression`. */
export function makeTimetable(expression: string, timezone: string, key: string): Timetable {
  let cron: Cron
  try {
    cron = new Cron(expression, { timezone, paused: true })
  } catch (error) {
    throw new MirrorError('config-invalid', `${key}: "${expression}" is not a cron expression: ${explain(error)}`, {
      hint: 'Usually five fields: minute, hour, day of month, month, day of week. "*/5 * * * *" is every five minutes, null is never.',
    })
  }
  return {
    next: (ms) => cron.nextRun(new Date(ms))?.getTime() ?? null,
    previous: (ms) => cron.previousRuns(1, new Date(ms))[0]?.getTime() ?? null,
  }
}

/** The message without the class name that croner puts in front. */
function explain(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^Cron\w*: /, '') : String(error)
}

/** How many moments lie between `due` and `now`, and the first one after `now`. */
export function passedMoments(timetable: Timetable, due: number, now: number): { count: number; next: number | null } {
  let count = 0
  let at: number | null = due
  while (at !== null && at <= now && count < MOST_COUNTED) {
    count += 1
    at = timetable.next(at)
  }
  return { count, next: at !== null && at <= now ? timetable.next(now) : at }
}

/**
 * Tells how old, ms, what is made anew at the moments of `timetable` may be at `now`: as long as the last three pauses
 * took, or longer while a long one goes on, as at night; null where there were no three pauses.
 */
export function allowedAge(timetable: Timetable): (now: number) => number | null {
  /** The last moments up to `now`, the latest first, and the next one: looked up once for all that ask before that. */
  let known: { last: number[]; until: number } | null = null
  return (now) => {
    if (known === null || now < (known.last[0] ?? Number.NEGATIVE_INFINITY) || now >= known.until)
      known = around(timetable, now)
    const [latest, , third, fourth] = known.last
    if (latest === undefined || third === undefined || fourth === undefined) return null
    return Math.max(latest - fourth, now - third)
  }
}

function around(timetable: Timetable, now: number): { last: number[]; until: number } {
  const last: number[] = []
  for (let at = timetable.previous(now + 1); at !== null && last.length < 4; at = timetable.previous(at)) last.push(at)
  return { last, until: timetable.next(now) ?? Number.POSITIVE_INFINITY }
}
