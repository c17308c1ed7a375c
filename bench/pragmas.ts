// Page size, checkpointing and cache of the mirror, measured by themselves: rows of about 1 KB into the real schema, one
// transaction per 1,000, nothing else. `node bench/pragmas.ts` (BENCH_TASKS, default 1,000,000); prints one line per setting.
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'

const ROWS = Number(process.env.BENCH_TASKS ?? 1_000_000)
const MIGRATIONS = new URL('../src/mirror/migrations/', import.meta.url)

interface Setting {
  pageSize: number
  checkpoint: number
  cacheKb: number
}

const SETTINGS: Setting[] = [
  { pageSize: 4096, checkpoint: 1000, cacheKb: 2000 },
  { pageSize: 4096, checkpoint: 16_000, cacheKb: 32_768 },
  { pageSize: 8192, checkpoint: 8000, cacheKb: 32_768 },
  { pageSize: 16_384, checkpoint: 1000, cacheKb: 32_768 },
  { pageSize: 16_384, checkpoint: 4000, cacheKb: 32_768 },
  { pageSize: 32_768, checkpoint: 2000, cacheKb: 32_768 },
]

function measure({ pageSize, checkpoint, cacheKb }: Setting): { seconds: number; cpu: number; bytes: number } {
  const folder = mkdtempSync(join(tmpdir(), 'pragmas-'))
  try {
    const path = join(folder, 'mirror.sqlite')
    const db = new Database(path)
    db.pragma(`page_size = ${pageSize}`)
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma(`wal_autocheckpoint = ${checkpoint}`)
    db.pragma(`cache_size = -${cacheKb}`)
    for (const name of readdirSync(MIGRATIONS).sort()) db.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'))
    const insert = db.prepare(
      `INSERT INTO tasks (seq, id, created_at, data_url, result_body, content_hash, list_hash, read_at, first_seen_at, changed_at, change_seq)
       VALUES (?, ?, ?, 'https://example.com/', ?, ?, ?, 1, 1, 1, ?)`,
    )
    const body = JSON.stringify({ text: 'x'.repeat(850) })
    const hash = randomBytes(16)
    const window = db.transaction((from: number) => {
      for (let seq = from; seq < from + 1000; seq += 1) insert.run(seq, randomUUID(), 1e12 - seq, body, hash, hash, seq)
    })
    const began = performance.now()
    const before = process.cpuUsage()
    for (let from = 1; from <= ROWS; from += 1000) window.immediate(from)
    db.close()
    const { user, system } = process.cpuUsage(before)
    return { seconds: (performance.now() - began) / 1000, cpu: (user + system) / 1e6, bytes: statSync(path).size }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

for (const setting of SETTINGS) {
  const { seconds, cpu, bytes } = measure(setting)
  const rate = Math.round(ROWS / seconds).toLocaleString('en')
  console.log(
    `page ${setting.pageSize}, checkpoint every ${setting.checkpoint} pages, cache ${setting.cacheKb} KiB: ` +
      `${rate} rows/s, ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of processor, ${Math.round(bytes / ROWS)} bytes a row`,
  )
}
