// From the bytes of an answer to tasks, digit for digit; what cannot be one is handed back with its own raw text, and its
// neighbours are untouched. Pure: knows neither HTTP nor SQL, and never puts content into an error.
import { MirrorError } from '../errors.ts'
import { isObject, isRaw, parseValid } from '../json.ts'
import type { JsonObject, JsonValue, Task } from '../task.ts'
import { elementsAt, memberAt, type Span, spanAt } from './json-scan.ts'
import type { Decoded } from './service.ts'

/** Why an item cannot be taken in: stable codes, kept in `rejected_items.reason`. */
export type UnfitReason = 'not-an-object' | 'no-id' | 'id-malformed' | 'id-too-long' | 'too-deep'

/** An item that is to be set aside. */
export interface UnfitItem {
  kind: 'unfit'
  reason: UnfitReason
  message: string
  /** The item's own text exactly as sent. */
  raw: string
  /** Only where it has a usable id. */
  taskId: string | null
  /** Epoch ms, where `createdAt` is a safe integer. */
  createdAt: number | null
}

export type PageItem = { kind: 'task'; task: Task } | UnfitItem

/** The answer of the list. */
export interface Page extends Decoded {
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
export const MAX_DEPTH = 500

const MAX_MESSAGE_LENGTH = 200
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Reads `{statusCode, message, body: {items}}`. Throws `MirrorError` `body-invalid` for what is no JSON object. */
export function readPage(raw: Uint8Array): Page {
  const { envelope, body, bytes, whole, isExact } = open(raw)
  const values = body?.items
  if (!Array.isArray(values)) return { ...envelope, hasPayload: false, items: [] }
  // Nearly every page passes as a whole; the spans of its items are looked for only where one of them needs its own.
  const ordinary = isExact && whole.depth <= MAX_DEPTH
  let spans: Span[] | undefined
  const items = values.map((value, index): PageItem => {
    if (ordinary && isTask(value)) return { kind: 'task', task: value }
    spans ??= elementsAt(bytes, memberAt(bytes, memberAt(bytes, 0, 'body'), 'items'))
    return readItem(value, bytes, spans[index]!, isExact)
  })
  return { ...envelope, hasPayload: true, items }
}

/** Reads `{statusCode, message, body: {item}}`. Throws `MirrorError` `body-invalid` for what is no JSON object. */
export function readDetail(raw: Uint8Array): Detail {
  const { envelope, body, bytes, isExact } = open(raw)
  const value = body?.item
  if (value === undefined || value === null) return { ...envelope, hasPayload: false, item: null }
  const span = spanAt(bytes, memberAt(bytes, memberAt(bytes, 0, 'body'), 'item'))
  return { ...envelope, hasPayload: isObject(value), item: readItem(value, bytes, span, isExact) }
}

/**
 * Reads one item from its own text, as kept in `rejected_items.raw`. Throws `MirrorError` `body-invalid` for what is no
 * JSON.
 */
export function readItemText(text: string): PageItem {
  const bytes = Buffer.from(text)
  parse(text, bytes.length)
  return readItem(parseValid(text), bytes, spanAt(bytes, 0), true)
}

interface Opened {
  envelope: { statusCode: number | null; message: string | null }
  /** Null where it is no object. */
  body: JsonObject | null
  /** The text without a BOM. */
  bytes: Buffer
  whole: Span
  /** Whether `body` is as sent, digit for digit; otherwise the items with odd numbers need to be read again. */
  isExact: boolean
}

function open(raw: Uint8Array): Opened {
  let text: string
  try {
    text = utf8.decode(raw)
  } catch {
    throw invalid(raw.length, 'not-utf8', 'is not valid UTF-8')
  }
  const plain = parse(text, raw.length)
  if (!isObject(plain)) throw invalid(raw.length, 'not-an-object', 'is JSON, but no object')
  const bom = raw[0] === 0xef ? 3 : 0
  const bytes = Buffer.from(raw.buffer, raw.byteOffset + bom, raw.length - bom)
  const whole = spanAt(bytes, 0)
  // With an escaped key anywhere the whole answer is read again: the key may stand around the items as well.
  const { statusCode, message, body } = whole.escapedKey ? (parseValid(text) as JsonObject) : plain
  return {
    envelope: {
      statusCode: safeInteger(statusCode),
      message: typeof message === 'string' ? shortMessage(message) : null,
    },
    body: isObject(body) ? body : null,
    bytes,
    whole,
    isExact: whole.escapedKey || !whole.odd,
  }
}

/** The beginning of a message of the service. */
export function shortMessage(message: string): string {
  return message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()
}

// V8's parser does not recurse: any nesting that fits into memory is parsed. Its messages quote the text, so they stay out.
function parse(text: string, bytes: number): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw invalid(bytes, 'not-json', 'is not JSON')
  }
}

function invalid(bytes: number, reason: string, what: string): MirrorError {
  return new MirrorError('body-invalid', `The answer of the service ${what} (${bytes} bytes)`, {
    facts: { bytes, reason },
    hint: 'Check that service.baseUrl names the service itself and not a web page or proxy in front of it, then run again.',
  })
}

/** `value` is what the bytes at `span` were parsed to, exactly or by plain `JSON.parse`. */
function readItem(value: JsonValue, bytes: Buffer, span: Span, isExact: boolean): PageItem {
  const object = isObject(value) ? value : null
  const reason = object === null ? 'not-an-object' : span.depth > MAX_DEPTH ? 'too-deep' : idFault(object.id)
  if (reason === null && (isExact || !span.odd)) return { kind: 'task', task: value as Task }
  const text = utf8.decode(bytes.subarray(span.start, span.end))
  if (reason === null) return { kind: 'task', task: parseValid(text) as Task }
  return {
    kind: 'unfit',
    reason,
    message: MESSAGE[reason],
    raw: text,
    taskId: object !== null && idFault(object.id) === null ? (object.id as string) : null,
    createdAt: safeInteger(object?.createdAt),
  }
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
}

function isTask(value: JsonValue): value is Task {
  return isObject(value) && idFault(value.id) === null
}

function idFault(id: JsonValue | undefined): 'no-id' | 'id-malformed' | 'id-too-long' | null {
  if (typeof id !== 'string' || id === '') return 'no-id'
  if (id.length > MAX_ID_LENGTH) return 'id-too-long'
  return id.isWellFormed() ? null : 'id-malformed'
}
