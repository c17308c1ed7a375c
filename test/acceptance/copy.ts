// Compares what the command line exports with what the service holds: texts by the digits of their numbers, and the two
// formats with each other through independent readers.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import Database from 'better-sqlite3'
import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { expect } from 'vitest'
import { COLUMNS } from '../../src/export/read/columns.ts'
import { expectedTexts } from '../support/account-history.ts'
import { differences } from './differences.ts'
import type { Stage } from './stage.ts'

/** Exports the mirror as NDJSON and expects it to be JSON-equal to everything the service lists now. */
export async function expectExactCopy(stage: Stage): Promise<void> {
  const path = join(stage.dir, 'exact.ndjson')
  const exported = await stage.runHere(['export', '--out', path, '--no-redact', '--quiet'])
  expect(exported).toMatchObject({ code: 0, stderr: '' })
  const lines = readFileSync(path, 'utf8').split('\n')
  expect(lines.pop(), 'the file ends with a line end').toBe('')
  const expected = expectedTexts(stage.simulator.account)
  const { missing, extra, altered, tasks } = differences(expected, lines)
  // Short lists first, so that a failure stays readable.
  expect({ missing: missing.slice(0, 3), extra: extra.slice(0, 3), altered: altered.slice(0, 1) }).toEqual({
    missing: [],
    extra: [],
    altered: [],
  })
  expect(tasks).toBe(expected.size)
}

/** Exports the same cut as Parquet and expects DuckDB and hyparquet to read the very rows of the mirror. */
export async function expectEqualParquet(stage: Stage): Promise<void> {
  const path = join(stage.dir, 'tasks.parquet')
  const exported = await stage.runHere(['export', '--out', path, '--no-redact', '--quiet'])
  expect(exported).toMatchObject({ code: 0, stderr: '' })
  const stored = storedRows(stage)
  // Texts with lone surrogates are equal in SQLite and Parquet alike, byte for byte; both readers decode them the same.
  expect(await rowsByHyparquet(path)).toEqual(stored)
  expect(await rowsByDuckDb(path)).toEqual(stored)
}

type Cell = string | bigint | null

function storedRows(stage: Stage): Cell[][] {
  const db = new Database(stage.mirrorPath, { readonly: true })
  try {
    const names = COLUMNS.map((column) => column.name)
    const sql = `SELECT ${names} FROM live_tasks ORDER BY created_at, id`
    return db.prepare(sql).safeIntegers().raw().all() as Cell[][]
  } finally {
    db.close()
  }
}

async function rowsByHyparquet(path: string): Promise<Cell[][]> {
  const bytes = readFileSync(path)
  const objects = await parquetReadObjects({
    file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer,
    compressors,
    parsers: { timestampFromMilliseconds: (millis: bigint) => millis } as never,
  })
  return objects.map((row) => COLUMNS.map(({ name }) => row[name] as Cell))
}

async function rowsByDuckDb(path: string): Promise<Cell[][]> {
  const select = COLUMNS.map(({ name, kind }) => (kind === 'timestamp_ms' ? `epoch_ms(${name})` : name))
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  try {
    return (await connection.runAndReadAll(`SELECT ${select} FROM '${path}'`)).getRows() as Cell[][]
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
