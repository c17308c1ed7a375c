// DuckDB, asked one statement: a reader of snapshots by somebody else.
import { DuckDBInstance } from '@duckdb/node-api'

/** The rows of the last statement of `sql`, 64-bit integers as text. */
export async function duck(sql: string): Promise<unknown[][]> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  try {
    const connection = await instance.connect()
    try {
      return (await connection.runAndReadAll(sql)).getRowsJson() as unknown[][]
    } finally {
      connection.closeSync()
    }
  } finally {
    instance.closeSync()
  }
}
