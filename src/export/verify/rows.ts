// Compares rows of a snapshot with the mirror, but those that have changed since that cut; none may be absent.
import { setImmediate as breathe } from 'node:timers/promises'
import type { FoundRow } from '../encode/format.ts'
import { codeOf, factsOf } from '../formats.ts'
import type { RecordedFilters } from '../publish/feed.ts'
import { encodingOf, type Manifest } from '../publish/manifest.ts'
import { positionOf, type RawRow } from '../read/columns.ts'
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

interface Comparing {
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
  const encoding = encodingOf(manifest)
  const limit = BigInt(manifest.cut)
  const notComparable =
    cut.cut < manifest.cut
      ? `The mirror has changes up to ${cut.cut} only, the snapshot up to ${manifest.cut}`
      : encoding.columns.some(({ name }) => name === 'id')
        ? null
        : 'The snapshot has no column id'
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

  function faultOf({ ids, differsFrom }: FoundRow): Fault | null {
    if (ids.length === 0) return { check: 'content', message: 'A row has no id' }
    let fault: Fault | null = null
    for (const id of ids) {
      const row = published(id)
      if (row === undefined) continue
      const what = row === null ? null : differsFrom(row)
      if (what === null) {
        if (row === null) changedSince++
        else compared++
        return null
      }
      fault ??= { check: 'content', message: `Task ${id} differs in ${what}` }
    }
    if (fault !== null) compared++
    return fault ?? { check: 'content', message: `The mirror has no task ${ids[0]}` }
  }

  return {
    async file(path) {
      if (notComparable !== null) return []
      const faults: Fault[] = []
      const code = await codeOf(manifest.format)
      for await (const rows of code.read(path, encoding)) {
        for (const row of rows) {
          const fault = faultOf(row)
          if (fault !== null && faults.push(fault) >= MOST_FAULTS) return faults
        }
        await breathe()
      }
      return faults
    },
    async absent() {
      if (notComparable !== null) return []
      let expected = 0
      for (const keyRange of cut.keyRanges(factsOf(manifest.format).pieceBytes)) {
        for (const batch of cut.batches(keyRange)) {
          for (const row of batch) if ((row[CHANGE_SEQ] as bigint) <= limit) expected++
          await breathe()
        }
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
