// What the parts of the writing side share: tables, rules, transactions, and the memory of one run.
import { Commits, type Gathering } from '../../mirror/commits.ts'
import type { Db } from '../../mirror/connect.ts'
import { type EvidenceTable, evidenceTable } from '../../mirror/tables/evidence.ts'
import { readFacts, writeFacts } from '../../mirror/tables/facts.ts'
import { Bits, type Marks, openMarks } from '../../mirror/tables/marks.ts'
import { type OwedReason, OwedTable } from '../../mirror/tables/owed.ts'
import { type RunCounts, type RunTable, runTable } from '../../mirror/tables/runs.ts'
import { type SetAside, setAsideTable } from '../../mirror/tables/set-aside.ts'
import { TaskTable } from '../../mirror/tables/tasks.ts'
import { type WalkTable, walkTable } from '../../mirror/tables/walks.ts'
import type { Decoded } from '../../service/service.ts'
import type { ComparedTask, FormSample } from './form-sample.ts'
import type { Intake, IntakeRules, Tables } from './intake.ts'
import type { Summary } from './prepare.ts'

/** What the main thread learns of a parsed body; `handle` names it until it is taken in or dropped. */
export interface ParsedAnswer extends Decoded {
  handle: number
}

export interface ParsedList extends ParsedAnswer, Summary {}

export interface WritingOptions {
  path: string
  command: string
  /** Epoch ms. */
  now: number
  toolVersion: string
  rejectedMaxBytes: number
  finalStatuses: string[]
  /** The longest that an open task waits for its next check, ms. */
  openEveryMs: number
  /** A stored moment later than now by more than this is unknown (clock.ts). */
  settleMs: number
  /** See `IntakeRules`. */
  asksDetails: boolean
  /** A known id with another `createdAt` or `userId` replaces the task instead of being set aside. */
  acceptOthers: boolean
  /** Windows that share a transaction. What a kill takes back is asked for again by the next run. */
  gathering: Gathering
}

/** What tells of a task that the list does not show it. */
const UNLISTED = ['candidate', 'unlisted'] as const

/** What the intakes share. */
export class Writing implements Intake {
  readonly db: Db
  readonly runId: number
  /** The latest moment that earlier runs have written down, epoch ms. */
  readonly earlierMoment: number | null
  readonly tables: Tables
  readonly rules: IntakeRules
  readonly openEveryMs: number
  readonly settleMs: number
  /** Listed items that are to be compared with their details; null where none are. */
  sample: FormSample | null = null
  /** Tasks that are being compared, by id. */
  readonly compared = new Map<string, ComparedTask>()
  readonly walks: WalkTable
  readonly evidence: EvidenceTable
  readonly runs: RunTable
  /** Seqs met in this run, whatever the walk. */
  readonly seen = new Bits()
  /** Those of them that the list has not shown, or no more since a complete full walk did not meet them. */
  readonly missed = new Set<number>()
  /** Items without a usable row that the current walk has met. */
  readonly unfitMet = new Set<string>()
  /** Where the window lay that was taken in last, and of which walk it is; null before there was one. */
  lastTaken: { walkId: number | null; skip: number; end: number } | null = null
  /** When the detail that brought the present content was asked for, by seq; an older answer never replaces it. */
  readonly detailReadAt = new Map<number, number>()
  readonly commit: Commits['commit']
  readonly gather: Commits['gather']
  readonly flush: Commits['flush']
  /** How much work there has been: pieces given to `commit` and `gather`. */
  readonly pieces: Commits['count']
  /** What the present piece of work has counted. */
  #counts: Partial<RunCounts> = {}
  #marks: { walkId: number; of: Marks } | null = null
  #broken: { error: unknown } | null = null

  /** Begins the run: its row is written. */
  constructor(db: Db, options: WritingOptions, beforeCommit: () => void) {
    const { path, command, toolVersion, now, finalStatuses, asksDetails, acceptOthers } = options
    this.db = db
    this.tables = {
      tasks: new TaskTable(db),
      owed: new OwedTable(db, options.settleMs),
      setAside: setAsideTable(db, options.rejectedMaxBytes),
    }
    this.walks = walkTable(db)
    this.evidence = evidenceTable(db)
    this.runs = runTable(db)
    const onRollback = (error: unknown) => this.#rolledBack(error)
    const commits = new Commits(db, path, options.gathering, { beforeCommit, onRollback })
    this.commit = (work) => commits.commit(() => this.#counting(work))
    this.gather = (work) => commits.gather(() => this.#counting(work))
    this.flush = () => commits.flush()
    this.pieces = () => commits.count()
    this.earlierMoment = this.runs.lastMoment()
    this.runId = this.commit(() => {
      writeFacts(db, { final_statuses: finalStatuses }, now)
      return this.runs.begin(command, toolVersion, now)
    })
    this.rules = { finalStatuses: new Set(finalStatuses), asksDetails, acceptOthers, ...formRules(db) }
    this.openEveryMs = options.openEveryMs
    this.settleMs = options.settleMs
  }

  /** Counts for the run's row, which is written at the end of the present piece of work. */
  count(what: keyof RunCounts, more = 1): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + more
  }

  /** Call in a transaction. */
  setAside(item: SetAside, now: number): void {
    if (this.tables.setAside.add(item, this.runId, now)) this.count('rejected')
  }

  /** Call it where facts have changed. */
  renewRules(): void {
    Object.assign(this.rules, formRules(this.db))
  }

  marks(walkId: number): Marks {
    if (this.#marks?.walkId !== walkId) {
      if (this.#marks !== null) this.unfitMet.clear()
      this.#marks = { walkId, of: openMarks(this.db, walkId) }
    }
    return this.#marks.of
  }

  /** How many live tasks the list shows no more, or has not shown yet, as far as walks have told. */
  unlistedCount(): number {
    const unlisted = new Bits()
    for (const { seq } of this.#unlisted()) if (!this.isMet(seq)) unlisted.add(seq)
    return unlisted.count()
  }

  /** The list shows the row. True where this run had not seen it before. */
  meet(seq: number): boolean {
    this.missed.delete(seq)
    return this.seen.add(seq)
  }

  /** Whether the list has shown the row in this run, and no complete full walk has missed it since. */
  isMet(seq: number): boolean {
    return this.seen.has(seq) && !this.missed.has(seq)
  }

  /** Forgets of what is met that the list did not show it: it is no candidate either. Call in a transaction. */
  dropListed(isMet: (seq: number) => boolean): void {
    const met: [string, OwedReason][] = []
    for (const { taskId, seq, reason } of this.#unlisted()) if (isMet(seq)) met.push([taskId, reason])
    for (const [taskId, reason] of met) this.tables.owed.settle(taskId, reason)
  }

  *#unlisted() {
    for (const reason of UNLISTED)
      for (const owed of this.tables.owed.due(reason, Number.MAX_SAFE_INTEGER)) yield { ...owed, reason }
  }

  /** Throws why windows of the present walk were rolled back: nothing may be built on them. */
  throwBroken(): void {
    if (this.#broken !== null) throw this.#broken.error
  }

  /** Another walk begins, which does not rest on what was rolled back. */
  mend(): void {
    this.#broken = null
  }

  #counting<T>(work: () => T): T {
    this.#counts = {}
    const result = work()
    if (Object.keys(this.#counts).length > 0) this.runs.count(this.runId, this.#counts)
    return result
  }

  /** Reads again what is kept in memory beside the mirror. */
  #rolledBack(error: unknown): void {
    this.#broken ??= { error }
    this.#marks = null
    const { tasks, setAside } = this.tables
    tasks.reload()
    setAside.reload()
    this.seen.dropAbove(tasks.highestSeq())
  }
}

/** The rules that follow from what is known of list and details by now. */
function formRules(db: Db): Pick<IntakeRules, 'forms' | 'comparedResults'> {
  const { summary_fields: summary = [], uneven_fields: uneven = [], forms_compared: compared } = readFacts(db)
  return { forms: { summary, uneven }, comparedResults: (compared?.final ?? 0) > 0 }
}
