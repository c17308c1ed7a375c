// The words of the domain: what the service sends and what the mirror keeps. task/columns.ts has the columns of a task.

/** Any value that JSON text can hold. A number that a double cannot hold is a `RawNumber`. */
export type JsonValue = string | number | boolean | null | RawNumber | JsonValue[] | JsonObject
export interface JsonObject {
  [name: string]: JsonValue
}

/** A number kept by its digits, from `JSON.rawJSON(source)`; `JSON.stringify` writes the digits back. */
export interface RawNumber {
  readonly rawJSON: string
}

/** A task as the service sends it. Only `id` is relied on; any other field may be missing, null or of another type. */
export interface Task extends JsonObject {
  id: string
}

export type { Integer, TaskRow } from './task/columns.ts'

/** The `createdAt` of a listed item, epoch milliseconds; null where it is no integer. */
export type Moment = number | null

/** What a walk can prove. */
export type Verdict = 'complete' | 'partial'

/** How a run ended. */
export type Outcome = 'ok' | 'partial' | 'failed' | 'interrupted'

/** The order that neighbours in a list show (design.md 6.2); `updated_desc`: tasks that are written come first. */
export type Order = 'created_desc' | 'created_asc' | 'id_asc' | 'id_desc' | 'updated_desc' | 'none'
