// What has been learned of the service and of this mirror: small JSON values by name.
import { ageOf } from '../../clock.ts'
import type { Db } from '../connect.ts'
import type { Forms, SummaryField, UnevenField } from '../forms/forms.ts'
import { storedJson } from '../stored-json.ts'
import { writeOne } from './statements.ts'

/** Every fact by name; times are epoch ms. Absent: not observed yet. */
export interface Facts {
  base_url?: string
  /** Makes the fingerprint of the key useless outside this mirror. */
  key_salt?: string
  key_fingerprint?: string
  /** Order of the list as the last complete walk showed it. */
  order?: import('../../task.ts').Order
  /** Largest inversion of createdAt seen in created order, ms. */
  inversion_ms?: number
  /** The frontier: everything created before it that the service lists has been met. */
  frontier?: number
  /** So many items the list holds at most if all that is new has been met: when its end was last proven, and what came in since. */
  total?: number
  /** Number of items in the list when its end was last proven; what leaves it at one end as others come in at the other adds nothing. */
  total_proven?: number
  /** The last item of the list when its end was last proven. */
  last_id?: string
  /** The first windows of the last run, as they came: the same Date later means that a cache answered. Epoch ms. */
  first_answers?: {
    question: string
    serviceDate: number | null
    bytes: number
    startedAt: number
    receivedAt: number
  }[]
  /** How many items the list held at least when it was last empty or much shorter than `total_proven`; absent once it is not. */
  shrunk_to?: number
  /** Largest number of items an answer held where more were asked for and more were there. */
  page_cap?: number
  /** Mean size of a listed item, bytes; of the first window, until a full walk has been complete. */
  item_bytes?: number
  /** Pages are filtered after paging: an empty answer may lie in the middle of the list. */
  filtered_pages?: boolean
  /**
   * Ids that stood first when everything in the list had been met, in list order, so long before it was met last that by then whatever
   * had been written to was listed; of earlier versions of unknown age. `front_at`: by when they had been seen, epoch ms.
   */
  front?: string[]
  front_at?: number
  /** Those that stood first later. */
  front_next?: { ids: string[]; at: number }
  /** An open task was seen in front of a final one: open tasks do not all stand behind. */
  open_in_front?: boolean
  /** A final task was seen in front of an open one: open tasks do not all stand in front. */
  final_in_front?: boolean
  /** Whether listed items carry everything the detail carries. */
  list_whole?: boolean
  /** Fields of which details hold more than the list. */
  summary_fields?: SummaryField[]
  /** Fields that differ between list and detail, or from read to read, without a change of the task. */
  uneven_fields?: UnevenField[]
  /**
   * When list and details were compared last, how many final and open tasks so far, the longest bodies of them, bytes, and what
   * in them may say that the list shows less.
   */
  forms_compared?: {
    at: number
    final: number
    open: number
    longest: { result: number; data: number }
    signs?: string[]
  }
  /** Rows from this seq on are still to be looked through for details that are owed by `summary_fields`. */
  summary_sweep?: number
  /** The service asked to be left alone until then. */
  not_before?: number
  /** `sync.finalStatuses` of the last run: the view task_overview reads it. */
  final_statuses?: string[]
  /** Whether `timeframe` reads as a moment: views and report tell lateness by it. */
  timeframe?: TimeframeFinding
  /** Answers to the questions of `probe`. */
  probe?: unknown
}

/** What the values of `timeframe` look like. What they mean is not documented: whatever follows from them is inferred. */
export interface TimeframeFinding {
  /** They read as moments, epoch ms. */
  isMoment: boolean
  /** Tasks with integers as `timeframe` and `createdAt`, and of these the share for which it lies after `createdAt`, 0 to 1. */
  tasks: number
  afterCreated: number
  /** Of these, tasks that have ended, and the share that did so within a day of it. */
  ended: number
  nearCompleted: number
}

/** How list and details differ, as far as is known. */
export function formsOf({ summary_fields: summary = [], uneven_fields: uneven = [] }: Facts): Forms {
  return { summary, uneven }
}

export function readFacts(db: Db): Facts {
  const rows = db.prepare('SELECT key, value FROM service_facts').all() as { key: string; value: string }[]
  return Object.fromEntries(rows.map(({ key, value }) => [key, storedJson(value)])) as Facts
}

/** No wait that a service asked for is kept for longer. */
export const LONGEST_KEPT_WAIT_MS = 86_400_000

/** The facts without those that hang on a moment in the future: a clock was wrong when they were observed, or is now. */
export function believedFacts(db: Db, now: number, settleMs: number): Facts {
  const facts = readFacts(db)
  const observedAt = db.prepare('SELECT observed_at FROM service_facts WHERE key = ?').pluck()
  for (const name of ['frontier', 'not_before'] as const) {
    const value = facts[name]
    if (value === undefined) continue
    const moment = name === 'not_before' ? value - LONGEST_KEPT_WAIT_MS : value
    const stored = observedAt.get(name) as number
    if (ageOf(moment, now, settleMs) === null || ageOf(stored, now, settleMs) === null) delete facts[name]
  }
  return facts
}

/** Stores what is given; a value of `undefined` forgets the fact. Call inside a transaction or alone. */
export function writeFacts(db: Db, facts: Facts, now: number): void {
  const put = db.prepare(
    `INSERT INTO service_facts (key, value, observed_at) VALUES (?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, observed_at = excluded.observed_at`,
  )
  const forget = db.prepare('DELETE FROM service_facts WHERE key = ?')
  for (const [key, value] of Object.entries(facts)) {
    if (value === undefined) forget.run(key)
    else writeOne(put, key, JSON.stringify(value), now)
  }
}
