// `restore`: puts a backup in the place of the mirror.
import { EXIT } from '../errors.ts'
import type { CommandSpec } from './shared/command.ts'

export const restore: CommandSpec = {
  name: 'restore',
  argument: { name: '<file>', description: 'the backup: a copy of a mirror' },
  summary: 'replace the mirror by a backup, which is checked first; the old mirror is moved away with its WAL',
  examples: [
    'task-mirror restore backup.sqlite',
    'task-mirror restore backup.sqlite --db /srv/tasks/task-mirror.sqlite',
  ],
  flags: [],
  async run(context, _, file) {
    const { config } = await context.config()
    const { restoreMirror } = await import('../mirror/maintenance/restore.ts')
    const { restoreText } = await import('./text/restore.ts')
    const { signal, now, progress } = context
    const result = await restoreMirror({
      path: config.mirror.path,
      from: file,
      fileMode: Number.parseInt(config.mirror.fileMode, 8),
      signal,
      now,
      onProgress: (phase, done, total) => progress.set({ phase, done, total }),
    })
    await context.printSummary(context.json ? { schemaVersion: 1, ...result } : restoreText(result, context.columns))
    return EXIT.done
  },
}
