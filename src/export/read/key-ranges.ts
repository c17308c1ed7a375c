// Key ranges of a cut in the order `created_at, id`, and the conditions on their rows. Pure; rows.ts looks things up.

/** A row's place in the order of `created_at, id`. */
export interface Place {
  createdAt: bigint | null
  id: string
}

/** The rows behind `after` (null: from the first), up to and with the one at `upTo` (null: to the last). */
export interface KeyRange {
  after: Place | null
  upTo: Place | null
}

type Bound = bigint | string

/** What rows must fulfil, all of it, and what is bound to that. */
export interface Conditions {
  readonly terms: readonly string[]
  readonly bounds: readonly Bound[]
}

/** Half-open bounds of `createdAt`, epoch ms. */
interface MomentRange {
  since?: number | bigint | null
  until?: number | bigint | null
}

/** Below every other `created_at` there can be. */
const LEAST_INTEGER = -(2n ** 63n)

export function rangeOf({ since, until }: MomentRange): Conditions {
  const terms: string[] = []
  const bounds: Bound[] = []
  for (const [term, bound] of [
    ['created_at >= ?', since],
    ['created_at < ?', until],
  ] as const) {
    if (bound === undefined || bound === null) continue
    terms.push(term)
    bounds.push(BigInt(bound))
  }
  return { terms, bounds }
}

/** The conditions of a key range, as one after another goes by the index: rows without `createdAt` come first. */
export function conditionsOf({ after, upTo }: KeyRange, range: Conditions): Conditions[] {
  const found: Conditions[] = []
  function add(...conditions: ([string, Bound[]] | null)[]): void {
    const given = conditions.filter((condition) => condition !== null)
    found.push({
      terms: [...range.terms, ...given.map(([term]) => term)],
      bounds: [...range.bounds, ...given.flatMap(([, bounds]) => bounds)],
    })
  }
  if (after === null || after.createdAt === null) {
    const isLast = upTo !== null && upTo.createdAt === null
    add(
      ['created_at IS NULL', []],
      after === null ? null : ['id > ?', [after.id]],
      isLast ? ['id <= ?', [upTo.id]] : null,
    )
    if (isLast) return found
  }
  const isBehind = after !== null && after.createdAt !== null
  add(
    isBehind
      ? ['(created_at, id) > (?, ?)', [after.createdAt as bigint, after.id]]
      : ['created_at >= ?', [LEAST_INTEGER]],
    upTo === null ? null : ['(created_at, id) <= (?, ?)', [upTo.createdAt as bigint, upTo.id]],
  )
  return found
}

/** What the index of `created_at, id` tells without reading rows. */
interface Index {
  /** The place of the `nth` row, from 1, of those that fulfil `conditions`; null where there are fewer. */
  place(conditions: Conditions, nth: number): Place | null
  count(conditions: Conditions): number
}

/** Divides the rows of `range` into key ranges of `rows` rows, found as they are asked for. */
export function* keyRangesOf(index: Index, range: Conditions, rows: number): Generator<KeyRange, void, void> {
  for (let after: Place | null = null; ; ) {
    const upTo = placeBehind(index, range, after, rows)
    yield { after, upTo }
    if (upTo === null) return
    after = upTo
  }
}

/** The place of the `rows`th row behind `after`; null where there are fewer. */
function placeBehind(index: Index, range: Conditions, after: Place | null, rows: number): Place | null {
  let left = rows
  for (const conditions of conditionsOf({ after, upTo: null }, range)) {
    const found = index.place(conditions, left)
    if (found !== null) return found
    left -= index.count(conditions)
  }
  return null
}
