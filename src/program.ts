// The command line apart from the process: hands commands to commander, maps every error to exit code and words.
import { Command, CommanderError, Option } from 'commander'
import { COMMANDS } from './commands/index.ts'
import type { AnyCommand, CommandContext, CommandGroup, Flag } from './commands/shared/command.ts'
import { type CommandStreams, createContext, MACHINE_CLOCKS } from './context.ts'
import { EXIT, exitCodeOf, isMirrorError } from './errors.ts'
import { FORMAT_NAMES, titlesOf } from './export/formats.ts'
import { tellError } from './failure.ts'
import { collectFlags, SHARED_FLAGS } from './flags.ts'
import { examples, HELP_FORM, paragraph } from './help.ts'
import { shown } from './shown.ts'
import { knownWidth, wantsColour } from './terminal.ts'
import { toolVersion } from './version.ts'

interface Invocation {
  spec: AnyCommand
  flags: readonly Flag[]
  command: Command
  argument: string
}

const ENVIRONMENT = [
  'Every flag has an environment twin: --base-url is TASK_MIRROR_BASE_URL.',
  'The API key comes from TASK_MIRROR_API_KEY or TASK_MIRROR_API_KEY_FILE, never from a flag.',
]
const FIRST_EXAMPLES = [
  'task-mirror demo',
  'task-mirror sync --base-url https://tasks.example.com',
  'task-mirror status',
]

type Invoke = (invocation: Invocation) => Promise<void>

/** Runs one command and returns its exit code. Never throws; `signal` aborts with a `MirrorError` `interrupted`. */
export async function run(argv: string[], streams: CommandStreams, signal: AbortSignal): Promise<number> {
  let context: CommandContext | null = null
  let exitCode: number = EXIT.done
  const invoke: Invoke = async ({ spec, flags, command, argument }) => {
    const { wall } = streams.clocks ?? MACHINE_CLOCKS
    const given = collectFlags([...SHARED_FLAGS, ...flags], command, streams.env, wall())
    context = await createContext(spec, given, streams, signal)
    exitCode = await spec.run(context, given.values as never, argument)
    context.progress.finish()
    if (signal.aborted && spec.untilSignal !== true) exitCode = stopCode(signal) || exitCode
  }
  try {
    const program = await buildProgram(argv, streams, invoke)
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    return report(error, context, streams, signal)
  }
}

/** The exit code of the signal that stopped the run; 0 where a closed stdout did. */
function stopCode(signal: AbortSignal): number {
  const { reason } = signal
  return isMirrorError(reason) && typeof reason.facts.exitCode === 'number' ? reason.facts.exitCode : EXIT.sigint
}

async function buildProgram(argv: readonly string[], streams: CommandStreams, invoke: Invoke): Promise<Command> {
  const width = (error: boolean) => knownWidth(error ? streams.stderr.columns() : streams.stdout.columns) ?? 100
  const program = new Command('task-mirror')
  program
    .exitOverride()
    .configureOutput({
      writeOut: (text) => streams.stdout.write(text),
      writeErr: (text) => streams.stderr.write(shown(text)),
      getOutHelpWidth: () => width(false),
      getErrHelpWidth: () => width(true),
      getOutHasColors: () => wantsColour(streams.stdout.isTTY === true, streams.env),
      getErrHasColors: () => wantsColour(streams.stderr.isTTY, streams.env),
    })
    .configureHelp(HELP_FORM)
    .description(
      `Copies every task of an account of the Task Query Service into a SQLite file, keeps it current, tells if anything could be missing, and publishes ${titlesOf(FORMAT_NAMES, 'and')}.`,
    )
    .version(toolVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', ({ error }) => paragraph(ENVIRONMENT, width(error)))
    .addHelpText('after', ({ error }) => examples(FIRST_EXAMPLES, width(error)))
  for (const flag of SHARED_FLAGS) program.addOption(new Option(flag.flags, flag.description))
  for (const entry of COMMANDS) await addEntry(program, entry, { argv, invoke, width })
  return program
}

interface Adding {
  argv: readonly string[]
  invoke: Invoke
  width(error: boolean): number
}

async function addEntry(parent: Command, entry: AnyCommand | CommandGroup, adding: Adding): Promise<void> {
  const { argv, invoke, width } = adding
  const command = parent.command(entry.name).summary(entry.summary).description(sentence(entry.summary))
  if ('commands' in entry) {
    for (const inner of entry.commands) await addEntry(command, inner, adding)
    return
  }
  const flags = Array.isArray(entry.flags) ? entry.flags : argv.includes(entry.name) ? await entry.flags() : []
  command.addHelpText('after', ({ error }) => examples(entry.examples, width(error)))
  if (entry.argument !== undefined) command.argument(entry.argument.name, entry.argument.description)
  for (const flag of flags) command.addOption(new Option(flag.flags, flag.description))
  command.action((...args: unknown[]) =>
    invoke({ spec: entry, flags, command, argument: typeof args[0] === 'string' ? args[0] : '' }),
  )
}

function sentence(summary: string): string {
  return `${summary[0]!.toUpperCase()}${summary.slice(1)}.`
}

/** Tells the user what went wrong and returns the exit code. */
function report(error: unknown, context: CommandContext | null, streams: CommandStreams, signal: AbortSignal): number {
  context?.progress.finish()
  // commander has printed its own message, or the help or version that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  if (isCode(error, 'EPIPE')) return EXIT.done
  if (signal.aborted && isStop(error, signal)) {
    const exitCode = stopCode(signal)
    if (exitCode !== 0) context?.log.warn({}, stopText(error, signal))
    return exitCode
  }
  if (context === null) tellError(error, null, streams.stderr)
  else context.tell(error)
  return signal.aborted ? stopCode(signal) || exitCodeOf(error) : exitCodeOf(error)
}

/** What the command says of the stop, else which signal it was. */
function stopText(error: unknown, { reason }: AbortSignal): string {
  const own = isMirrorError(error) && error !== reason ? `: ${error.message}` : ''
  return `${(reason as Error).message}${own}`
}

function isStop(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || isMirrorError(error, 'interrupted') || isCode(error, 'ABORT_ERR')
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
