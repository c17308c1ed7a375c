// task-mirror(1), made of the table of commands. Pure; man(7) and groff_man(7) say how such a page is written.
import type { Flag } from '../src/commands/shared/command.ts'
import { EXIT } from '../src/errors.ts'
import { FORMAT_NAMES, titlesOf } from '../src/export/formats.ts'
import { SHARED_FLAGS } from '../src/flags.ts'
import { EXIT_MEANING, namedCommands, sentence } from './commands-document.ts'

/** As it stands in text: a backslash begins an escape, a hyphen would become a dash, a line must not begin with a dot. */
const text = (words: string) =>
  words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^(?=[.'])/gm, '\\&')

const bold = (words: string) => `\\fB${text(words)}\\fR`

function item(term: string, description: string): string {
  return `.TP\n${bold(term)}\n${text(description)}`
}

const flagItems = (flags: readonly Flag[]) => flags.map(({ flags: term, description }) => item(term, description))

export async function manPage(version: string, changed: Date): Promise<string> {
  const commands = await namedCommands()
  const chapters = commands.flatMap(({ name, spec: { argument, summary, examples }, flags }) => [
    `.SS ${text([name, argument?.name].filter(Boolean).join(' '))}`,
    text(sentence(summary)),
    ...(argument === undefined ? [] : [item(argument.name, argument.description)]),
    ...flagItems(flags),
    `.PP\n.EX\n${examples.map(text).join('\n')}\n.EE`,
  ])
  const codes = Object.entries(EXIT).map(([name, value]) =>
    item(String(value), EXIT_MEANING[name as keyof typeof EXIT]),
  )
  return `${[
    `.TH TASK\\-MIRROR 1 ${changed.toISOString().slice(0, 10)} "task\\-mirror ${version}" "User Commands"`,
    '.SH NAME',
    'task\\-mirror \\- copy the tasks of an account of the Task Query Service into a SQLite file',
    '.SH SYNOPSIS',
    `${bold('task-mirror')} \\fIcommand\\fR [\\fIflag\\fR...]`,
    '.SH DESCRIPTION',
    text(
      `Copies every task of a Task Query Service account into a SQLite file, keeps it current, and tells if anything could be missing. From the file it publishes ${titlesOf(FORMAT_NAMES, 'and')}.`,
    ),
    '.PP',
    text(
      'stdout carries data only (with --json one object on one line); the log and progress go to stderr. Durations are written 90s, 50m, 7d.',
    ),
    '.SH COMMANDS',
    ...chapters,
    '.SH OPTIONS OF EVERY COMMAND',
    ...flagItems(SHARED_FLAGS),
    item('-h, --help', 'print help'),
    '.SH ENVIRONMENT',
    item('TASK_MIRROR_API_KEY_FILE', 'the file that holds the API key, or TASK_MIRROR_API_KEY the key itself'),
    item(
      'TASK_MIRROR_...',
      'every flag has a variable: --base-url is TASK_MIRROR_BASE_URL. A flag wins over its variable, that one over the configuration file',
    ),
    '.SH EXIT STATUS',
    ...codes,
    '.SH FILES',
    item('task-mirror.json', 'the configuration, in the working directory, or where --config says'),
    item('task-mirror.sqlite', 'the mirror, in the working directory, or where --db or mirror.path say'),
    '.SH SEE ALSO',
    `${bold('sqlite3')}(1), ${bold('systemd.timer')}(5), ${bold('crontab')}(5)`,
  ].join('\n')}\n`
}
