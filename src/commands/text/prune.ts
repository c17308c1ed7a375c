// The text of `prune`. Pure.
import prettyBytes from 'pretty-bytes'
import type { PruneResult } from '../../mirror/maintenance/prune.ts'
import { countText } from '../../shown.ts'

export function pruneText({ rows, bytes, dryRun }: PruneResult & { dryRun: boolean }): string {
  if (rows === 0) return 'No deleted task that old has a payload left.'
  const what = `${countText(rows, 'deleted task')}, ${prettyBytes(bytes)} of payload`
  if (dryRun) return `${what}: would be removed; nothing was written.`
  const hint = 'sqlite3 FILE VACUUM, while nothing runs, gives the space back to the disk and wipes the last traces.'
  return `${what} removed. New tasks fill the gaps in the file; ${hint}`
}
