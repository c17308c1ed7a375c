// A writer that can die: before or after any call, or within any statement of a transaction. What was committed stays in
// the file, everything else is gone, and nobody gets an answer any more.
import Database from 'better-sqlite3'
import { prepareWindow } from '../../src/sync/writer/prepare.ts'
import type { Session } from '../../src/sync/writer/session.ts'
import type { Writer } from '../../src/sync/writer/thread.ts'
import { isWindowCall, WindowRelay } from '../../src/sync/writer/window-relay.ts'
import type { RunPlan } from './scenario.ts'

export const FINAL_STATUSES: ReadonlySet<string> = new Set(['DONE', 'FAILED'])

export class Killed extends Error {}

const WITHIN = 'killed within a statement'

/** Called with every call that was carried out, in order. */
export type Witness = (name: string, args: unknown[], result: unknown) => void

export interface MortalWriter {
  writer: Writer
  isDead(): boolean
}

export function mortalWriter(session: Session, kill: RunPlan['kill'], witness: Witness): MortalWriter {
  let calls = 0
  let dead = false
  const die = (): never => {
    if (!dead) session.close()
    dead = true
    throw new Killed()
  }
  const carryOut = (name: string, args: unknown[]): unknown =>
    (session[name as keyof Session] as (...all: unknown[]) => unknown)(...args)
  const call = async (name: string, args: unknown[]): Promise<unknown> => {
    if (dead) {
      if (name === 'close' || name === 'dropWindow') return 0
      throw new Killed()
    }
    if (name === 'close') return session.close()
    // Nobody waits for this one.
    if (name === 'dropWindow') return carryOut(name, args)
    calls += 1
    if (kill?.how === 'before' && calls === kill.at) die()
    let result: unknown
    try {
      result = carryOut(name, args)
    } catch (error) {
      if (String(error).includes(WITHIN)) die()
      throw error
    }
    if (!isWindowCall(name)) witness(name, args, result)
    if (kill?.how === 'after' && calls === kill.at) die()
    return result
  }
  const relay = new WindowRelay(call, async (raw) => prepareWindow(raw, FINAL_STATUSES))
  const writer = new Proxy({} as Writer, {
    get(_, name: string) {
      if (name === 'then') return undefined
      return async (...args: unknown[]) => {
        if (!isWindowCall(name)) {
          if (!dead) relay.otherCall()
          return call(name, args)
        }
        // As the walk sees it: what the writer does is a matter between it and the relay.
        if (dead && name !== 'dropWindow') throw new Killed()
        if (name === 'parseList') witness('decode', args, null)
        const result = await (relay[name] as (...all: unknown[]) => Promise<unknown>).apply(relay, args)
        if (!dead) witness(name, args, result)
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
