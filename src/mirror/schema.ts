// Brings a mirror to this program's schema, forward only; refuses one of a newer program, or one whose objects are not
// as the migrations make them: others may plant triggers or views.
import { readdirSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { MirrorError } from '../errors.ts'
import { oneLine } from '../shown.ts'
import { addUrlHost } from './as-migrated.ts'
import { type Db, lend } from './connect.ts'
import { APPLICATION_ID } from './inspect.ts'

interface Migration {
  version: number
  sql: string
}

const MIGRATIONS = new URL('./migrations/', import.meta.url)

/** Numbered `NNNN_name.sql` files in order; `user_version` is the number of the last one applied. */
export function migrations(): Migration[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => /^\d{4}_.+\.sql$/.test(name))
    .sort()
    .map((name) => ({ version: Number(name.slice(0, 4)), sql: readFileSync(new URL(name, MIGRATIONS), 'utf8') }))
}

/** Throws `mirror-newer`, or `mirror-damaged` where the program's own objects are not as the migrations make them. */
export function checkSchema(db: Db, path: string): void {
  db.transaction(() => checkObjects(db, path, checkVersion(db, path)))()
}

/** Applies the migrations that are missing, each in one transaction. */
export function migrate(db: Db, path: string): void {
  const all = migrations()
  const current = db.pragma('user_version', { simple: true }) as number
  addUrlHost(db)
  if (current < (all.at(-1)?.version ?? 0)) refuseTakenNames(db, path, current)
  for (const { version, sql } of all) {
    if (version <= current) continue
    db.transaction(() => {
      db.exec(sql)
      db.pragma(`user_version = ${version}`)
      db.pragma(`application_id = ${APPLICATION_ID}`)
    }).immediate()
  }
}

function checkVersion(db: Db, path: string): number {
  const version = db.pragma('user_version', { simple: true }) as number
  const versions = migrations().map((migration) => migration.version)
  const newest = versions.at(-1) ?? 0
  if (version <= newest && !versions.includes(version)) {
    throw new MirrorError('mirror-damaged', `The mirror ${path} has no schema that is known (${version})`, {
      facts: { path, version },
      hint: 'Restore a copy of the file, or move it away and run `task-mirror sync`, which reads everything again.',
    })
  }
  if (version > newest) {
    throw new MirrorError(
      'mirror-newer',
      `${path} was written by a newer task-mirror (schema ${version}, this one knows ${newest})`,
      {
        facts: { path, version, newest },
        hint: 'Use the newer program, or another file with --db.',
      },
    )
  }
  return version
}

/** A row of `sqlite_schema`. */
interface SchemaObject {
  type: 'table' | 'index' | 'view' | 'trigger'
  name: string
  /** The table or view it belongs to. */
  owner: string
  /** null for what SQLite makes itself. */
  sql: string | null
}

const RESTORE = 'Restore a copy with `task-mirror restore`, or move the file away and run `task-mirror sync`.'

/**
 * Refuses a mirror of schema `version` where one of the program's own objects is missing, is another, or has a foreign
 * trigger or unique index, which decide what can be written. Throws `mirror-damaged` with its name. Call in a read
 * transaction.
 */
function checkObjects(db: Db, path: string, version: number): void {
  const own = objectsAt(version)
  const names = new Set([...own.values()].map(({ name }) => folded(name)))
  const found = new Map<string, SchemaObject>()
  for (const object of objectsOf(db)) {
    const { type, name, owner } = object
    const isForeign = type === 'trigger' || (isUnique(object) && !names.has(folded(name)))
    if (isForeign && names.has(folded(owner))) {
      const what = `the ${type === 'trigger' ? type : 'unique index'} "${oneLine(name)}" on ${oneLine(owner)}`
      throw refused(path, `${what} is none of task-mirror's`, dropping(object))
    }
    if (names.has(folded(name))) found.set(folded(name), object)
  }
  for (const { type, name, owner, sql } of own.values()) {
    const there = found.get(folded(name))
    if (there === undefined) throw refused(path, `the ${type} ${name} is missing`)
    const isSame = there.type === type && folded(there.owner) === folded(owner) && meaning(there.sql) === meaning(sql)
    if (!isSame) throw refused(path, `the ${type} ${name} is not as task-mirror makes it`)
  }
}

/** Throws `mirror-foreign` where somebody has taken a name that a migration after `version` needs. */
function refuseTakenNames(db: Db, path: string, version: number): void {
  const before = objectsAt(version)
  const all = objectsAt(migrations().at(-1)?.version ?? 0)
  const taken = objectsOf(db).find(({ name }) => !before.has(folded(name)) && all.has(folded(name)))
  if (taken === undefined) return
  throw new MirrorError(
    'mirror-foreign',
    `${path} cannot be brought up to date: its ${taken.type} ${oneLine(taken.name)} has a name that task-mirror needs`,
    { facts: { path }, hint: `Rename or drop your own ${taken.type} and run the same command again.` },
  )
}

const known = new Map<number, Map<string, SchemaObject>>()

/** The objects that the migrations up to `version` make, by folded name. */
function objectsAt(version: number): Map<string, SchemaObject> {
  const before = known.get(version)
  if (before !== undefined) return before
  return lend(new Database(':memory:'), (db) => {
    addUrlHost(db)
    for (const migration of migrations()) if (migration.version <= version) db.exec(migration.sql)
    const objects = new Map(objectsOf(db).map((object) => [folded(object.name), object]))
    known.set(version, objects)
    return objects
  })
}

/** All objects but those of SQLite itself: `sqlite_sequence`, `sqlite_stat1`, the indexes of UNIQUE and PRIMARY KEY. */
function objectsOf(db: Db): SchemaObject[] {
  return db
    .prepare(
      `SELECT type, name, tbl_name AS owner, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .all() as SchemaObject[]
}

function isUnique({ type, sql }: SchemaObject): boolean {
  return type === 'index' && /^CREATE UNIQUE/i.test(meaning(sql))
}

/** SQLite compares names without regard to the case of ASCII letters. */
function folded(name: string): string {
  return name.toLowerCase()
}

/** SQL to compare: comments and white space, which a later version may change, as one space; quoted text as it is. */
function meaning(sql: string | null): string {
  return (sql ?? '')
    .replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|(?:\s|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$))+/g, (part) =>
      /^['"]/.test(part) ? part : ' ',
    )
    .trim()
}

function refused(path: string, what: string, remedy = RESTORE): MirrorError {
  return new MirrorError('mirror-damaged', `The mirror ${path} was changed by somebody else: ${what}`, {
    facts: { path },
    hint: `Nothing was read or changed. ${remedy}`,
  })
}

/** The remedy. Dropping the object does not undo what was done through it: only a full walk mends that. */
function dropping({ type, name }: SchemaObject): string {
  const statement = `DROP ${type.toUpperCase()} "${name.replaceAll('"', '""')}"`
  // Of a name that is not shown whole, it would drop nothing, or something else.
  const how = oneLine(name) === name ? `: \`${statement}\`` : ''
  return `Remove it with any SQLite program${how}; then run \`task-mirror verify\` and \`task-mirror sync --full\`.`
}
