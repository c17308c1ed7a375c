// The text of `restore`. Pure.
import prettyBytes from 'pretty-bytes'
import type { Restored } from '../../mirror/maintenance/restore.ts'
import { countText, grouped } from '../../shown.ts'
import { pairs } from './layout.ts'

export function restoreText({ path, from, tasks, cut, bytes, movedTo }: Restored, width?: number): string {
  return pairs(
    [
      ['mirror', path],
      ['restored', `${countText(tasks, 'task')} of ${from}, ${prettyBytes(bytes)}`],
      ['cut', `change ${grouped(cut)}; the next sync brings what is missing`],
      ['old mirror', movedTo === null ? 'there was none' : `${movedTo}; remove it once all is well`],
    ],
    width,
  )
}
