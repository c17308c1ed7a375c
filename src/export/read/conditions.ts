// Which rows are wanted, as conditions of SQL and what is bound to them. Pure.

export type Bound = bigint | string

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

/** What is wanted of rows in a range. */
interface Wanted {
  statuses?: readonly string[] | null
  includeDeleted?: boolean
  sinceSeq?: number | null
}

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

export function both(one: Conditions, other: Conditions): Conditions {
  return { terms: [...one.terms, ...other.terms], bounds: [...one.bounds, ...other.bounds] }
}

export function hasSince({ sinceSeq }: Wanted): boolean {
  return sinceSeq !== undefined && sinceSeq !== null
}

/** What rows of the range must fulfil beside being in it. */
export function wantedOf({ statuses, includeDeleted, sinceSeq }: Wanted): Conditions {
  const terms: string[] = []
  const bounds: (bigint | string)[] = []
  if (!includeDeleted) terms.push('deleted_at IS NULL')
  if (sinceSeq !== undefined && sinceSeq !== null) {
    terms.push('change_seq > ?')
    bounds.push(BigInt(sinceSeq))
  }
  if (statuses) {
    terms.push(`system_status IN (${statuses.map(() => '?')})`)
    bounds.push(...statuses)
  }
  return { terms, bounds }
}

export function whereOf(terms: readonly string[]): string {
  return terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`
}
