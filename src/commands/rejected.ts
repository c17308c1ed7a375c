// `rejected`: lists the items that were set aside and, on request, tries them again.
import { EXIT } from '../errors.ts'
import type { CommandContext, CommandSpec } from './shared/command.ts'
import { atLeastOne } from './shared/values.ts'

const SHOWN = 50

export const rejected: CommandSpec<{ replay?: true; raw?: true; limit?: number }> = {
  name: 'rejected',
  summary: 'list items that were set aside, or try to take them in again',
  examples: ['task-mirror rejected', 'task-mirror rejected --raw --json', 'task-mirror rejected --replay'],
  flags: [
    { flags: '--replay', description: 'try to take them in again; exit 3 if some are left' },
    { flags: '--raw', description: 'print the raw text too' },
    {
      flags: '--limit <number>',
      description: `list at most so many, newest first (default: ${SHOWN})`,
      parse: atLeastOne,
    },
  ],
  async run(context, { replay, raw, limit = SHOWN }) {
    const { config } = await context.config()
    if (replay === true) return replayAll(context)
    const { read } = await import('./shared/reading.ts')
    await read(context, 'rejected', {
      ...{ dbPath: config.mirror.path, json: context.json, columns: context.columns },
      ...{ limit, withRaw: raw === true },
    })
    return EXIT.done
  },
}

async function replayAll(context: CommandContext): Promise<number> {
  const { serviceContext } = await import('./shared/service-context.ts')
  const { replaySetAside } = await import('../sync/one-off/replay.ts')
  const { replayText } = await import('./text/rejected.ts')
  const result = await replaySetAside(await serviceContext(context))
  await context.print(context.json ? result : replayText(result))
  return result.left > 0 ? EXIT.partial : EXIT.done
}
