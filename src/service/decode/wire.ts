// From bytes to tasks, digit for digit; what cannot be a task comes back as raw text. No content goes into an error.
import { isUtf8 } from 'node:buffer'
import { MirrorError } from '../../errors.ts'
import { isRaw, parseValid } from '../../json.ts'
import type { JsonObject, JsonValue, Task } from '../../task.ts'
import type { Decoded } from '../service.ts'
import { OPEN_LIST, OPEN_OBJECT } from './json-bytes.ts'
import { elementsAt, isJson, membersAt, type Span, spaceEnd, spanAt } from './json-scan.ts'

/** Why an item cannot be taken in: stable codes, kept in `rejected_items.reason`. */
type UnfitReason = 'not-an-object' | 'no-id' | 'id-malformed' | 'id-too-long' | 'too-deep' | 'too-many-values'

/** An item that is to be set aside. */
export interface UnfitItem {
  kind: 'unfit'
  reason: UnfitReason
  message: string
  /** The item's own text exactly as sent. */
  raw: string
  /** Null unless the item has a usable id. */
  taskId: string | null
  /** Epoch ms, where `createdAt` is a safe integer. */
  createdAt: number | null
}

export type PageItem = { kind: 'task'; task: Task } | UnfitItem

/** The answer of the list. */
export interface ListPage extends Decoded {
  /** In list order; empty where `hasPayload` is false. */
  items: PageItem[]
}

/** The answer of the get operation. */
export interface Detail extends Decoded {
  /** Null where `body.item` is missing or null; unfit with `hasPayload: false` where it is there but no object. */
  item: PageItem | null
}

/** A usable id has at most this many UTF-16 units. */
export const MAX_ID_LENGTH = 512
/** Levels of nesting of an item, the item itself being the first. */
const MAX_DEPTH = 500

/** Most values in an item, names included: an item of 8 MB cannot have more, and so many still fit into memory. */
export const MAX_VALUES = 4 * 1024 * 1024
/** Most items in one answer: nobody asks for more than 1,000, and a walk looks at all of them at once. */
export const MAX_ITEMS = 100_000

const MAX_MESSAGE_LENGTH = 200
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads `{statusCode, message, body: {items}}` item by item. Throws `body-invalid`: no object, too many items. */
export function readPage(raw: Uint8Array): ListPage {
  const { envelope, bytes, body } = open(raw)
  const at = body === -1 ? -1 : membersAt(bytes, body, 'items').items
  if (bytes[at] !== OPEN_LIST) return { ...envelope, hasPayload: false, items: [] }
  const items: PageItem[] = []
  for (const span of elementsAt(bytes, at)) {
    if (items.length === MAX_ITEMS) throw tooMany(raw.length)
    items.push(readItem(bytes, span))
  }
  return { ...envelope, hasPayload: true, items }
}

/** Reads `{statusCode, message, body: {item}}`. Throws `MirrorError` `body-invalid` for what is no JSON object. */
export function readDetail(raw: Uint8Array): Detail {
  const { envelope, bytes, body } = open(raw)
  const at = body === -1 ? -1 : membersAt(bytes, body, 'item').item
  // null
  if (at === -1 || bytes[at] === 0x6e) return { ...envelope, hasPayload: false, item: null }
  return { ...envelope, hasPayload: bytes[at] === OPEN_OBJECT, item: readItem(bytes, spanAt(bytes, at) as Span) }
}

/** One item from its own text, as `rejected_items.raw` keeps it. Throws `body-invalid` for what is no JSON. */
export function readItemText(text: string): PageItem {
  const bytes = Buffer.from(text)
  if (!isJson(bytes)) throw invalid(bytes.length, 'not-json', 'is not JSON')
  return readItem(bytes, spanAt(bytes, 0) as Span)
}

type Envelope = Pick<Decoded, 'statusCode' | 'message'>

/** `statusCode` and `message` of an answer that is no success; both null where it is no JSON object. Never throws. */
export function readEnvelope(raw: Uint8Array | null): Envelope {
  try {
    if (raw !== null) return open(raw).envelope
  } catch {
    // A web page, or nothing at all.
  }
  return { statusCode: null, message: null }
}

interface Opened {
  envelope: Envelope
  /** The text without a BOM; valid JSON. */
  bytes: Buffer
  /** Where the member `body` begins; -1 where it is no object. */
  body: number
}

function open(raw: Uint8Array): Opened {
  if (!isUtf8(raw)) throw invalid(raw.length, 'not-utf8', 'is not valid UTF-8')
  const bom = raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? 3 : 0
  const bytes = Buffer.from(raw.buffer, raw.byteOffset + bom, raw.length - bom)
  if (!isJson(bytes)) throw invalid(raw.length, 'not-json', 'is not JSON')
  if (bytes[spaceEnd(bytes, 0)] !== OPEN_OBJECT) throw invalid(raw.length, 'not-an-object', 'is JSON, but no object')
  const { statusCode, body, ...at } = membersAt(bytes, 0, 'statusCode', 'message', 'body')
  const message = scalarAt(bytes, at.message)
  return {
    envelope: {
      statusCode: safeInteger(scalarAt(bytes, statusCode)),
      message: typeof message === 'string' ? shortMessage(message) : null,
    },
    bytes,
    body: bytes[body] === OPEN_OBJECT ? body : -1,
  }
}

/** The value at `at` where it is neither list nor object. */
function scalarAt(bytes: Buffer, at: number): JsonValue | undefined {
  if (at === -1 || bytes[at] === OPEN_OBJECT || bytes[at] === OPEN_LIST) return undefined
  const { start, end } = spanAt(bytes, at) as Span
  return parseValid(bytes.toString('utf8', start, end))
}

/** The beginning of a message of the service. */
export function shortMessage(message: string): string {
  return message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()
}

function invalid(bytes: number, reason: string, what: string): MirrorError {
  return new MirrorError('body-invalid', `The answer of the service ${what} (${bytes} bytes)`, {
    facts: { bytes, reason },
    hint: 'Check that service.baseUrl names the service itself and not a web page or proxy in front of it, then run again.',
  })
}

/** Throws where an answer has more items than any walk can want. */
export function tooMany(bytes: number): MirrorError {
  return new MirrorError('body-invalid', `The answer of the service holds more than ${MAX_ITEMS} items`, {
    facts: { bytes, reason: 'too-many-items' },
    hint: 'The service seems to pay no heed to how many items are asked for.',
  })
}

/** Reads the item at `span` of `bytes`, which are valid JSON there. */
export function readItem(bytes: Buffer, span: Span): PageItem {
  const isObjectText = bytes[span.start] === OPEN_OBJECT
  const tooMuch = span.depth > MAX_DEPTH ? 'too-deep' : span.values > MAX_VALUES ? 'too-many-values' : null
  const text = utf8.decode(bytes.subarray(span.start, span.end))
  if (isObjectText && tooMuch === null) {
    const task = (span.odd || span.escapedKey ? parseValid(text) : JSON.parse(text)) as JsonObject
    const reason = idFault(task.id)
    if (reason === null) return { kind: 'task', task: task as Task }
    return unfit(reason, text, null, task.createdAt)
  }
  if (!isObjectText) return unfit('not-an-object', text, null, undefined)
  // Too deep or too many values: never built, only its id and `createdAt` are read.
  const at = membersAt(bytes, span.start, 'id', 'createdAt')
  const id = scalarAt(bytes, at.id)
  const taskId = idFault(id) === null ? (id as string) : null
  return unfit(tooMuch as UnfitReason, text, taskId, scalarAt(bytes, at.createdAt))
}

function unfit(reason: UnfitReason, raw: string, taskId: string | null, createdAt: JsonValue | undefined): UnfitItem {
  return { kind: 'unfit', reason, message: MESSAGE[reason], raw, taskId, createdAt: safeInteger(createdAt) }
}

function safeInteger(value: JsonValue | undefined): number | null {
  const number = isRaw(value) ? Number(value.rawJSON) : value
  return Number.isSafeInteger(number) ? (number as number) : null
}

const MESSAGE: Record<UnfitReason, string> = {
  'not-an-object': 'The item is no JSON object',
  'no-id': 'The item has no id: it is missing, empty or no string',
  'id-malformed': 'The id of the item holds half a surrogate pair, which no UTF-8 text can keep',
  'id-too-long': `The id of the item is longer than ${MAX_ID_LENGTH} characters`,
  'too-deep': `The item is nested deeper than ${MAX_DEPTH} levels`,
  'too-many-values': `The item has more than ${MAX_VALUES} values`,
}

function idFault(id: JsonValue | undefined): 'no-id' | 'id-malformed' | 'id-too-long' | null {
  if (typeof id !== 'string' || id === '') return 'no-id'
  if (id.length > MAX_ID_LENGTH) return 'id-too-long'
  return id.isWellFormed() ? null : 'id-malformed'
}
