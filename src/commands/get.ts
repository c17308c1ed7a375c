// `get`: one task from the mirror, as the service sent it.
import { EXIT, MirrorError } from '../errors.ts'
import type { CommandSpec } from './shared/command.ts'

export const get: CommandSpec<{ refresh?: true; withMeta?: true }> = {
  name: 'get',
  argument: { name: '<id>', description: 'id of the task' },
  summary: 'print one task from the mirror',
  examples: ['task-mirror get 6f1c9f0e-8d5b-4c1e-9f2a-0f6f5f0c7a11', 'task-mirror get ID --refresh --json'],
  flags: [
    { flags: '--refresh', description: 'ask the service first' },
    { flags: '--with-meta', description: 'add "_mirror": change number, times of this mirror' },
  ],
  async run(context, flags, id) {
    const { config } = await context.config()
    let missing: string | null = null
    if (flags.refresh === true) {
      const { serviceContext } = await import('./shared/service-context.ts')
      const { refreshTask } = await import('../sync/one-off/refresh.ts')
      missing = await refreshTask(await serviceContext(context), id)
    }
    const { read } = await import('./shared/reading.ts')
    const asked = { dbPath: config.mirror.path, json: context.json, id, withMeta: flags.withMeta === true }
    if (!(await read(context, 'task', asked))) throw notInMirror(id, missing)
    if (missing === null) return EXIT.done
    throw new MirrorError('partial', `${missing}; what was printed is what the mirror holds`, {
      facts: { id },
      hint: 'Only a full walk proves that a task was deleted: run `task-mirror sync --full`.',
    })
  },
}

/** `missing`: what the service answered where it was asked first; null where it was not asked. */
function notInMirror(id: string, missing: string | null): MirrorError {
  const message =
    missing === null ? `The mirror holds no task with the id ${id}` : `${missing}, and the mirror holds none either`
  const hint = 'Ids are compared letter for letter'
  return new MirrorError('not-in-mirror', message, {
    facts: { id },
    hint: missing === null ? `${hint}; \`task-mirror get ID --refresh\` asks the service.` : `${hint}.`,
  })
}
