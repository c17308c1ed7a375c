// Brings a mirror to this program's schema, forward only; refuses one of a newer program, or with changed objects.
import { MirrorError } from '../errors.ts'
import { addUrlHost } from './as-migrated.ts'
import type { Db } from './connect.ts'
import { APPLICATION_ID } from './inspect.ts'
import { checkObjects, migrations, refuseTakenNames } from './schema.ts'

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
