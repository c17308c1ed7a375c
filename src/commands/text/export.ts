// The text of `export`. Pure.
import prettyBytes from 'pretty-bytes'
import prettyMilliseconds from 'pretty-ms'
import type { ExportResult } from '../../export/options.ts'
import { countText, grouped } from '../../shown.ts'
import { pairs } from './layout.ts'

export function exportText(result: ExportResult, width?: number): string {
  const values = Object.values(result.redacted.values).reduce((sum, count) => sum + count, 0)
  const packed = result.compression === 'none' ? '' : `, ${result.compression}`
  return pairs(
    [
      ['snapshot', result.snapshotId],
      [result.manifest === null ? 'file' : 'dataset', result.path],
      ['files', result.manifest === null ? null : grouped(result.files)],
      ['changes', result.sinceSeq === null ? null : `since change ${grouped(result.sinceSeq)}, tombstones included`],
      ['content', `${countText(result.rows, 'task')}, ${result.format}${packed}, ${prettyBytes(result.bytes)}`],
      ['cut', `change ${grouped(result.cut)}, verdict of the last full walk: ${result.verdict ?? 'none yet'}`],
      ['redacted', values === 0 ? null : `${countText(values, 'credential')}; --no-redact keeps them`],
      ['removed', result.removed.length === 0 ? null : countText(result.removed.length, 'older snapshot')],
      ['duration', prettyMilliseconds(result.durationMs)],
    ],
    width,
  )
}
