// `backfill`: a full walk by hand, a range of createdAt, or single tasks.
import { MirrorError } from '../errors.ts'
import type { CommandSpec } from './shared/command.ts'
import { RUN_FLAGS, type RunFlags, runAndPrint } from './shared/run-sync.ts'
import { checkRange, RANGE_FLAGS } from './shared/values.ts'

interface BackfillFlags extends RunFlags {
  since?: number
  until?: number
  refetch?: true
  id?: string[]
}

export const backfill: CommandSpec<BackfillFlags> = {
  name: 'backfill',
  summary: 'read the whole list, a range of createdAt or single tasks; resumable',
  examples: [
    'task-mirror backfill',
    'task-mirror backfill --since 2026-11-01 --until 2026-11-08',
    'task-mirror backfill --since 7d --refetch',
    'task-mirror backfill --id ID1 ID2',
  ],
  flags: [
    ...RANGE_FLAGS,
    { flags: '--refetch', description: 'ask for every task by id again' },
    { flags: '--id <id...>', description: 'fetch just these tasks, with spaces between the ids' },
    ...RUN_FLAGS,
  ],
  async run(context, flags) {
    const { since = null, until = null, id: ids } = flags
    checkRange(since, until)
    if (ids !== undefined && (since !== null || until !== null)) {
      throw new MirrorError('usage-invalid', '--id cannot be combined with --since and --until')
    }
    return runAndPrint(context, flags, {
      command: 'backfill',
      full: ids === undefined && since === null && until === null,
      since,
      until,
      refetch: flags.refetch === true,
      ids,
    })
  },
}
