// A mirror in a scratch folder, filled with plain SQL: what the export reads, without the sync that usually writes it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Statement } from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import type { RawRow } from '../../src/export/read/columns.ts'
import type { CutReader } from '../../src/export/read/rows.ts'
import { hostOf } from '../../src/host.ts'
import type { Db } from '../../src/mirror/connect.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { makeScratch } from '../support/scratch.ts'

export interface FilledMirror {
  folder: string
  path: string
  /** The writing connection. */
  db: Db
  insert(...rows: Record<string, string | number | bigint | null>[]): void
}

const OPENING = { busyTimeoutMs: 1_000, fileMode: 0o600 }

/** Columns of a row that a test does not name. */
const ORDINARY = { first_seen_at: 1n, changed_at: 2n, read_at: 3n }

/** The bytes of a mirror without rows, made once for every process: a copy of them costs a tenth. */
let empty: Buffer | null = null

function emptyMirror(): Buffer {
  if (empty !== null) return empty
  using scratch = makeScratch()
  const path = scratch.path('mirror.db')
  openWriter(path, OPENING).close()
  empty = readFileSync(path)
  return empty
}

/** Removed with its folder when the test ends. Rows get `change_seq` 1, 2, 3... unless they say otherwise. */
export function makeMirror(...rows: Record<string, string | number | bigint | null>[]): FilledMirror {
  const filled = fillMirror(...rows)
  onTestFinished(filled.remove)
  return filled
}

/** A mirror of its own with the rows of another one, removed when the test ends. */
export function copyMirror({ db, path }: FilledMirror): FilledMirror {
  db.pragma('wal_checkpoint(TRUNCATE)')
  const copied = mirrorFrom(readFileSync(path))
  onTestFinished(copied.remove)
  return copied
}

/** The same for several tests: `remove` is up to the caller. */
export function fillMirror(...rows: Record<string, string | number | bigint | null>[]) {
  const filled = mirrorFrom(emptyMirror())
  filled.insert(...rows)
  return filled
}

function mirrorFrom(bytes: Buffer): FilledMirror & { remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'task-mirror-export-'))
  const path = join(folder, 'mirror.db')
  writeFileSync(path, bytes, { mode: OPENING.fileMode })
  const db = openWriter(path, OPENING)
  const remove = () => {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  }
  let changes = BigInt(db.prepare('SELECT coalesce(max(change_seq), 0) FROM tasks').pluck().get() as number)
  const statements = new Map<string, Statement>()
  const insertOf = (names: string[]): Statement => {
    const sql = `INSERT INTO tasks (${names}) VALUES (${names.map(() => '?')})`
    const statement = statements.get(sql) ?? db.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  const insert: FilledMirror['insert'] = (...added) => {
    db.transaction(() => {
      for (const row of added) {
        const { data_url: url } = { ...ORDINARY, ...row } as { data_url?: string | null }
        const full = { ...ORDINARY, host: hostOf(url ?? null), change_seq: ++changes, ...row }
        const values = Object.values(full).map((value) => (typeof value === 'number' ? BigInt(value) : value))
        insertOf(Object.keys(full)).run(...values)
      }
    }).immediate()
  }
  return { folder, path, db, insert, remove }
}

/** `count` ordinary finished tasks, oldest first, one second apart. */
export function ordinaryRows(count: number, from = 0): Record<string, string | number | bigint | null>[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `task-${String(from + i).padStart(8, '0')}`,
    user_id: 'user-1',
    system_status: 'DONE',
    accuracy: 'MINUTE',
    timeframe: 60_000,
    created_at: 1_700_000_000_000 + (from + i) * 1_000,
    completed_at: 1_700_000_000_500 + (from + i) * 1_000,
    data_method: 'GET',
    data_url: `https://example.com/${from + i}`,
    data_body: '',
    data_header: '{"accept":"*/*"}',
    result_status_code: 200,
    result_status_text: 'OK',
    result_header: '{"content-type":"application/json"}',
    result_body: `{"n":${from + i},"text":"${'x'.repeat(200)}"}`,
  }))
}

/** All batches of a cut, of key ranges of about so many bytes. */
export function batchesOf(cut: CutReader, bytes = 1024 * 1024): RawRow[][] {
  return [...cut.keyRanges(bytes)].flatMap((keyRange) => [...cut.batches(keyRange)])
}
