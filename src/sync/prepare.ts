// A window made ready for the writer: parsed, shaped, hashed. Pure, so it runs on whichever thread is idle; its rows are
// bytes in one buffer, which crosses from thread to thread at no cost (docs/performance.md).
import { createHash } from 'node:crypto'
import { contentHash, hashOfRowBytes, ROW_HEAD, RowBytes, rowBytes } from '../mirror/row-bytes.ts'
import { shapeTask } from '../mirror/shape.ts'
import { readPage, type UnfitItem } from '../service/wire.ts'
import type { Moment, Task, TaskRow } from '../task.ts'
import { isFinal, type ListedTask, lacksParts } from './intake.ts'

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
  /** 16 bytes for every item. */
  hashes: Uint8Array
  /** FINAL | LACKS for every item. */
  flags: Uint8Array
  /** What cannot be taken in, by index. */
  unfit: [number, UnfitItem][]
}

const FINAL = 1
const LACKS = 2
const HASH = 16

/** Items between two pauses of `prepareInSteps`: about half a millisecond. */
const STEP = 100

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
  const { statusCode, message, hasPayload, items } = readPage(raw)
  const hashes = Buffer.alloc(items.length * HASH)
  const ends = new Uint32Array(items.length)
  const flags = new Uint8Array(items.length)
  const ids: string[] = []
  const moments: Moment[] = []
  const unfit: [number, UnfitItem][] = []
  // A row takes no more than its text did, besides its head.
  const rows = new RowBytes(raw.length + items.length * ROW_HEAD)
  for (const [index, item] of items.entries()) {
    if (index % STEP === 0) yield
    if (item.kind === 'unfit') {
      ids.push(unfitIdentity(item.raw))
      moments.push(item.createdAt)
      unfit.push([index, item])
      ends[index] = rows.end
      continue
    }
    const { task } = item
    const row = shapeTask(task)
    const final = isFinal(task, finalStatuses)
    const start = rows.end
    rows.append(row)
    ids.push(row.id)
    moments.push(momentOf(row))
    ends[index] = rows.end
    hashes.write(hashOfRowBytes(rows.between(start, rows.end)), index * HASH, HASH, 'hex')
    flags[index] = (final ? FINAL : 0) | (lacksParts(task, final) ? LACKS : 0)
  }
  return { statusCode, message, hasPayload, ids, moments, rows: rows.between(0, rows.end), ends, hashes, flags, unfit }
}

/** One task made ready by itself. */
export function prepareTask(task: Task, finalStatuses: ReadonlySet<string>): ListedTask {
  const row = shapeTask(task)
  const final = isFinal(task, finalStatuses)
  return { id: row.id, bytes: rowBytes(row), hash: contentHash(row), final, lacks: lacksParts(task, final) }
}

/** The item at `index`, which must not be an unfit one; valid as long as the window's rows. */
export function listedTask({ ids, rows, ends, hashes, flags }: PreparedWindow, index: number): ListedTask {
  const start = index === 0 ? 0 : (ends[index - 1] as number)
  const flag = flags[index] as number
  return {
    id: ids[index] as string,
    bytes: Buffer.from(rows.buffer, rows.byteOffset + start, (ends[index] as number) - start),
    hash: Buffer.from(hashes.buffer, hashes.byteOffset + index * HASH, HASH),
    final: (flag & FINAL) !== 0,
    lacks: (flag & LACKS) !== 0,
  }
}

function momentOf({ created_at: created }: TaskRow): Moment {
  return typeof created === 'number' ? created : null
}

/** Names an item without a usable id: no id can begin with this. */
function unfitIdentity(raw: string): string {
  return `\u0000${createHash('sha256').update(raw).digest('base64')}`
}
