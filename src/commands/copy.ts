// `copy`: the mirror as one SQLite file for readers.
import { EXIT, MirrorError } from '../errors.ts'
import type { CommandSpec } from './shared/command.ts'
import { refuseNoFile } from './shared/values.ts'

export const copy: CommandSpec<{ out?: string }> = {
  name: 'copy',
  summary: 'publish a copy of the mirror as one SQLite file, for readers elsewhere',
  examples: ['task-mirror copy --out tasks.sqlite', 'task-mirror copy --out /srv/datasette/tasks.sqlite'],
  flags: [{ flags: '--out <file>', description: 'the copy; an existing one is replaced once the new one is complete' }],
  async run(context, { out }) {
    if (out === undefined) {
      throw new MirrorError('usage-invalid', '--out is missing', {
        hint: 'Name the file of the copy, such as `task-mirror copy --out tasks.sqlite`.',
      })
    }
    refuseNoFile(out, 'task-mirror copy --out tasks.sqlite')
    const { config } = await context.config()
    const { copyMirror } = await import('../export/copy.ts')
    const { signal, now } = context
    const result = await copyMirror({
      ...{ dbPath: config.mirror.path, out, signal, now },
      inUse: await context.filesInUse(),
    })
    const { copyText } = await import('./text/copy.ts')
    await context.printSummary(context.json ? result : copyText(result, context.columns))
    return EXIT.done
  },
}
