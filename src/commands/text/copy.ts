// The text of `copy`. Pure.
import prettyBytes from 'pretty-bytes'
import prettyMilliseconds from 'pretty-ms'
import type { CopyResult } from '../../export/copy.ts'
import { countText, grouped } from '../../shown.ts'
import { pairs } from './layout.ts'

export function copyText({ path, tasks, bytes, cut, durationMs }: CopyResult, width?: number): string {
  return pairs(
    [
      ['copy', path],
      ['content', `${countText(tasks, 'task')}, ${prettyBytes(bytes)}`],
      ['cut', `change ${grouped(cut)}`],
      ['duration', prettyMilliseconds(durationMs)],
    ],
    width,
  )
}
