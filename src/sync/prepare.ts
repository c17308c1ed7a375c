// A window made ready for the writer: parsed, shaped, hashed. Pure, so it runs on whichever thread is idle; the result is
// flat arrays, because those cross from thread to thread at a fraction of the cost of objects (docs/performance.md).
import { createHash } from 'node:crypto'
import {
  type ColumnValue,
  contentHash,
  hashOfValues,
  rowAt,
  rowValues,
  shapeTask,
  TASK_COLUMNS,
} from '../mirror/shape.ts'
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
  /** The task columns of every item, one item after another; nulls for items that are unfit. */
  values: ColumnValue[]
  /** 16 bytes for every item. */
  hashes: Uint8Array
  /** FINAL | LACKS for every item. */
  flags: Uint8Array
  /** What cannot be taken in, by index. */
  unfit: [number, UnfitItem][]
}

const FINAL = 1
const LACKS = 2
const WIDTH = TASK_COLUMNS.length
const HASH = 16
const NOTHING = TASK_COLUMNS.map(() => null)

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
  const window: PreparedWindow = {
    statusCode,
    message,
    hasPayload,
    ids: [],
    moments: [],
    values: [],
    hashes,
    flags: new Uint8Array(items.length),
    unfit: [],
  }
  for (const [index, item] of items.entries()) {
    if (index % STEP === 0) yield
    if (item.kind === 'unfit') {
      window.ids.push(unfitIdentity(item.raw))
      window.moments.push(item.createdAt)
      window.values.push(...NOTHING)
      window.unfit.push([index, item])
      continue
    }
    const { task } = item
    const row = shapeTask(task)
    const values = rowValues(row)
    const final = isFinal(task, finalStatuses)
    window.ids.push(row.id)
    window.moments.push(momentOf(row))
    window.values.push(...values)
    hashes.write(hashOfValues(values), index * HASH, HASH, 'hex')
    window.flags[index] = (final ? FINAL : 0) | (lacksParts(task, final) ? LACKS : 0)
  }
  return window
}

/** One task made ready by itself. */
export function prepareTask(task: Task, finalStatuses: ReadonlySet<string>): ListedTask {
  const row = shapeTask(task)
  const final = isFinal(task, finalStatuses)
  return { row, hash: contentHash(row), final, lacks: lacksParts(task, final) }
}

/** The item at `index`, which must not be an unfit one. */
export function listedTask(window: PreparedWindow, index: number): ListedTask {
  const flags = window.flags[index] as number
  const hash = Buffer.from(window.hashes.buffer, window.hashes.byteOffset + index * HASH, HASH)
  const row = rowAt(window.values, index * WIDTH)
  return { row, hash, final: (flags & FINAL) !== 0, lacks: (flags & LACKS) !== 0 }
}

function momentOf({ created_at: created }: TaskRow): Moment {
  return typeof created === 'number' ? created : null
}

/** Names an item without a usable id: no id can begin with this. */
function unfitIdentity(raw: string): string {
  return `\u0000${createHash('sha256').update(raw).digest('base64')}`
}
