// Parquet in the registry of formats: one of two engines, read back by a third party; each loaded when it is needed.
import { positionOf, type RawRow } from '../../read/columns.ts'
import type { Encoding, FormatCode } from '../format.ts'
import { hyparquetEngine } from './hyparquet.ts'

export const parquet: FormatCode = {
  encoder: async ({ engine }) =>
    engine === 'parquetjs-lite' ? (await import('./parquetjs-lite.ts')).parquetjsLiteEngine : hyparquetEngine,

  async countRows(path) {
    const { openParquet } = await import('./read.ts')
    return (await openParquet(path)).rows
  },

  async *read(path, { columns }) {
    const { openParquet } = await import('./read.ts')
    for await (const rows of (await openParquet(path)).rowGroups()) {
      yield rows.map((found) => ({
        ids: typeof found.id === 'string' ? [found.id] : [],
        differsFrom: (row: RawRow) => firstDifference(found, row, columns),
      }))
    }
  },
}

/** The first column that differs. A variant is not compared: it comes back as other text than it was. */
function firstDifference(found: Record<string, unknown>, row: RawRow, columns: Encoding['columns']): string | null {
  for (const { name, kind } of columns) {
    if (kind !== 'variant' && (found[name] ?? null) !== row[positionOf(name)]) return name
  }
  return null
}
