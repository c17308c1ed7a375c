// `completion`: prints a shell's completion script, made from the same table of commands and flags as the help.
import { longName, SHARED_FLAGS } from '../flags.ts'
import type { AnyCommand, CommandGroup, CommandSpec, Flag } from './shared/command.ts'
import type { CompletedCommand, CompletedFlag, Shell } from './text/completion-scripts.ts'

const SHELL_NAMES: readonly Shell[] = ['bash', 'zsh', 'fish']

type Entry = AnyCommand | CommandGroup

/** The command; `commands` returns the table of all commands, which includes this one. */
export function completionOf(commands: () => readonly Entry[]): CommandSpec {
  return {
    name: 'completion',
    argument: { name: '<shell>', description: SHELL_NAMES.join(', '), choices: SHELL_NAMES },
    summary: 'print the completion script of a shell',
    examples: [
      'source <(task-mirror completion bash)',
      'source <(task-mirror completion zsh)',
      'task-mirror completion fish | source',
    ],
    flags: [],
    async run(context, _, shell) {
      const { completionScript } = await import('./text/completion-scripts.ts')
      const { oneOf } = await import('./shared/values.ts')
      const name = oneOf(shell, SHELL_NAMES, 'shell')
      const completed = await Promise.all(commands().map(completedCommand))
      const script = completionScript(name, completed, [...SHARED_FLAGS.map(completedFlag), HELP])
      await context.print(context.json ? { schemaVersion: 1, shell: name, script } : script.trimEnd())
      return 0
    },
  }
}

const HELP: CompletedFlag = { long: '--help', short: '-h', description: 'print help', value: 'none' }

async function completedCommand(entry: Entry): Promise<CompletedCommand> {
  const { name, summary } = entry
  if ('commands' in entry) {
    const inner = await Promise.all(entry.commands.map(completedCommand))
    const words = inner.map((command) => ({ name: command.name, summary: command.summary }))
    return { name, summary, flags: inner.flatMap(({ flags }) => flags), words }
  }
  const flags = Array.isArray(entry.flags) ? entry.flags : await entry.flags()
  const words = (entry.argument?.choices ?? []).map((choice) => ({ name: choice, summary: '' }))
  return { name, summary, flags: flags.map(completedFlag), words }
}

function completedFlag(flag: Flag): CompletedFlag {
  const short = /^-[a-z]\b/.exec(flag.flags)?.[0] ?? null
  return { long: longName(flag), short, description: flag.description, value: followedBy(flag) }
}

function followedBy({ flags, choices }: Flag): CompletedFlag['value'] {
  if (choices !== undefined) return choices
  const placeholder = /<([a-z]+)/.exec(flags)?.[1]
  if (placeholder === undefined) return 'none'
  if (placeholder === 'file' || placeholder === 'path') return 'file'
  return placeholder === 'folder' || placeholder === 'dir' ? 'folder' : 'other'
}
