// What has been learned of the service and of this mirror: small JSON values by name.
import { ageOf, DAY_MS } from '../../clock.ts'
import type { Order } from '../../task.ts'
import type { Db } from '../connect.ts'
import { storedJson } from '../explain.ts'
import type { SummaryField, UnevenField } from '../forms/forms.ts'
import { writeOne } from './statements.ts'

/** Every fact by name; times are epoch ms. Absent: not observed yet. */
export interface Facts {
  base_url?: string
  /** Makes the fingerprint of the key useless outside this mirror. */
  key_salt?: string
  key_fingerprint?: string
  /** Order of the list as the last complete walk showed it. */
  order?: Order
  /** Largest inversion of createdAt seen in created order, ms. */
  inversion_ms?: number
  /** The frontier: everything created before it that the service lists has been met. */
  frontier?: number
  /** Items in the list when its end was last proven, but for those that the walk did not meet. */
  total?: number
  /** So many rows of listed tasks the mirror held then (absent: `total`): what more it holds has come in since. */
  total_rows?: number
  /** The last item of the list when its end was last proven. */
  last_id?: string
  /** The first list answers of the last run: a later one with the same Date comes from a cache. Times are epoch ms. */
  first_answers?: {
    question: string
    serviceDate: number | null
    bytes: number
    startedAt: number
    receivedAt: number
  }[]
  /** While the list is empty or much shorter than `total`: how many items it held at least; else absent. */
  shrunk_to?: number
  /** The most items that an answer held, where some were cut: a complete full walk in which none was forgets it. */
  page_cap?: number
  /** Mean size of a listed item, bytes; that of the first window until a full walk has been complete. */
  item_bytes?: number
  /** Pages are filtered after paging: an empty answer may lie amid the list. Until a full walk meets all. */
  filtered_pages?: boolean
  /** Tasks of equal createdAt do not stand in the order of their ids. */
  ties_unordered?: boolean
  /**
   * Ids that stood first at a walk that met everything, in list order, so long before the last such walk that all
   * updates until then were listed; of earlier versions of unknown age. `front_at`: when they had been seen, epoch ms.
   */
  front?: string[]
  front_at?: number
  /** Ids that stood first at a later walk: they become `front` once they are old enough. */
  front_next?: { ids: string[]; at: number }
  /** An open task was seen in front of a final one: open tasks do not all stand behind. */
  open_in_front?: boolean
  /** A final task was seen in front of an open one: open tasks do not all stand in front. */
  final_in_front?: boolean
  /** Fields of which details hold more than the list. */
  summary_fields?: SummaryField[]
  /** Fields that differ between list and detail, or from read to read, without a change of the task. */
  uneven_fields?: UnevenField[]
  /**
   * When list and details were compared last, how many final and open tasks so far, and the most of each sign that the
   * list shows less (form-sample.ts): bytes of the bodies, and 1 for all others. Builds before 1.0.0 kept no signs.
   */
  forms_compared?: { at: number; final: number; open: number; longest?: Record<string, number> }
  /** Rows from this seq on have yet to be checked for details that are owed because of `summary_fields`. */
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

/** What the values of `timeframe` look like. Their meaning is not documented: what follows from them is inferred. */
export interface TimeframeFinding {
  /** They read as moments, epoch ms. */
  isMoment: boolean
  /** Tasks with integers as `timeframe` and `createdAt`, and the share of them whose `timeframe` is later, 0 to 1. */
  tasks: number
  afterCreated: number
  /** Of these, tasks that have ended, and the share that did so within a day of it. */
  ended: number
  nearCompleted: number
}

export function readFacts(db: Db): Facts {
  const rows = db.prepare('SELECT key, value FROM service_facts').all() as { key: string; value: string }[]
  return Object.fromEntries(rows.map(({ key, value }) => [key, storedJson(value)])) as Facts
}

/** A wait that the service asked for is kept for no longer than this. */
export const LONGEST_KEPT_WAIT_MS = DAY_MS

/** The facts but those that rest on a moment in the future: a clock was wrong when they were observed, or is now. */
export function believedFacts(db: Db, now: number, settleMs: number): Facts {
  const facts = readFacts(db)
  const observedAt = db.prepare('SELECT observed_at FROM service_facts WHERE key = ?').pluck()
  for (const name of ['frontier', 'not_before', 'front_at'] as const) {
    const value = facts[name]
    if (value === undefined) continue
    const moment = name === 'not_before' ? value - LONGEST_KEPT_WAIT_MS : value
    const stored = observedAt.get(name) as number
    if (ageOf(moment, now, settleMs) !== null && ageOf(stored, now, settleMs) !== null) continue
    delete facts[name]
    // Nobody knows what has been written to since the front was read: only a full walk can tell.
    if (name === 'front_at') delete facts.front
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
