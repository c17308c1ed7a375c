// `config show`: every key with its value and where it came from.
import type { CommandGroup, CommandSpec } from './shared/command.ts'

const show: CommandSpec = {
  name: 'show',
  summary: 'print every key with its value and origin, secrets masked',
  examples: ['task-mirror config show', 'task-mirror config show --json'],
  flags: [],
  async run(context) {
    const { shownKeys } = await import('../config/show.ts')
    const keys = shownKeys(await context.config(), await context.apiKey())
    const { table } = await import('./text/layout.ts')
    const rows = keys.map(({ key, value, origin }) => [key, shownValue(value), origin])
    const layout = { widest: 200, width: context.columns, sentences: [1] }
    await context.print(context.json ? { schemaVersion: 1, keys } : table(['key', 'value', 'origin'], rows, layout))
    return 0
  },
}

function shownValue(value: unknown): string {
  if (value === null) return '-'
  if (Array.isArray(value)) return `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
  return typeof value === 'string' && value === value.trim() ? value : JSON.stringify(value)
}

export const config: CommandGroup = { name: 'config', summary: 'look at the configuration', commands: [show] }
