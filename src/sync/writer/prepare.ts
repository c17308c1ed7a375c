// A window made ready: parsed, shaped, hashed. Pure; rows are bytes in one buffer that threads hand over.

import { createHash } from 'node:crypto'
import { contentHash, hashOfRowBytes, ROW_HEAD, RowBytes, rowBytes } from '../../mirror/row-bytes.ts'
import { shapeTask } from '../../mirror/shape.ts'
import { CLOSE_LIST, COMMA } from '../../service/decode/json-bytes.ts'
import { type Span, spaceEnd, spanAt } from '../../service/decode/json-scan.ts'
import { NOT_PLAIN } from '../../service/decode/json-strict.ts'
import { openPlainPage } from '../../service/decode/plain-page.ts'
import {
  MAX_ITEMS,
  MAX_VALUES,
  type PageItem,
  readItem,
  readPage,
  tooMany,
  type UnfitItem,
} from '../../service/decode/wire.ts'
import type { Decoded } from '../../service/service.ts'
import type { Moment, Task, TaskRow } from '../../task.ts'
import { isFinal, lacksParts } from './intake.ts'
import { PlainItems } from './plain-items.ts'
import type { ListedTask } from './take-listed.ts'

/** What a walk needs to know of a window. */
export interface Summary extends Decoded {
  /** Number of items in it. */
  count: number
  /** In list order; an item without a usable id has an identity of its own that no id can equal. */
  ids: string[]
  moments: Moment[]
  /** FINAL | LACKS for every item. */
  flags: Uint8Array
}

export interface PreparedWindow extends Summary {
  /** The encoded rows, one behind the other, in a buffer of their own; nothing for items that are unfit. */
  rows: Uint8Array<ArrayBuffer>
  /** Where the row of every item ends. */
  ends: Uint32Array
  /** What cannot be taken in, by index. */
  unfit: [number, UnfitItem][]
}

export interface HashedWindow extends PreparedWindow {
  /** 16 bytes for every item; zeros for those that are unfit. */
  hashes: Uint8Array
}

const FINAL = 1
const LACKS = 2
const HASH = 16

/** Bytes of work between two pauses of `takePlainly`: about a millisecond. What is parsed takes longer. */
const STEP = 256 * 1024
/** Bytes that an item counts for in addition to its own. */
const ITEM = 1024
const PARSED = 8
/** The largest answer that a thread with other things to do makes ready, and the largest item that it parses. */
const MOST_HERE = 4 * 1024 * 1024
const MOST_PARSED = 64 * 1024

/** Throws `MirrorError` `body-invalid` for what is no answer of the service. Works in one go, however long it takes. */
export function prepareWindow(raw: Uint8Array, finalStatuses: ReadonlySet<string>): PreparedWindow {
  const steps = takePlainly(raw, finalStatuses)
  for (;;) {
    const { value, done } = steps.next()
    if (done === true) return value ?? parseAll(raw, finalStatuses)
  }
}

/** `prepareWindow` in steps, none longer than 64 KB of content take at worst; null where one would be longer. */
export function* prepareInSteps(
  raw: Uint8Array,
  finalStatuses: ReadonlySet<string>,
): Generator<undefined, PreparedWindow | null> {
  if (raw.length > MOST_HERE) return null
  const window = yield* takePlainly(raw, finalStatuses, MOST_PARSED)
  return window === null && raw.length <= MOST_PARSED ? parseAll(raw, finalStatuses) : window
}

/** Any answer, by the parser. Throws as `prepareWindow` does. */
export function parseAll(raw: Uint8Array, finalStatuses: ReadonlySet<string>): PreparedWindow {
  const { statusCode, message, hasPayload, items } = readPage(raw)
  const draft = new WindowDraft(raw.length, finalStatuses)
  for (const item of items) draft.add(item)
  return draft.window({ statusCode, message, hasPayload })
}

/** Parses items that are not plain one by one, up to `mostParsed` bytes each; null where more is unusual. */
export function* takePlainly(
  raw: Uint8Array,
  finalStatuses: ReadonlySet<string>,
  mostParsed = Number.POSITIVE_INFINITY,
): Generator<undefined, PreparedWindow | null> {
  const page = openPlainPage(raw)
  if (page === null) return null
  const { bytes, itemsAt } = page
  const plain = new PlainItems(bytes, finalStatuses)
  const draft = new WindowDraft(raw.length, finalStatuses)
  // The first pause comes before any work, so that answers that came together are not taken in one go.
  let work = STEP + 1
  let at = spaceEnd(bytes, itemsAt)
  for (let count = 0; bytes[at] !== CLOSE_LIST; count += 1) {
    if (count === MAX_ITEMS) throw tooMany(raw.length)
    if (work > STEP) {
      work = 0
      yield
    }
    const start = at
    const end = plain.read(at)
    if (end !== NOT_PLAIN && isWithinBounds(bytes, at, end)) {
      draft.addPlain(bytes, plain)
      at = end
      work += end - start + ITEM
    } else {
      const span = spanAt(bytes, at)
      if (span === null || span.end - span.start > mostParsed) return null
      draft.add(readItem(bytes, span))
      at = span.end
      work += (at - start + ITEM) * PARSED
    }
    at = spaceEnd(bytes, at)
    if (bytes[at] === CLOSE_LIST) break
    if (bytes[at] !== COMMA) return null
    at = spaceEnd(bytes, at + 1)
    if (bytes[at] === CLOSE_LIST) return null
  }
  const envelope = page.close(at + 1)
  return envelope === null ? null : draft.window({ ...envelope, hasPayload: true })
}

/** A value and what divides it from the next take two bytes: only large items can have too many values. */
function isWithinBounds(bytes: Buffer, start: number, end: number): boolean {
  return end - start <= 2 * MAX_VALUES || (spanAt(bytes, start) as Span).values <= MAX_VALUES
}

class WindowDraft {
  private readonly ids: string[] = []
  private readonly moments: Moment[] = []
  private readonly unfit: [number, UnfitItem][] = []
  private readonly ends: number[] = []
  private readonly flags: number[] = []
  private readonly rows: RowBytes
  private readonly finalStatuses: ReadonlySet<string>

  /** `size`: bytes of the answer. A row takes no more than its text did, besides its head. */
  constructor(size: number, finalStatuses: ReadonlySet<string>) {
    this.rows = new RowBytes(Math.ceil(size * 1.2) + 10 * ROW_HEAD)
    this.finalStatuses = finalStatuses
  }

  add(item: PageItem): void {
    if (item.kind === 'unfit') {
      this.unfit.push([this.ids.length, item])
      this.note(unfitIdentity(item, this.ids.at(-1) ?? ''), item.createdAt, 0)
      return
    }
    const row = shapeTask(item.task)
    const final = isFinal(item.task, this.finalStatuses)
    this.rows.append(row)
    this.note(row.id, momentOf(row), flagsOf(final, lacksParts(item.task, final)))
  }

  addPlain(bytes: Buffer, plain: PlainItems): void {
    const final = plain.isFinal
    this.rows.appendPlain(bytes, plain.row)
    this.note(plain.id, plain.createdAt, flagsOf(final, plain.lacksParts(final)))
  }

  window(envelope: Decoded): PreparedWindow {
    const { ids, moments, unfit } = this
    const rows = this.rows.between(0, this.rows.end)
    const [ends, flags] = [Uint32Array.from(this.ends), Uint8Array.from(this.flags)]
    return { ...envelope, count: ids.length, ids, moments, rows, ends, flags, unfit }
  }

  private note(id: string, moment: Moment, flags: number): void {
    this.ids.push(id)
    this.moments.push(moment)
    this.ends.push(this.rows.end)
    this.flags.push(flags)
  }
}

function flagsOf(final: boolean, lacks: boolean): number {
  return (final ? FINAL : 0) | (lacks ? LACKS : 0)
}

export function summaryOf({ statusCode, message, hasPayload, count, ids, moments, flags }: Summary): Summary {
  return { statusCode, message, hasPayload, count, ids, moments, flags }
}

/** Takes about a millisecond for a megabyte. */
export function withHashes(window: PreparedWindow): HashedWindow {
  const { rows, ends } = window
  const hashes = Buffer.alloc(ends.length * HASH)
  let start = 0
  for (const [index, end] of ends.entries()) {
    if (end > start) hashes.write(hashOfRowBytes(rows.subarray(start, end)), index * HASH, HASH, 'hex')
    start = end
  }
  return { ...window, hashes }
}

/** Gives back memory that nobody reads any more, without waiting for its collection: megabytes for each window. */
export function release(bytes: Uint8Array): void {
  if (bytes.buffer instanceof ArrayBuffer && !bytes.buffer.detached) bytes.buffer.transfer(0)
}

/** One task made ready by itself. */
export function prepareTask(task: Task, finalStatuses: ReadonlySet<string>): ListedTask {
  const row = shapeTask(task)
  const final = isFinal(task, finalStatuses)
  return { id: row.id, bytes: rowBytes(row), hash: contentHash(row), final, lacks: lacksParts(task, final) }
}

/** The item at `index`, which must not be an unfit one; valid as long as the window's rows. */
export function listedTask({ ids, rows, ends, hashes, flags }: HashedWindow, index: number): ListedTask {
  const start = index === 0 ? 0 : (ends[index - 1] as number)
  const flag = flags[index] as number
  return {
    id: ids[index] as string,
    bytes: Buffer.from(rows.buffer, rows.byteOffset + start, (ends[index] as number) - start),
    hash: listedHash({ hashes }, index),
    final: (flag & FINAL) !== 0,
    lacks: (flag & LACKS) !== 0,
  }
}

/** 1 for every item that is a final task. */
export function finalsOf({ flags }: Pick<PreparedWindow, 'flags'>): Uint8Array {
  return flags.map((flag) => flag & FINAL)
}

/** The hash of the item at `index`. */
export function listedHash({ hashes }: Pick<HashedWindow, 'hashes'>, index: number): Buffer {
  return Buffer.from(hashes.buffer, hashes.byteOffset + index * HASH, HASH)
}

function momentOf({ created_at: created }: TaskRow): Moment {
  return typeof created === 'number' ? created : null
}

/** Names an item without a usable id as no id can be; if it shows no id at all, by what stands before it as well. */
function unfitIdentity({ raw, taskId }: UnfitItem, before: string): string {
  const hash = createHash('sha256').update(raw)
  if (taskId === null) hash.update('\0').update(before)
  return `\u0000${hash.digest('base64')}`
}
