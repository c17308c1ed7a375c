// Which rows are wanted, as conditions of SQL and what is bound to them. Pure.
import type { InvalidJson } from './invalid-json.ts'

type Bound = bigint | string

/** Conditions, all of which rows must fulfil, and the values that are bound to them. */
export interface Conditions {
  readonly terms: readonly string[]
  readonly bounds: readonly Bound[]
}

export interface Filters {
  /** Lower bound of `createdAt` (inclusive), epoch ms. Tasks without an integer `createdAt` are outside any bound. */
  since?: number | null
  /** Upper bound of `createdAt` (exclusive), epoch ms. */
  until?: number | null
  /** Values of `systemStatus`; all where absent. */
  statuses?: readonly string[] | null
  /** Whether tombstones are in it; not by default. */
  includeDeleted?: boolean
  /** Only rows with a greater `change_seq`; all where absent. */
  sinceSeq?: number | null
  /** What becomes of JSON that others refuse; kept where absent. */
  invalidJson?: InvalidJson
}

/** The conditions given, without nulls. */
export function conditions(...given: ([term: string, ...bounds: Bound[]] | null)[]): Conditions {
  const some = given.filter((one) => one !== null)
  return { terms: some.map(([term]) => term), bounds: some.flatMap(([, ...bounds]) => bounds) }
}

export function rangeOf({ since, until }: Filters): Conditions {
  return conditions(
    since == null ? null : ['created_at >= ?', BigInt(since)],
    until == null ? null : ['created_at < ?', BigInt(until)],
  )
}

export function both(one: Conditions, other: Conditions): Conditions {
  return { terms: [...one.terms, ...other.terms], bounds: [...one.bounds, ...other.bounds] }
}

export function hasSinceSeq({ sinceSeq }: Filters): boolean {
  return sinceSeq != null
}

/** What rows of the range must fulfil beside being in it. */
export function wantedOf({ statuses, includeDeleted, sinceSeq }: Filters): Conditions {
  return conditions(
    includeDeleted ? null : ['deleted_at IS NULL'],
    sinceSeq == null ? null : ['change_seq > ?', BigInt(sinceSeq)],
    statuses ? [`system_status IN (${statuses.map(() => '?')})`, ...statuses] : null,
  )
}

export function whereOf(terms: readonly string[]): string {
  return terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`
}
