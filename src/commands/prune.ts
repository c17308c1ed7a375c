// `prune`: removes the payloads of tasks that the service deleted long ago.
import { parsePast } from '../config/duration.ts'
import { EXIT, MirrorError } from '../errors.ts'
import type { CommandSpec } from './shared/command.ts'

export const prune: CommandSpec<{ deletedBefore?: number; dryRun?: true }> = {
  name: 'prune',
  summary: 'remove request and result of tasks deleted long ago; nothing else ever leaves the mirror',
  examples: ['task-mirror prune --deleted-before 90d --dry-run', 'task-mirror prune --deleted-before 2026-01-01'],
  flags: [
    {
      flags: '--deleted-before <moment>',
      description: 'of tasks deleted before: 2026-01-01 (UTC, unless it names a zone), epoch ms or 90d',
      parse: parsePast,
    },
    { flags: '--dry-run', description: 'count what would go and write nothing' },
  ],
  async run(context, { deletedBefore, dryRun = false }) {
    if (deletedBefore === undefined) {
      throw new MirrorError('usage-invalid', '--deleted-before is missing', {
        hint: 'Say how old a tombstone must be, such as `task-mirror prune --deleted-before 90d`.',
      })
    }
    const { config } = await context.config()
    const { path, busyTimeoutMs, fileMode } = config.mirror
    const { pruneDeleted } = await import('../mirror/maintenance/prune.ts')
    const { signal, now, progress } = context
    const result = await pruneDeleted({
      path,
      busyTimeoutMs,
      fileMode: Number.parseInt(fileMode, 8),
      deletedBefore,
      dryRun,
      signal,
      now,
      onProgress: (done) => progress.set({ phase: 'prune', done }),
    })
    const { pruneText } = await import('./text/prune.ts')
    await context.printSummary(
      context.json ? { schemaVersion: 1, deletedBefore, dryRun, ...result } : pruneText({ dryRun, ...result }),
    )
    return EXIT.done
  },
}
