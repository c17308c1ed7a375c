// docs/commands.md, made of the table of commands. Pure. What an exit code means is told here and nowhere else.

import { COMMANDS } from '../src/commands/index.ts'
import type { AnyCommand, CommandGroup, Flag } from '../src/commands/shared/command.ts'
import { EXIT } from '../src/errors.ts'
import { SHARED_FLAGS } from '../src/flags.ts'
import { listed } from '../src/shown.ts'

export const EXIT_MEANING: Record<keyof typeof EXIT, string> = {
  done: 'done',
  bug: 'a bug or an unforeseen failure',
  usage: 'wrong usage or configuration; nothing was sent',
  partial: 'done, but something was set aside or could not be proven, or a check fell short',
  service:
    'the service cannot be reached, keeps failing, or asks to wait longer than this run may: progress is kept, try later',
  keyRefused: 'the service refuses the key',
  locked: 'another run holds the mirror',
  mirror:
    'the mirror or a snapshot is damaged or cannot be read or written, the disk is full, or the mirror belongs to another service or account',
  sighup: 'stopped by SIGHUP, as when a terminal closes; what was committed is kept',
  sigint: 'stopped by SIGINT; what was committed is kept',
  sigterm: 'stopped by SIGTERM; what was committed is kept',
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/<([^<>\s]+)>/g, '&lt;$1&gt;')
const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function flagTable(flags: readonly Flag[]): string {
  return table(
    ['flag', 'does'],
    flags.map((flag) => [code(flag.flags), cell(flag.description)]),
  )
}

export interface NamedCommand {
  /** With that of its group: `config show`. */
  name: string
  spec: AnyCommand
  flags: readonly Flag[]
}

/** Every command, those of groups one by one. */
export async function namedCommands(
  entries: readonly (AnyCommand | CommandGroup)[] = COMMANDS,
  prefix = '',
): Promise<NamedCommand[]> {
  const found = entries.map(async (entry) => {
    const name = `${prefix}${entry.name}`
    if ('commands' in entry) return namedCommands(entry.commands, `${name} `)
    return [{ name, spec: entry, flags: Array.isArray(entry.flags) ? entry.flags : await entry.flags() }]
  })
  return (await Promise.all(found)).flat()
}

export const sentence = (summary: string) => `${summary[0]!.toUpperCase()}${summary.slice(1)}.`

function chapter({ name, spec: { argument, summary, examples }, flags }: NamedCommand): string {
  return [
    `## ${name}${argument === undefined ? '' : ` ${cell(argument.name)}`}`,
    sentence(summary),
    ...(argument === undefined ? [] : [`${code(argument.name)}: ${cell(argument.description)}.`]),
    ...(flags.length === 0 ? [] : [flagTable(flags)]),
    `\`\`\`text\n${examples.join('\n')}\n\`\`\``,
  ].join('\n\n')
}

export async function commandsDocument(): Promise<string> {
  const codes = Object.entries(EXIT).map(([name, value]) => [String(value), EXIT_MEANING[name as keyof typeof EXIT]])
  const named = await namedCommands()
  const lasting = named.filter(({ spec }) => spec.untilSignal === true).map(({ name }) => code(name))
  return `${[
    '# Commands, flags and exit codes',
    '<!-- Written by `npm run docs`. -->',
    'stdout carries data only: with `--json` [one object on one line](json.md). The log and progress go to stderr; `kill -USR2` prints progress. Durations are written `90s`, `50m`, `7d`.',
    'Every flag has an environment variable: `--max-duration` is `TASK_MIRROR_MAX_DURATION`, for every command that has the flag. It is `true` or `false` for a flag without a value (for `--changes`, also its value), and several values have commas between them. An empty one is as good as not set. A flag wins over its variable, and that one over the [configuration file](configuration.md).',
    '## Every command',
    flagTable(SHARED_FLAGS),
    ...named.map(chapter),
    '## Exit codes',
    table(['exit code', 'meaning'], codes),
    `${listed(lasting, 'and')} stay up until a signal: for them it is the ordinary end, exit 0.`,
    'Several at once: the signal, then 7, 5, 4, 3. [operations.md](operations.md) says what to do at each.',
  ].join('\n\n')}\n`
}
