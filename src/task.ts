// The words of the domain: what the service sends and what the mirror keeps. Imports nothing.

/** Any value that JSON text can hold. A number that a double cannot carry is kept as `JSON.rawJSON`, see `RawNumber`. */
export type JsonValue = string | number | boolean | null | RawNumber | JsonValue[] | JsonObject
export interface JsonObject {
  [name: string]: JsonValue
}

/** A number kept by its own digits: what `JSON.rawJSON(source)` gives. `JSON.stringify` writes the digits back. */
export interface RawNumber {
  readonly rawJSON: string
}

/** A task as the service sends it. Only `id` is relied upon; every other field may be absent, null or of another type. */
export interface Task extends JsonObject {
  id: string
}

/** A whole number as SQLite keeps it: a `number` within ±(2^53 - 1), a `bigint` up to 64 bit. */
export type Integer = number | bigint

/**
 * A task shaped into the columns of `tasks`; the keys are the column names.
 * Columns plus `extra` give the task back exactly (design.md section 5).
 */
export interface TaskRow {
  id: string
  user_id: string | null
  system_status: string | null
  accuracy: string | null
  timeframe: Integer | null
  /** As sent, epoch milliseconds. */
  created_at: Integer | null
  /** As sent, epoch milliseconds. */
  completed_at: Integer | null
  data_method: string | null
  data_url: string | null
  data_body: string | null
  /** JSON text. */
  data_header: string | null
  result_status_code: Integer | null
  result_status_text: string | null
  /** JSON text. */
  result_header: string | null
  /** JSON text. */
  result_body: string | null
  /** JSON text laid over the columns: only what they cannot hold; null for an ordinary task. */
  extra: string | null
}

/** The moment of an item in the list, epoch milliseconds; null where it has no integer `createdAt`. */
export type Moment = number | null

/** What a walk can prove. */
export type Verdict = 'complete' | 'partial'

/** How a run ended. */
export type Outcome = 'ok' | 'partial' | 'failed' | 'interrupted'

/**
 * What all neighbouring pairs of a walk show (design.md 6.2); `updated_desc`: what is new or was written to comes to the
 * front, as walk after walk shows (sync/steps/front.ts).
 */
export type Order = 'created_desc' | 'created_asc' | 'id_asc' | 'id_desc' | 'updated_desc' | 'none'
