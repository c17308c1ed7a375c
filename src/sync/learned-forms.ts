// What a comparison of listed tasks with their details adds to the facts of the service. Pure.
import type { JudgedSample } from '../mirror/forms/form-votes.ts'
import type { Forms } from '../mirror/forms/forms.ts'
import type { Facts } from '../mirror/tables/facts.ts'

/** Bytes of the longest listed `result.body` and `data.body`. */
export type LongestBodies = NonNullable<Facts['forms_compared']>['longest']

/** At most so many signs are told apart. */
export const MOST_SIGNS = 16

interface Comparison extends JudgedSample {
  /** Epoch ms. */
  at: number
  /** Enough of it was answered; otherwise the next full walk compares again. */
  isTold: boolean
  /** Of the tasks that were answered. */
  bodies: LongestBodies[]
  signs: string[]
}

/** The facts that a comparison changes. */
export function learnedBy(
  { at, isTold, final, open, unfinished, forms, bodies, signs }: Comparison,
  known: Facts,
): Facts {
  const before = known.forms_compared ?? { final: 0, open: 0, longest: { result: 0, data: 0 }, signs: [] }
  const longest = {
    result: Math.max(before.longest.result, ...bodies.map(({ result }) => result)),
    data: Math.max(before.longest.data, ...bodies.map(({ data }) => data)),
  }
  const told = [...new Set([...(before.signs ?? []), ...signs])].slice(0, MOST_SIGNS)
  const isCounted = isTold && final + open + unfinished > 0
  return {
    forms_compared: isCounted
      ? { at, final: before.final + final, open: before.open + open, longest, signs: told }
      : known.forms_compared,
    ...fieldFacts(forms, known),
  }
}

/** Fields in which the list is a summary, or uneven. The next sync looks for rows that owe a detail because of them. */
export function fieldFacts({ summary, uneven }: Forms, known: Facts): Facts {
  const isNew = JSON.stringify(summary) !== JSON.stringify(known.summary_fields ?? [])
  return {
    ...(isNew ? { summary_fields: summary, summary_sweep: 1 } : {}),
    uneven_fields: uneven.length > 0 ? uneven : undefined,
  }
}
