// The table of the plain contenders: no index but the key, no hashes, no marks; the best pragmas and page size found for
// such rows. Written as somebody would who wants a quick loop and nothing else.
import Database from 'better-sqlite3'

interface PlainTask {
  id: string
  userId: string
  data: { method: string; url: string; body: string; header: unknown }
  timeframe: number
  accuracy: string
  systemStatus: string
  createdAt: number
  completedAt: number | null
  result: { body: unknown; header: unknown; statusCode: number; statusText: string } | null
}

export function openPlain(path: string) {
  const db = new Database(path)
  db.pragma('page_size = 16384')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  db.pragma('wal_autocheckpoint = 4000')
  db.pragma('cache_size = -65536')
  db.exec(`CREATE TABLE IF NOT EXISTS tasks (
    id TEXT PRIMARY KEY, user_id TEXT, system_status TEXT, accuracy TEXT, timeframe INTEGER, created_at INTEGER,
    completed_at INTEGER, data_method TEXT, data_url TEXT, data_body TEXT, data_header TEXT, result_status_code INTEGER,
    result_status_text TEXT, result_header TEXT, result_body TEXT)`)
  const upsert = db.prepare(`INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id, system_status = excluded.system_status,
    accuracy = excluded.accuracy, timeframe = excluded.timeframe, created_at = excluded.created_at,
    completed_at = excluded.completed_at, data_method = excluded.data_method, data_url = excluded.data_url,
    data_body = excluded.data_body, data_header = excluded.data_header,
    result_status_code = excluded.result_status_code, result_status_text = excluded.result_status_text,
    result_header = excluded.result_header, result_body = excluded.result_body`)
  const upsertAll = db.transaction((tasks: PlainTask[]) => {
    for (const { id, userId, data, timeframe, accuracy, systemStatus, createdAt, completedAt, result } of tasks) {
      upsert.run(
        id,
        userId,
        systemStatus,
        accuracy,
        timeframe,
        createdAt,
        completedAt,
        data.method,
        data.url,
        data.body,
        JSON.stringify(data.header),
        result?.statusCode ?? null,
        result?.statusText ?? null,
        result ? JSON.stringify(result.header) : null,
        result ? JSON.stringify(result.body) : null,
      )
    }
  })
  return {
    /** Takes one answer in, in one transaction; gives the number of tasks in it. */
    takeIn(text: string): number {
      const { items } = (JSON.parse(text) as { body: { items: PlainTask[] } }).body
      upsertAll(items)
      return items.length
    },
    close: () => void db.close(),
  }
}
