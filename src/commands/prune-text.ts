// The text of `prune`. Pure.
import prettyBytes from 'pretty-bytes'
import type { PruneResult } from '../mirror/prune.ts'
import { counted } from './layout.ts'

export function pruneText({ rows, bytes, freeBytes, dryRun }: PruneResult & { dryRun: boolean }): string {
  if (rows === 0) return 'No deleted task that old has a payload left.'
  const what = `${counted(rows, 'deleted task')}, ${prettyBytes(bytes)} of payload`
  if (dryRun) return `${what}: would be removed; nothing was written.`
  const free = freeBytes === 0 ? '' : ` ${prettyBytes(freeBytes)} of the file are free for new tasks`
  return `${what} removed.${free}${free === '' ? '' : '; SQLite gives them back to the disk with VACUUM.'}`
}
