// Reads the dates of HTTP headers, strictly: `Date.parse` would take almost anything for a date. Pure.

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

// RFC 9110 section 5.6.7: the present form, and the two obsolete ones that a recipient must still accept.
const IMF_FIXDATE = /^[a-z]{3}, (?<day>\d{2}) (?<month>[a-z]{3}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/i
const RFC_850 = /^[a-z]{6,9}, (?<day>\d{2})-(?<month>[a-z]{3})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/i
const ASCTIME = /^[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/i

/** Epoch milliseconds of an HTTP date; null for anything else, 30 February included. */
export function parseHttpDate(text: string): number | null {
  const trimmed = text.trim()
  const parts = (IMF_FIXDATE.exec(trimmed) ?? RFC_850.exec(trimmed) ?? ASCTIME.exec(trimmed))?.groups
  if (parts === undefined) return null
  const month = MONTHS.indexOf(parts.month!.toLowerCase())
  const [hour, minute, second] = parts.time!.split(':').map(Number) as [number, number, number]
  const day = Number(parts.day)
  if (month < 0 || hour > 23 || minute > 59 || second > 60) return null
  const date = new Date(0)
  // Not `Date.UTC`, which takes the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(fullYear(parts.year!), month, day)
  if (date.getUTCDate() !== day) return null
  return date.setUTCHours(hour, minute, second)
}

/** Two digits are taken as 1970 to 2069. */
function fullYear(digits: string): number {
  const year = Number(digits)
  if (digits.length > 2) return year
  return year < 70 ? 2000 + year : 1900 + year
}
