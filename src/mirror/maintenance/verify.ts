// Checks a mirror in a process of its own, which blocks no run: SQLite's own check, then every invariant, row by row,
// on one consistent state.
import { MirrorError } from '../../errors.ts'
import { hostOf } from '../../host.ts'
import { isObject } from '../../json.ts'
import { JSON_COLUMNS, TASK_COLUMNS } from '../../task/columns.ts'
import type { JsonValue, TaskRow } from '../../task.ts'
import type { Io } from '../../threads/messages.ts'
import { columnsAsMigrated } from '../as-migrated.ts'
import type { Db } from '../connect.ts'
import { withReader } from '../open.ts'
import { contentHash } from '../row-bytes.ts'
import { askProcess } from './statement-process.ts'

/** An invariant that does not hold. */
interface BrokenInvariant {
  check:
    | 'content-hash'
    | 'host'
    | 'json'
    | 'change-seq'
    | 'owed-tombstone'
    | 'owed-unknown'
    | 'walk-marks'
    | 'snapshot-cut'
  message: string
  /** How many rows break it. */
  count: number
  /** Names of the first rows that break it: ids of tasks, or of rows in other tables. */
  examples: string[]
}

export interface MirrorVerified {
  path: string
  /** Rows of `tasks`, tombstones among them. */
  rows: number
  tombstones: number
  faults: BrokenInvariant[]
}

/** How far the process is. */
type VerifyProgress = [phase: string, rows: number, total: number | null]

interface VerifyMirrorOptions {
  signal: AbortSignal
  onProgress?(...progress: VerifyProgress): void
}

/**
 * Throws `mirror-missing`, `mirror-foreign`, `mirror-newer`, `mirror-unreadable`, `interrupted`, and `mirror-damaged`
 * where SQLite itself finds the file damaged.
 */
export function verifyMirror(path: string, { signal, onProgress }: VerifyMirrorOptions): Promise<MirrorVerified> {
  return askProcess<MirrorVerified>('checkMirror', { path }, { what: 'The check', signal, onProgress })
}

const MOST_EXAMPLES = 5
const TELL_EVERY = 1000
const MARK_BYTES = 1024

/** JSON columns that the small tables have had since the first version; those of tasks are checked row by row. */
const SMALL_JSON = [
  ['service_facts', 'key', 'value'],
  ['runs', 'id', 'plan'],
  ['runs', 'id', 'error'],
  ['walks', 'id', 'state'],
  ['walks', 'id', 'first_window'],
  ['snapshots', 'id', 'filters'],
] as const

const NO_JSON = 'a column that holds JSON text does not'

/** Invariants that SQL can check: each statement gives a name for each row that breaks it. */
const BROKEN: readonly [check: BrokenInvariant['check'], message: string, sql: string][] = [
  [
    'change-seq',
    'change_seq is not unique and positive',
    `SELECT 'change_seq ' || change_seq FROM tasks GROUP BY change_seq HAVING count(*) > 1 OR change_seq < 1`,
  ],
  [
    'owed-unknown',
    'open_checks names a task that is not in the mirror',
    'SELECT task_id FROM open_checks WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE id = task_id)',
  ],
  [
    'owed-tombstone',
    'open_checks owes something of a deleted task',
    `SELECT task_id FROM open_checks JOIN tasks ON id = task_id WHERE deleted_at IS NOT NULL AND reason <> 'deleted'`,
  ],
  ...SMALL_JSON.map(([table, key, column]): (typeof BROKEN)[number] => [
    'json',
    NO_JSON,
    `SELECT '${table} ' || ${key} || ' ${column}' FROM ${table} WHERE NOT json_valid(${column})`,
  ]),
  [
    'snapshot-cut',
    // Later changes would get numbers that a published feed has already used.
    'a snapshot was published from a later state: the file is an older copy of the mirror',
    'SELECT id FROM snapshots WHERE cut > (SELECT coalesce(max(change_seq), 0) FROM tasks)',
  ],
]

type Report = (check: BrokenInvariant['check'], message: string, example: string) => void
type OnProgress = (...progress: VerifyProgress) => void

/** The check itself, in that process. */
export function checkMirror({ path }: { path: string }, { onProgress }: Pick<Io, 'onProgress'>): MirrorVerified {
  return withReader(path, (db) => checkAll(db, path, onProgress))
}

function checkAll(db: Db, path: string, onProgress: OnProgress): MirrorVerified {
  const faults = new Map<string, BrokenInvariant>()
  const report: Report = (check, message, example) => {
    const known = faults.get(check) ?? { check, message, count: 0, examples: [] }
    known.count += 1
    if (known.examples.length < MOST_EXAMPLES) known.examples.push(example)
    faults.set(check, known)
  }
  onProgress('integrity check', 0, null)
  checkIntegrity(db, path)
  db.exec('BEGIN')
  const counts = checkTasks(db, report, onProgress)
  checkMarks(db, report)
  for (const [check, message, sql] of BROKEN) {
    for (const example of db.prepare(sql).pluck().iterate() as Iterable<string>) report(check, message, example)
  }
  return { path, ...counts, faults: [...faults.values()] }
}

function checkIntegrity(db: Db, path: string): void {
  const found = db.prepare('PRAGMA integrity_check(5)').pluck().all() as string[]
  if (found.length === 1 && found[0] === 'ok') return
  throw new MirrorError('mirror-damaged', `The mirror ${path} is damaged: ${found.join('; ').replaceAll('\n', ' ')}`, {
    facts: { path },
    hint: 'Restore a copy of the file, or move it away and run `task-mirror sync`, which reads everything again.',
  })
}

type Checked = TaskRow & { content_hash: Buffer | null; gone: bigint; host: string | null }

function checkTasks(db: Db, report: Report, onProgress: OnProgress) {
  const total = db.prepare('SELECT count(*) FROM tasks').pluck().get() as number
  const all = db
    .prepare(`SELECT ${columnsAsMigrated(db, [...TASK_COLUMNS, 'host'])}, content_hash, deleted_at IS NOT NULL AS gone
       FROM tasks ORDER BY seq`)
    .safeIntegers()
  let rows = 0
  let tombstones = 0
  for (const found of all.iterate() as Iterable<Checked>) {
    const { content_hash, gone, host, ...row } = found
    rows += 1
    if (gone === 1n) tombstones += 1
    if (content_hash === null || !contentHash(row).equals(content_hash)) {
      report('content-hash', 'content_hash does not fit the columns: the row was changed by something else', row.id)
    } else if (host !== hostOf(row.data_url)) {
      report('host', 'host is not that of data_url: it was changed by something else', row.id)
    }
    const column = unreadableColumn(row)
    if (column !== null) report('json', NO_JSON, `${row.id} ${column}`)
    if (rows % TELL_EVERY === 0) onProgress('verify', rows, total)
  }
  return { rows, tombstones }
}

/** The first column whose text is no JSON, or no object where it must be one. */
function unreadableColumn(row: TaskRow): string | null {
  for (const name of JSON_COLUMNS) {
    const text = row[name]
    if (text === null) continue
    const value = parsed(text)
    if (value === undefined || (name === 'extra' && !isObject(value))) return name
  }
  return null
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

function checkMarks(db: Db, report: Report): void {
  const highest = db.prepare('SELECT coalesce(max(seq), 0) FROM tasks').pluck().get() as number
  const marks = db.prepare(
    `SELECT m.walk_id AS walkId, m.chunk, m.bits, w.id IS NULL AS isStray FROM walk_marks m LEFT JOIN walks w ON w.id = m.walk_id`,
  )
  type Mark = { walkId: number; chunk: number; bits: Buffer; isStray: number }
  for (const { walkId, chunk, bits, isStray } of marks.iterate() as Iterable<Mark>) {
    const fits = isStray === 0 && chunk >= 0 && bits.length === MARK_BYTES
    if (!fits || chunk * MARK_BYTES * 8 + highestBit(bits) > highest) {
      report('walk-marks', 'walk_marks marks rows that are not there, for a walk', `walk ${walkId} chunk ${chunk}`)
    }
  }
}

/** Number of the highest bit that is set, least significant first; -1 where none is. */
function highestBit(bits: Buffer): number {
  for (let at = bits.length - 1; at >= 0; at -= 1) {
    const byte = bits[at] as number
    if (byte !== 0) return at * 8 + 31 - Math.clz32(byte)
  }
  return -1
}
