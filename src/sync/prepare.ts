// A window made ready for the writer: parsed, shaped, hashed. Pure, so that each part can be done by whichever thread has
// time for it; rows are bytes in one buffer, which crosses from thread to thread at no cost (docs/performance.md).

import { createHash } from 'node:crypto'
import { contentHash, hashOfRowBytes, ROW_HEAD, RowBytes, rowBytes } from '../mirror/row-bytes.ts'
import { shapeTask } from '../mirror/shape.ts'
import { CLOSE_LIST, COMMA } from '../service/json-bytes.ts'
import { NOT_PLAIN } from '../service/json-strict.ts'
import { openPlainPage, parseItem } from '../service/plain-page.ts'
import { type PageItem, readPage, type UnfitItem } from '../service/wire.ts'
import type { Moment, Task, TaskRow } from '../task.ts'
import { isFinal, type ListedTask, lacksParts } from './intake.ts'
import { PlainItems } from './plain-items.ts'

export interface PreparedWindow {
  statusCode: number | null
  message: string | null
  hasPayload: boolean
  /** In list order; an item without a usable id has an identity of its own that no id can equal. */
  ids: string[]
  moments: Moment[]
  /** The encoded rows, one behind the other, in a buffer of their own; nothing for items that are unfit. */
  rows: Uint8Array<ArrayBuffer>
  /** Where the row of every item ends. */
  ends: Uint32Array
  /** FINAL | LACKS for every item. */
  flags: Uint8Array
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

/** Items between two pauses of `prepareInSteps`: less than a millisecond. */
const STEP = 200
/** So many items of an answer are parsed one by one in any case; beyond, only a quarter of them. */
const MOST_PARSED = 16

/** Throws `MirrorError` `body-invalid` for what is no answer of the service. */
export function prepareWindow(raw: Uint8Array, finalStatuses: ReadonlySet<string>): PreparedWindow {
  const steps = prepareInSteps(raw, finalStatuses)
  for (;;) {
    const { value, done } = steps.next()
    if (done === true) return value
  }
}

/** `prepareWindow` with pauses, in which a thread that has other things to do can do them. */
export function* prepareInSteps(
  raw: Uint8Array,
  finalStatuses: ReadonlySet<string>,
): Generator<undefined, PreparedWindow> {
  return (yield* takePlainly(raw, finalStatuses)) ?? (yield* parseAll(raw, finalStatuses))
}

/** Any answer, by the parser. Throws as `prepareWindow` does. */
export function* parseAll(raw: Uint8Array, finalStatuses: ReadonlySet<string>): Generator<undefined, PreparedWindow> {
  const { statusCode, message, hasPayload, items } = readPage(raw)
  const draft = new WindowDraft(raw.length, finalStatuses)
  for (const [index, item] of items.entries()) {
    if (index % STEP === 0) yield
    draft.add(item)
  }
  return draft.window({ statusCode, message, hasPayload })
}

/**
 * An ordinary answer, most of whose items are plain; the others are parsed one by one. Null where something is not as
 * it mostly is: nothing is said then, and nothing was done.
 */
export function* takePlainly(
  raw: Uint8Array,
  finalStatuses: ReadonlySet<string>,
): Generator<undefined, PreparedWindow | null> {
  const page = openPlainPage(raw)
  if (page === null) return null
  const { bytes, itemsAt } = page
  const plain = new PlainItems(bytes, finalStatuses)
  const draft = new WindowDraft(raw.length, finalStatuses)
  let parsed = 0
  let at = itemsAt
  for (let count = 0; bytes[at] !== CLOSE_LIST; count += 1) {
    if (count % STEP === 0) yield
    const end = plain.read(at)
    if (end !== NOT_PLAIN) {
      draft.addPlain(bytes, plain)
      at = end
    } else {
      parsed += 1
      // By the parser alone they are done sooner.
      if (parsed > MOST_PARSED && parsed * 4 > count) return null
      const item = parseItem(bytes, at)
      if (item === null) return null
      draft.add(item.item)
      at = item.end
    }
    if (bytes[at] === CLOSE_LIST) break
    if (bytes[at] !== COMMA || bytes[at + 1] === CLOSE_LIST) return null
    at += 1
  }
  const envelope = page.close(at + 1)
  return envelope === null ? null : draft.window({ ...envelope, hasPayload: true })
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
      this.note(unfitIdentity(item.raw), item.createdAt, 0)
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

  window(envelope: Pick<PreparedWindow, 'statusCode' | 'message' | 'hasPayload'>): PreparedWindow {
    const { ids, moments, unfit } = this
    const rows = this.rows.between(0, this.rows.end)
    const [ends, flags] = [Uint32Array.from(this.ends), Uint8Array.from(this.flags)]
    return { ...envelope, ids, moments, rows, ends, flags, unfit }
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

/** About a millisecond for a megabyte. */
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

/** Gives memory back that nobody reads any more, instead of waiting until it is collected: megabytes for each window. */
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

/** The hash of the item at `index`. */
export function listedHash({ hashes }: Pick<HashedWindow, 'hashes'>, index: number): Buffer {
  return Buffer.from(hashes.buffer, hashes.byteOffset + index * HASH, HASH)
}

function momentOf({ created_at: created }: TaskRow): Moment {
  return typeof created === 'number' ? created : null
}

/** Names an item without a usable id: no id can begin with this. */
function unfitIdentity(raw: string): string {
  return `\u0000${createHash('sha256').update(raw).digest('base64')}`
}
