// Contenders that are programs of the machine: found on the PATH, or left out with the reason in words.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import Database from 'better-sqlite3'
import { type Cost, measure } from './measure.ts'
import { expectCount } from './stage.ts'

/** Whether all `programs` are there; says on stdout which are missing, and what is therefore not measured. */
export function areThere(contender: string, programs: readonly string[]): boolean {
  const missing = programs.filter((name) => !isOnPath(name))
  if (missing.length > 0) console.log(`not measured: ${contender}: not installed here: ${missing.join(', ')}`)
  return missing.length === 0
}

function isOnPath(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** All tasks of `base` into a table of the file `path`, by curl, jq and sqlite-utils. */
export async function takeInByShell(base: string, path: string, tasks: number): Promise<Cost> {
  const cost = await measure(['/bin/sh', new URL('./plain/shell.sh', import.meta.url).pathname, base, path])
  const db = new Database(path, { readonly: true })
  expectCount('curl + jq + sqlite-utils', db.prepare('SELECT count(*) FROM tasks').pluck().get() as number, tasks)
  db.close()
  return cost
}
