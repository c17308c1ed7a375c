// Compares the rows of a published snapshot with the mirror, as far as the mirror still has what it had at that cut: a row
// that has changed since can no longer be compared, all others must be equal, and none may be absent.
import { setImmediate as breathe } from 'node:timers/promises'
import { linesOf } from '../encode/lines.ts'
import { taskLine } from '../encode/ndjson.ts'
import { openParquet } from '../encode/parquet/read.ts'
import type { RecordedFilters } from '../publish/feed.ts'
import type { Manifest } from '../publish/manifest.ts'
import { COLUMNS, type Column, positionOf, type RawRow } from '../read/columns.ts'
import { makeRedactor, redactRow } from '../read/redact.ts'
import { openCut } from '../read/rows.ts'

/** How many rows were compared, and how many have changed in the mirror since. */
export interface Comparison {
  compared: number
  changedSince: number
  /** Why nothing was compared; null where rows were. */
  notComparable: string | null
}

type Fault = { check: 'content' | 'absent'; message: string }

export interface Comparing {
  /** What is wrong with the rows of a file, at most `MOST_FAULTS`. Files come in the order of the manifest. */
  file(path: string): Promise<Fault[]>
  /** Whether the mirror has rows of that cut that no file had. Call after the last file. */
  absent(): Promise<Fault[]>
  result(): Comparison
  close(): void
}

const MOST_FAULTS = 10
const CHANGE_SEQ = positionOf('change_seq')

/** Throws what opening the mirror throws. */
export function compareWithMirror(dbPath: string, manifest: Manifest): Comparing {
  const filters = manifest.filters as RecordedFilters
  const { since, until, statuses, includeDeleted, invalidJson = 'keep' } = filters
  const cut = openCut(dbPath, { since, until, statuses, includeDeleted, invalidJson, sinceSeq: manifest.sinceSeq })
  const redactor = makeRedactor(manifest.redacted.names)
  const columns = COLUMNS.filter(({ name }) =>
    manifest.schema.some((column) => column.name === name && column.type !== 'variant'),
  )
  const limit = BigInt(manifest.cut)
  const notComparable =
    cut.cut < manifest.cut ? `The mirror has changes up to ${cut.cut} only, the snapshot up to ${manifest.cut}` : null
  let compared = 0
  let changedSince = 0

  /** The row as it was published; null where it has changed since, undefined where the mirror has none. */
  function published(id: string): RawRow | null | undefined {
    const row = cut.row(id)
    if (row === null) return undefined
    if ((row[CHANGE_SEQ] as bigint) > limit) return null
    redactRow(row, redactor)
    return row
  }

  function compare(id: string, differsFrom: (row: RawRow) => string | null): Fault | null {
    const row = published(id)
    if (row === null) {
      changedSince++
      return null
    }
    if (row === undefined) return { check: 'content', message: `The mirror has no task ${id}` }
    compared++
    const what = differsFrom(row)
    return what === null ? null : { check: 'content', message: `Task ${id} differs in ${what}` }
  }

  function compareLine(line: string): Fault | null {
    const { id } = JSON.parse(line) as { id: string }
    return compare(id, (row) => (taskLine(row, filters.withMeta) === line ? null : 'its text'))
  }

  function compareRow(found: Record<string, unknown>): Fault | null {
    if (typeof found.id !== 'string') return { check: 'content', message: 'A row has no id' }
    return compare(found.id, (row) => firstDifference(found, row, columns))
  }

  async function* faultsOf(path: string): AsyncGenerator<Fault | null> {
    if (manifest.format === 'ndjson') {
      for await (const line of linesOf(path, manifest.compression)) yield compareLine(line)
      return
    }
    const file = await openParquet(path)
    try {
      for await (const rows of file.rowGroups()) {
        for (const row of rows) yield compareRow(row)
        await breathe()
      }
    } finally {
      await file.close()
    }
  }

  return {
    async file(path) {
      if (notComparable !== null || !columns.some(({ name }) => name === 'id')) return []
      const faults: Fault[] = []
      for await (const fault of faultsOf(path)) {
        if (fault !== null) faults.push(fault)
        if (faults.length >= MOST_FAULTS) break
      }
      return faults
    },
    async absent() {
      if (notComparable !== null) return []
      let expected = 0
      for (const batch of cut.batches()) {
        for (const row of batch) if ((row[CHANGE_SEQ] as bigint) <= limit) expected++
        await breathe()
      }
      if (expected === compared) return []
      return [
        {
          check: 'absent',
          message: `The mirror has ${expected} rows of that cut that have not changed since, the files have ${compared}`,
        },
      ]
    },
    result: () => ({ compared, changedSince, notComparable }),
    close: () => cut.close(),
  }
}

function firstDifference(found: Record<string, unknown>, row: RawRow, columns: readonly Column[]): string | null {
  for (const { name } of columns) if ((found[name] ?? null) !== row[positionOf(name)]) return name
  return null
}
