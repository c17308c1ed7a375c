// What the parts of the writing side share: tables, rules and the memory of one run.

import type { Db } from '../../mirror/connect.ts'
import type { SampledForms } from '../../mirror/forms/form-votes.ts'
import type { EvidenceTable } from '../../mirror/tables/evidence.ts'
import type { Bits, Marks } from '../../mirror/tables/marks.ts'
import type { RunTable } from '../../mirror/tables/runs.ts'
import type { WalkTable } from '../../mirror/tables/walks.ts'
import type { FormSample, LongestBodies } from './form-sample.ts'
import type { IntakeRules, Tables } from './intake.ts'
import type { Summary } from './prepare.ts'

/** What main learns of a parsed body; `handle` names it until it is taken in or dropped. */
export interface ParsedAnswer {
  handle: number
  statusCode: number | null
  message: string | null
  hasPayload: boolean
  /** Items in it. */
  count: number
}

export interface ParsedList extends ParsedAnswer, Summary {}

/** What the intakes share. */
export interface Writing {
  db: Db
  runId: number
  tables: Tables
  rules: IntakeRules
  /** The longest that an open task waits for its next check, ms. */
  openEveryMs: number
  /** Listed items that are to be compared with their details. */
  sample: FormSample
  /** Tasks that are being compared, by id: as they were listed (first with bodies so long), and what their details showed. */
  compared: Map<string, SampledForms & { bodies: LongestBodies }>
  walks: WalkTable
  evidence: EvidenceTable
  runs: RunTable
  /** Seqs met in this run, whatever the walk. */
  seen: Bits
  /** Items without a usable row that the current walk has met. */
  unfitMet: Set<string>
  /** When the detail that brought the present content was asked for, by seq; an older answer never replaces it. */
  detailReadAt: Map<number, number>
  marks(walkId: number): Marks
  /** How much work there has been: pieces given to `commit` and `gather`. */
  pieces(): number
  commit<T>(work: () => T): T
  /** A commit that may come with the next ones, see `Commits`. */
  gather<T>(work: () => T): T
  /** Throws what windows of the present walk were rolled back for: nothing may be built on them. */
  throwBroken(): void
  /** Another walk begins. */
  mend(): void
}
