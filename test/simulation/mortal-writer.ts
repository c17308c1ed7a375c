// A writer that can die: before or after any call, or within any statement of a transaction. What was committed stays in
// the file, everything else is gone, and nobody gets an answer any more.
import Database from 'better-sqlite3'
import type { Session } from '../../src/sync/session.ts'
import { localWriter, type Writer } from '../../src/sync/thread.ts'
import type { RunPlan } from './scenario.ts'

export class Killed extends Error {}

const WITHIN = 'killed within a statement'

/** Called with every call that was carried out, in order. */
export type Witness = (name: string, args: unknown[], result: unknown) => void

export interface MortalWriter {
  writer: Writer
  isDead(): boolean
}

export function mortalWriter(session: Session, kill: RunPlan['kill'], witness: Witness): MortalWriter {
  const inner = localWriter(session) as unknown as Record<string, (...args: unknown[]) => unknown>
  let calls = 0
  let dead = false
  const die = (): never => {
    if (!dead) session.close()
    dead = true
    throw new Killed()
  }
  const writer = new Proxy({} as Writer, {
    get(_, name: string) {
      if (name === 'then') return undefined
      return async (...args: unknown[]) => {
        if (dead) {
          if (name === 'close' || name === 'dropWindow') return 0
          throw new Killed()
        }
        if (name === 'close') return inner.close?.()
        // Nobody waits for this one.
        if (name !== 'dropWindow') calls += 1
        if (kill?.how === 'before' && calls === kill.at && name !== 'dropWindow') die()
        let result: unknown
        try {
          result = (session[name as keyof Session] as (...all: unknown[]) => unknown)(...args)
        } catch (error) {
          if (String(error).includes(WITHIN)) die()
          throw error
        }
        witness(name, args, result)
        if (kill?.how === 'after' && calls === kill.at && name !== 'dropWindow') die()
        return result
      }
    },
  })
  return { writer, isDead: () => dead }
}

const WATCHED = ['tasks', 'walk_marks', 'walks', 'open_checks', 'service_facts', 'runs']

/** Lets the statement number `at` that changes a row of the mirror at `path` fail, and with it its transaction. */
export function layFuse(path: string, at: number): void {
  const db = new Database(path)
  db.exec(`CREATE TABLE simulated_fuse (left INTEGER); INSERT INTO simulated_fuse VALUES (${at})`)
  for (const table of WATCHED) {
    for (const change of ['INSERT', 'UPDATE', 'DELETE']) {
      db.exec(`CREATE TRIGGER simulated_${table}_${change} AFTER ${change} ON ${table} BEGIN
        UPDATE simulated_fuse SET left = left - 1;
        SELECT raise(ABORT, '${WITHIN}') FROM simulated_fuse WHERE left = 0;
      END`)
    }
  }
  db.close()
}

export function removeFuse(path: string): void {
  const db = new Database(path)
  for (const table of WATCHED) {
    for (const change of ['INSERT', 'UPDATE', 'DELETE']) db.exec(`DROP TRIGGER IF EXISTS simulated_${table}_${change}`)
  }
  db.exec('DROP TABLE IF EXISTS simulated_fuse')
  db.close()
}
