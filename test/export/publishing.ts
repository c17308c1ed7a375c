// Publishing a mirror of `makeMirror`, and its rows as the mirror and as a reader of the file have them.
import { join } from 'node:path'
import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { exportSnapshot } from '../../src/export/export.ts'
import type { ExportOptions } from '../../src/export/options.ts'
import { COLUMNS } from '../../src/export/read/columns.ts'
import type { FilledMirror } from './mirror.ts'

/** Rows whose values are text, so that no reader's own types stand between. */
export type TextRows = (string | null)[][]

export const NAMES = COLUMNS.map(({ name }) => name)

export const toText = (value: unknown) => (value === null || value === undefined ? null : String(value))

/** A dataset in the folder `lake`, without redaction. */
export function publishing(mirror: FilledMirror, more: Partial<ExportOptions> = {}) {
  const out = join(mirror.folder, 'lake/')
  return exportSnapshot({ dbPath: mirror.path, out, redact: [], toolVersion: '0', ...more })
}

/** One file with every row, tombstones included. Returns its path. */
export async function publishFile(mirror: FilledMirror, name: string, more: Partial<ExportOptions> = {}) {
  const out = join(mirror.folder, name)
  const filters = { includeDeleted: true }
  return (await exportSnapshot({ dbPath: mirror.path, out, redact: [], toolVersion: '0', filters, ...more })).path
}

export function stored(mirror: FilledMirror, order = 'created_at, id'): Record<string, unknown>[] {
  return mirror.db.prepare(`SELECT ${NAMES} FROM tasks ORDER BY ${order}`).safeIntegers().all() as never
}

export function storedText(mirror: FilledMirror, where = 'true'): TextRows {
  const select = `SELECT ${NAMES} FROM tasks WHERE ${where} ORDER BY created_at, id`
  return (mirror.db.prepare(select).raw().safeIntegers().all() as unknown[][]).map((row) => row.map(toText))
}

export function arrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
}

/** Rows as hyparquet reads them, with timestamps as the 64-bit integers they are. */
export function parquetRows(file: ArrayBuffer): Promise<Record<string, unknown>[]> {
  const parsers = { timestampFromMilliseconds: (millis: bigint) => millis }
  return parquetReadObjects({ file, compressors, parsers: parsers as never })
}
