// The rows of `walk_evidence`: what proves a walk, in the order in which it was told, and which of it is kept.
import { createHash } from 'node:crypto'
import { idSum } from '../../task/id-hash.ts'
import type { Db } from '../open.ts'
import { writeOne } from './statements.ts'

/** Tasks that a walk met for the first time. */
export class Met {
  count = 0
  ids = 0

  add(id: string): void {
    this.count += 1
    this.ids = idSum(this.ids, id)
  }
}

export interface EvidenceRow {
  number: number
  lines: string
  marked: number
  ids: number
}

/** In order. */
export function evidenceOf(db: Db, walkId: number): IterableIterator<EvidenceRow> {
  return db
    .prepare('SELECT number, lines, marked, ids FROM walk_evidence WHERE walk_id = ? ORDER BY number')
    .iterate(walkId) as IterableIterator<EvidenceRow>
}

/** Hex. */
export function evidenceDigest(rows: Iterable<EvidenceRow>): string {
  const hash = createHash('sha256')
  for (const { number, lines, marked, ids } of rows) hash.update(`${number} ${marked} ${ids} ${lines}\n`)
  return hash.digest('hex')
}

export function evidenceTable(db: Db) {
  const insert = db.prepare(
    `INSERT INTO walk_evidence (walk_id, number, lines, marked, ids)
     SELECT ?, coalesce(max(number), 0) + 1, ?, ?, ? FROM walk_evidence WHERE walk_id = ?`,
  )
  const end = db.prepare('UPDATE walks SET evidence_sha256 = ? WHERE id = ?')
  const forget = ['walk_marks', 'walk_evidence'].map((table) =>
    db.prepare(
      `DELETE FROM ${table} WHERE walk_id IS NOT ? AND walk_id NOT IN (SELECT id FROM walks WHERE evidence_sha256 IS NOT NULL
       AND id >= (SELECT max(id) FROM walks WHERE kind = 'full' AND verdict = 'complete'))`,
    ),
  )
  return {
    /** `lines` as JSON text. */
    add: (walkId: number, lines: string, { count, ids }: Met): void =>
      void writeOne(insert, walkId, lines, count, ids, walkId),
    /** The walk is complete. */
    seal: (walkId: number): void => void writeOne(end, evidenceDigest(evidenceOf(db, walkId)), walkId),
    /**
     * Forgets marks and evidence of every walk that proves nothing any more: all before the last complete full walk, and
     * those that were cut off or partial, but `keepWalkId`, which goes on.
     */
    forget(keepWalkId: number | null): void {
      for (const statement of forget) statement.run(keepWalkId)
    },
  }
}

export type EvidenceTable = ReturnType<typeof evidenceTable>
