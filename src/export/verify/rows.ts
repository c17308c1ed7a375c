// Compares rows of a snapshot with the mirror, but those that have changed since that cut; none may be absent.
import { setImmediate as breathe } from 'node:timers/promises'
import type { FoundRow } from '../encode/format.ts'
import { codeOf, formatEntry } from '../formats.ts'
import type { RecordedFilters } from '../publish/feed.ts'
import { encodingOf, type Manifest } from '../publish/manifest.ts'
import { positionOf, type RawRow } from '../read/columns.ts'
import { Redactor, redactRow } from '../read/redact.ts'
import { type CutReader, openCut } from '../read/rows.ts'

/** How many rows were compared, and how many have changed in the mirror since. */
export interface Comparison {
  compared: number
  changedSince: number
  /** Why nothing was compared; null where rows were. */
  notComparable: string | null
}

type Fault = { check: 'content' | 'absent'; message: string }

const MOST_FAULTS = 10
const CHANGE_SEQ = positionOf('change_seq')

/** A snapshot's rows beside the mirror's. Files come in the order of the manifest. */
export class SnapshotComparison {
  readonly #manifest: Manifest
  readonly #cut: CutReader
  readonly #redactor: Redactor
  readonly #notComparable: string | null
  #compared = 0
  #changedSince = 0

  /** Throws what opening the mirror throws. */
  constructor(dbPath: string, manifest: Manifest) {
    const { since, until, statuses, includeDeleted, invalidJson = 'keep' } = manifest.filters as RecordedFilters
    const filters = { since, until, statuses, includeDeleted, invalidJson, sinceSeq: manifest.sinceSeq }
    this.#manifest = manifest
    this.#cut = openCut(dbPath, filters)
    this.#redactor = new Redactor(manifest.redacted.names)
    const { cut } = this.#cut
    this.#notComparable =
      cut < manifest.cut
        ? `The mirror has changes up to ${cut} only, the snapshot up to ${manifest.cut}`
        : encodingOf(manifest).columns.some(({ name }) => name === 'id')
          ? null
          : 'The snapshot has no column id'
  }

  /** What is wrong with the rows of a file, at most `MOST_FAULTS`. */
  async file(path: string): Promise<Fault[]> {
    if (this.#notComparable !== null) return []
    const faults: Fault[] = []
    const code = await codeOf(this.#manifest.format)
    for await (const rows of code.read(path, encodingOf(this.#manifest))) {
      for (const row of rows) {
        const fault = this.#faultOf(row)
        if (fault !== null && faults.push(fault) >= MOST_FAULTS) return faults
      }
      await breathe()
    }
    return faults
  }

  /** Whether the mirror has rows of that cut that no file had. Call after the last file. */
  async absent(): Promise<Fault[]> {
    if (this.#notComparable !== null) return []
    let expected = 0
    for (const keyRange of this.#cut.keyRanges(formatEntry(this.#manifest.format).pieceBytes)) {
      for (const batch of this.#cut.batches(keyRange)) {
        for (const row of batch) if (this.#isOfCut(row)) expected++
        await breathe()
      }
    }
    if (expected === this.#compared) return []
    const found = `the files have ${this.#compared}`
    const message = `The mirror has ${expected} rows of that cut that have not changed since, ${found}`
    return [{ check: 'absent', message }]
  }

  result(): Comparison {
    return { compared: this.#compared, changedSince: this.#changedSince, notComparable: this.#notComparable }
  }

  close(): void {
    this.#cut.close()
  }

  #isOfCut(row: RawRow): boolean {
    return (row[CHANGE_SEQ] as bigint) <= BigInt(this.#manifest.cut)
  }

  /** The row as it was published; null where it has changed since, undefined where the mirror has none. */
  #published(id: string): RawRow | null | undefined {
    const row = this.#cut.row(id)
    if (row === null) return undefined
    if (!this.#isOfCut(row)) return null
    redactRow(row, this.#redactor)
    return row
  }

  #faultOf({ ids, differsFrom }: FoundRow): Fault | null {
    if (ids.length === 0) return { check: 'content', message: 'A row has no id' }
    let fault: Fault | null = null
    for (const id of ids) {
      const row = this.#published(id)
      if (row === undefined) continue
      const what = row === null ? null : differsFrom(row)
      if (what === null) {
        if (row === null) this.#changedSince++
        else this.#compared++
        return null
      }
      fault ??= { check: 'content', message: `Task ${id} differs in ${what}` }
    }
    if (fault !== null) this.#compared++
    return fault ?? { check: 'content', message: `The mirror has no task ${ids[0]}` }
  }
}
