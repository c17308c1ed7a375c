// `node duckdb.ts NDJSON PARQUET`: DuckDB writes the columns of a Parquet snapshot from NDJSON made by
// `export --with-meta`: types given, JSON kept as text, zstd, two threads.
import { DuckDBInstance } from '@duckdb/node-api'

const [from, to] = process.argv.slice(2) as [string, string]
const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
const connection = await instance.connect()
const quoted = (path: string) => `'${path.replaceAll("'", "''")}'`
await connection.run(`COPY (
  SELECT id, userId AS user_id, systemStatus AS system_status, accuracy, timeframe,
    make_timestamp_ms(createdAt) AS created_at, make_timestamp_ms(completedAt) AS completed_at,
    "data".method AS data_method, "data".url AS data_url, "data".body AS data_body, "data".header AS data_header,
    result.statusCode AS result_status_code, result.statusText AS result_status_text,
    result.header AS result_header, result.body AS result_body, NULL::VARCHAR AS extra,
    make_timestamp_ms(_mirror.firstSeenAt) AS first_seen_at, make_timestamp_ms(_mirror.changedAt) AS changed_at,
    make_timestamp_ms(_mirror.deletedAt) AS deleted_at, _mirror.changeSeq AS change_seq
  FROM read_json(${quoted(from)}, format = 'newline_delimited', maximum_object_size = 16000000, columns = {
    id: 'VARCHAR', userId: 'VARCHAR', systemStatus: 'VARCHAR', accuracy: 'VARCHAR', timeframe: 'BIGINT',
    createdAt: 'BIGINT', completedAt: 'BIGINT',
    "data": 'STRUCT(method VARCHAR, url VARCHAR, body VARCHAR, header JSON)',
    result: 'STRUCT(body JSON, header JSON, statusCode BIGINT, statusText VARCHAR)',
    _mirror: 'STRUCT(changeSeq BIGINT, firstSeenAt BIGINT, changedAt BIGINT, deletedAt BIGINT)'})
  ) TO ${quoted(to)} (FORMAT parquet, COMPRESSION zstd)`)
connection.closeSync()
instance.closeSync()
