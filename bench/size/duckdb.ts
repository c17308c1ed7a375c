// The questions of bench:size in DuckDB, and what the files of a snapshot look like.
import { performance } from 'node:perf_hooks'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

export interface Answer {
  name: string
  /** Median of three. */
  seconds: number
  rows: number
  numFiles?: number
  numPartitions?: number
  /** Rows that the scan gave on to the rest of the plan. */
  numOutputRows?: number
}

export interface Layout {
  rows: number
  partitions: number
  files: number
  bytes: number
  largestFile: number
  rowGroups: number
  /** Mean row group: rows, bytes as stored and before compression. */
  groupRows: number
  groupBytes: number
  groupPlainBytes: number
  /** Id of a task in the middle of the account. */
  someId: string
}

export async function layoutOf(snapshot: string): Promise<Layout> {
  return await connected(snapshot, true, async (connection) => {
    const files = `'${snapshot}/**/*.parquet'`
    const ask = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects()[0]!
    const groups =
      await ask(`SELECT count(*) AS groups, sum(bytes) AS bytes, sum(plain) AS plain, sum(rows) AS rows FROM (
      SELECT sum(total_compressed_size) AS bytes, sum(total_uncompressed_size) AS plain, any_value(row_group_num_rows) AS rows
      FROM parquet_metadata(${files}) GROUP BY file_name, row_group_id)`)
    const whole = await ask(`SELECT count(*) AS files, sum(size) AS bytes, max(size) AS largest,
      count(DISTINCT regexp_extract(filename, 'created_month=([^/]+)', 1)) AS partitions FROM read_blob(${files})`)
    const rowGroups = Number(groups.groups)
    const rows = Number(groups.rows)
    const some = await ask(`SELECT id FROM tasks WHERE change_seq = ${Math.floor(rows / 2)}`)
    return {
      rows,
      partitions: Number(whole.partitions),
      files: Number(whole.files),
      bytes: Number(whole.bytes),
      largestFile: Number(whole.largest),
      rowGroups,
      groupRows: rows / rowGroups,
      groupBytes: Number(groups.bytes) / rowGroups,
      groupPlainBytes: Number(groups.plain) / rowGroups,
      someId: String(some.id),
    }
  })
}

/** Asks each question three times, and once more by EXPLAIN ANALYZE for what its scan read. */
export async function askDuckDb(
  folder: string,
  isPartitioned: boolean,
  questions: Record<string, string>,
): Promise<Answer[]> {
  return await connected(folder, isPartitioned, async (connection) => {
    const answers: Answer[] = []
    for (const [name, sql] of Object.entries(questions)) {
      const seconds: number[] = []
      let rows = 0
      for (let turn = 0; turn < 3; turn += 1) {
        const started = performance.now()
        rows = (await connection.runAndReadAll(sql)).currentRowCount
        seconds.push((performance.now() - started) / 1000)
      }
      const plan = (await connection.runAndReadAll(`EXPLAIN ANALYZE ${sql}`)).getRows().flat().join('\n')
      const files = /Total Files Read:\s*(\d+)/.exec(plan)
      const scanned = [...plan.matchAll(/([\d,]+) rows?\b/g)]
        .map(([, text]) => Number(text!.replaceAll(',', '')))
        .at(-1)
      answers.push({
        name,
        seconds: seconds.sort((a, b) => a - b)[1]!,
        rows,
        ...(files === null ? {} : { numFiles: Number(files[1]) }),
        ...(scanned === undefined ? {} : { numOutputRows: scanned }),
      })
    }
    return answers
  })
}

async function connected<T>(
  folder: string,
  isPartitioned: boolean,
  work: (connection: DuckDBConnection) => Promise<T>,
): Promise<T> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  const connection = await instance.connect()
  try {
    await connection.run("SET TimeZone = 'UTC'")
    await connection.run(
      `CREATE VIEW tasks AS SELECT * FROM read_parquet('${folder}/**/*.parquet', hive_partitioning = ${isPartitioned}, union_by_name = true)`,
    )
    return await work(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
