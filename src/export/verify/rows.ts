// Compares a snapshot's rows with the mirror, except those changed since its cut, and finds out if some are absent.
import { setImmediate as breathe } from 'node:timers/promises'
import { knowsSnapshot } from '../../mirror/tables/snapshots.ts'
import type { FoundRow } from '../encode/format.ts'
import { codeOf } from '../formats.ts'
import { encodingOf, type Manifest, type RecordedFilters } from '../publish/manifest.ts'
import { positionOf, type RawRow } from '../read/columns.ts'
import { Redactor, rowRedactor } from '../read/redact.ts'
import { openCut } from '../read/rows.ts'

/** How many rows were compared, and how many have changed in the mirror since. */
export interface Comparison {
  compared: number
  changedSince: number
  /** Why nothing was compared; null where rows were. */
  notComparable: string | null
  /** Whether the mirror has a row about the publication; else it may have been restored or made anew since. */
  known: boolean
}

type Fault = { check: 'content' | 'absent'; message: string }

const MOST_FAULTS = 10
const CHANGE_SEQ = positionOf('change_seq')

/** Compares a snapshot with the mirror. Give files in the manifest's order. Throws what opening the mirror throws. */
export function comparisonOf(dbPath: string, manifest: Manifest) {
  const { since, until, statuses, includeDeleted, invalidJson = 'keep' } = manifest.filters as RecordedFilters
  const filters = { since, until, statuses, includeDeleted, invalidJson, sinceSeq: manifest.sinceSeq }
  const mirror = openCut(dbPath, filters)
  const redact = rowRedactor(new Redactor(manifest.redacted.names))
  const result: Comparison = {
    compared: 0,
    changedSince: 0,
    notComparable: notComparable(mirror.cut, manifest),
    known: knowsSnapshot(dbPath, manifest.snapshotId),
  }

  /** The row as it was published; null where it has changed since, undefined where the mirror has none. */
  function published(id: string): RawRow | null | undefined {
    const row = mirror.row(id)
    if (row === null) return undefined
    if (!isOfCut(row, manifest)) return null
    redact(row)
    return row
  }

  function faultOf({ ids, differsFrom }: FoundRow): Fault | null {
    if (ids.length === 0) return { check: 'content', message: 'A row has no id' }
    let fault: Fault | null = null
    for (const id of ids) {
      const row = published(id)
      if (row === undefined) continue
      const what = row === null ? null : differsFrom(row)
      if (what === null) {
        result[row === null ? 'changedSince' : 'compared']++
        return null
      }
      fault ??= { check: 'content', message: `Task ${id} differs in ${what}` }
    }
    if (fault !== null) result.compared++
    return fault ?? { check: 'content', message: `The mirror has no task ${ids[0]}` }
  }

  return {
    result,
    close: () => mirror.close(),

    /** What is wrong with the rows of a file, at most `MOST_FAULTS`. */
    async file(path: string): Promise<Fault[]> {
      const faults: Fault[] = []
      if (result.notComparable !== null) return faults
      const code = await codeOf(manifest.format)
      for await (const rows of code.read(path, encodingOf(manifest))) {
        for (const row of rows) {
          const fault = faultOf(row)
          if (fault !== null && faults.push(fault) >= MOST_FAULTS) return faults
        }
        await breathe()
      }
      return faults
    },

    /** Whether the mirror has rows of that cut that no file had. Call after the last file. */
    absent(): Fault[] {
      if (result.notComparable !== null) return []
      const expected = mirror.countUpTo(manifest.cut)
      if (expected === result.compared) return []
      const found = `the files have ${result.compared}`
      const message = `The mirror has ${expected} rows of that cut that have not changed since, ${found}`
      return [{ check: 'absent', message }]
    },
  }
}

function notComparable(cut: number, manifest: Manifest): string | null {
  if (cut < manifest.cut) return `The mirror has changes up to ${cut} only, the snapshot up to ${manifest.cut}`
  return encodingOf(manifest).columns.some(({ name }) => name === 'id') ? null : 'The snapshot has no column id'
}

function isOfCut(row: RawRow, { cut }: Manifest): boolean {
  return (row[CHANGE_SEQ] as bigint) <= BigInt(cut)
}
