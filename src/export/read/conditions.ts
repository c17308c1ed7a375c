// Which rows are wanted, as conditions of SQL and what is bound to them. Pure.
import type { InvalidJson } from './invalid-json.ts'

export type Bound = bigint | string

/** What rows must fulfil, all of it, and what is bound to that. */
export interface Conditions {
  readonly terms: readonly string[]
  readonly bounds: readonly Bound[]
}

export interface Filters {
  /** Lower bound of `createdAt` (inclusive), epoch ms. Tasks without an integer `createdAt` are outside any bound. */
  since?: number | bigint | null
  /** Upper bound of `createdAt` (exclusive), epoch ms. */
  until?: number | bigint | null
  /** Values of `systemStatus`; all where absent. */
  statuses?: readonly string[] | null
  /** Whether tombstones are in it; not by default. */
  includeDeleted?: boolean
  /** Only rows with a greater `change_seq`; all where absent. */
  sinceSeq?: number | null
  /** What becomes of JSON that others refuse; kept where absent. */
  invalidJson?: InvalidJson
}

export function rangeOf({ since, until }: Filters): Conditions {
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

export function hasSince({ sinceSeq }: Filters): boolean {
  return sinceSeq !== undefined && sinceSeq !== null
}

/** What rows of the range must fulfil beside being in it. */
export function wantedOf({ statuses, includeDeleted, sinceSeq }: Filters): Conditions {
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
