// What a table lacks, beside the list it was read from. Pure.
import type { Rows } from './report.ts'

/** The rows of a table by id: status, and all values as one text. */
export type Stored = Map<string, { status: string; text: string }>

/**
 * `before` and `after` are the list with its statuses before and after the run; `digits` the numbers each row has to hold, by
 * kind.
 */
export function judged(
  stored: Stored,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  digits: ReadonlyMap<string, Record<string, string>>,
): Omit<Rows, 'run'> {
  const ids = [...after.keys()]
  const lost: Record<string, number> = {}
  for (const [id, wanted] of digits) {
    const text = stored.get(id)?.text ?? ''
    for (const [kind, number] of Object.entries(wanted)) lost[kind] = (lost[kind] ?? 0) + (holds(text, number) ? 0 : 1)
  }
  return {
    missing: ids.filter((id) => before.has(id) && !stored.has(id)).length,
    newMissing: ids.filter((id) => !before.has(id) && !stored.has(id)).length,
    stale: ids.filter((id) => stored.has(id) && stored.get(id)!.status !== after.get(id)).length,
    gone: [...stored.keys()].filter((id) => !after.has(id)).length,
    lost,
  }
}

/** Whether the text has this number with no further digit on either side. */
function holds(text: string, number: string): boolean {
  return new RegExp(`(?<![\\d.])${number.replace('.', '\\.')}(?![\\d.])`).test(text)
}
