// The words of the domain: what the service sends and what the mirror keeps. The columns of a task are told in task/columns.ts.

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

export type { Integer, TaskRow } from './task/columns.ts'

/** The moment of an item in the list, epoch milliseconds; null where it has no integer `createdAt`. */
export type Moment = number | null

/** What a walk can prove. */
export type Verdict = 'complete' | 'partial'

/** How a run ended. */
export type Outcome = 'ok' | 'partial' | 'failed' | 'interrupted'

/** What neighbours in a list show (design.md 6.2); `updated_desc`: what is written to comes to the front. */
export type Order = 'created_desc' | 'created_asc' | 'id_asc' | 'id_desc' | 'updated_desc' | 'none'
