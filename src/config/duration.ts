// Reads what people write for durations and moments: `50m`, `7d`, `2026-11-01`. Pure; now is an argument.
import { MirrorError } from '../errors.ts'

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** `setTimeout` fires at once beyond 2^31 - 1 ms, so no duration of the configuration may pass that (about 24 days). */
export const LONGEST_MS = 2_147_483_647

/** Milliseconds of `90s`, `50m`, `1h30m`, `7d`, `250ms`. A number needs a unit. Throws `usage-invalid`. */
export function parseDuration(text: string, name: string): number {
  const trimmed = text.trim()
  const ms = durationIn(trimmed)
  if (ms === null) {
    const problem = /^\d+(\.\d+)?$/.test(trimmed) ? 'has no unit' : 'is not a duration'
    throw new MirrorError('usage-invalid', `${name}: "${text}" ${problem}`, {
      hint: 'Write a number with ms, s, m, h, d or w, such as 90s, 50m or 7d.',
    })
  }
  if (Number.isSafeInteger(ms)) return ms
  throw new MirrorError('usage-invalid', `${name}: "${text}" is out of range`, { hint: 'Write a shorter one.' })
}

/** null where `text` is no duration. */
function durationIn(text: string): number | null {
  if (text === '0') return 0
  const parts = text.match(/\d+(?:\.\d+)?(?:ms|[smhdw])/g) ?? []
  if (parts.length === 0 || parts.join('') !== text) return null
  const sum = parts.reduce((total, part) => {
    const unit = part.replace(/[\d.]/g, '') as keyof typeof UNIT_MS
    return total + Number.parseFloat(part) * UNIT_MS[unit]
  }, 0)
  return Math.round(sum)
}

/** A month, a day or a time of a day. How JavaScript reads any other form depends on the machine's time zone. */
const MOMENT = /^(\d{4}-\d{2}(?:-\d{2})?)(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|[+-]\d{2}:?\d{2})?)?$/i

/** Epoch ms of an ISO date or time (UTC without zone), of epoch ms, or of an age (`7d`). Throws `usage-invalid`. */
export function parseMoment(text: string, name: string, now: number): number {
  const trimmed = text.trim()
  if (/^-?\d+$/.test(trimmed)) {
    const value = Number(trimmed)
    // A positive one has 13 digits (2001 to 2286); others are seconds, a date without dashes, an age without a unit.
    if (value > 0 ? value >= 1e12 && value < 1e13 : Number.isSafeInteger(value)) return value
    if (value >= 1e9 && value < 1e10) {
      throw new MirrorError('usage-invalid', `${name}: ${trimmed} looks like seconds`, {
        hint: `Epoch times are milliseconds: write ${value}000.`,
      })
    }
  } else if (/^\d{4}-/.test(trimmed)) {
    const [, date = '', time, zone = 'Z'] = MOMENT.exec(trimmed) ?? []
    const moment = Date.parse(time === undefined ? date : `${date}T${time}${zone}`)
    if (!Number.isNaN(moment) && isInCalendar(date)) return moment
  } else {
    const age = durationIn(trimmed)
    if (age !== null && Number.isSafeInteger(age)) return now - age
  }
  throw new MirrorError('usage-invalid', `${name}: "${text}" is not a moment`, {
    hint: 'Write 2026-11-01, 2026-11-01T12:00Z, epoch milliseconds (13 digits), or how long ago, such as 7d.',
  })
}

/** As `parseMoment`, but the moment must not be in the future. Throws `usage-invalid`. */
export function parsePast(text: string, name: string, now: number): number {
  const moment = parseMoment(text, name, now)
  if (moment <= now) return moment
  throw new MirrorError('usage-invalid', `${name}: "${text}" is in the future`, {
    hint: 'Name an earlier moment, or how long ago, such as 90d.',
  })
}

/** Checked because JavaScript takes 30 February for 2 March. */
function isInCalendar(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})/.exec(text) ?? []
  if (day === undefined) return true
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
}
