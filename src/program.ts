// The command line without the process: passes commands to commander, turns every error into exit code and message.
import { Command, CommanderError, Option } from 'commander'
import { COMMANDS, COMMANDS_BY_HEADING } from './commands/index.ts'
import type { AnyCommand, CommandContext, CommandGroup, Flag } from './commands/shared/command.ts'
import { type CommandStreams, createContext, MACHINE_CLOCKS } from './context.ts'
import { EXIT, exitCodeOf, isCode, isMirrorError, isStop, MirrorError, stopCodeOf } from './errors.ts'
import { FORMAT_NAMES, titlesOf } from './export/formats.ts'
import { tellError } from './failure.ts'
import { collectFlags, knownVariables, longName, PREFIX, SHARED_FLAGS } from './flags.ts'
import { examples, HELP_FORM, paragraph } from './help.ts'
import type { Log } from './log.ts'
import { listed, printable } from './shown.ts'
import { knownWidth, wantsColour } from './terminal.ts'
import { toolVersion } from './version.ts'

interface Invocation {
  spec: AnyCommand
  flags: readonly Flag[]
  command: Command
  argument: string
}

const KEY_PLACES = 'The API key comes from TASK_MIRROR_API_KEY or TASK_MIRROR_API_KEY_FILE, never from a flag.'
const ENVIRONMENT = [
  'Every flag can be set by an environment variable: --base-url by TASK_MIRROR_BASE_URL.',
  KEY_PLACES,
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
    await warnOfMisspelt(streams.env, context.log)
    exitCode = await spec.run(context, given.values as never, argument)
    context.progress.finish()
    if (!signal.aborted || spec.untilSignal === true) return
    const code = stopCode(signal) || exitCode
    // The signal came too late to stop anything. A command that it did stop ends with its code, and has reported it.
    if (code !== exitCode) context.log.warn({}, stopText(signal.reason, signal))
    exitCode = code
  }
  try {
    const program = await buildProgram(argv, streams, invoke)
    // Without this, commander would print the general help.
    const isUnknown = argv[0] === 'help' && /^\w/.test(argv[1] ?? '') && !COMMANDS.some(({ name }) => name === argv[1])
    await program.parseAsync(isUnknown ? argv.slice(1) : argv, { from: 'user' })
    return exitCode
  } catch (error) {
    return report(error, { argv, context, streams, signal })
  }
}

/** Warns of variables that nothing reads but whose names are close to known ones; never shows their values. */
async function warnOfMisspelt(env: NodeJS.ProcessEnv, log: Log): Promise<void> {
  const lists = COMMANDS.flatMap((entry) => ('commands' in entry ? entry.commands : [entry])).map(({ flags }) => flags)
  const given = Object.keys(env).filter((name) => name.startsWith(PREFIX) && env[name] !== '')
  const known = knownVariables(lists.flatMap((list) => (Array.isArray(list) ? list : [])))
  if (given.every((name) => known.has(name))) return
  // Some commands have to load something to make their flags.
  const all = knownVariables((await Promise.all(lists.map((list) => (Array.isArray(list) ? list : list())))).flat())
  const { nearest } = await import('./config/nearest.ts')
  for (const name of given) {
    const near = all.has(name) ? null : nearest(name, all, Math.min(2, (name.length - PREFIX.length) / 4))
    if (near !== null) log.warn({}, `${name} is set, but nothing reads it; did you mean ${near}?`)
  }
}

/** The exit code of the signal that stopped the run; 0 where a closed stdout did. */
function stopCode(signal: AbortSignal): number {
  return stopCodeOf(signal) ?? EXIT.sigint
}

async function buildProgram(argv: readonly string[], streams: CommandStreams, invoke: Invoke): Promise<Command> {
  const width = (error: boolean) => knownWidth(error ? streams.stderr.columns() : streams.stdout.columns) ?? 100
  const program = new Command('task-mirror')
  program
    .exitOverride()
    .configureOutput({
      writeOut: (text) => streams.stdout.write(text),
      writeErr: (text) => streams.stderr.write(printable(text)),
      // `report` reports it, as every other error.
      outputError: () => {},
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
    .addHelpText('after', ({ error }) => paragraph(ENVIRONMENT, width(error)))
    .addHelpText('after', ({ error }) => examples(FIRST_EXAMPLES, width(error)))
  for (const flag of SHARED_FLAGS) program.addOption(new Option(flag.flags, flag.description))
  for (const [heading, entries] of Object.entries(COMMANDS_BY_HEADING)) {
    program.commandsGroup(heading)
    for (const entry of entries) await addEntry(program, entry, { argv, invoke, width })
  }
  return program.helpCommand('help [command]', 'print help for a command')
}

interface Adding {
  argv: readonly string[]
  invoke: Invoke
  width(error: boolean): number
}

/** `group`: the words before the name of the command, such as "config ". */
async function addEntry(parent: Command, entry: AnyCommand | CommandGroup, adding: Adding, group = ''): Promise<void> {
  const { argv, invoke, width } = adding
  const command = parent.command(entry.name).summary(entry.summary).description(sentence(entry.summary))
  if ('commands' in entry) {
    for (const inner of entry.commands) await addEntry(command, inner, adding, `${entry.name} `)
    return
  }
  const flags = Array.isArray(entry.flags) ? entry.flags : argv.includes(entry.name) ? await entry.flags() : []
  command.addHelpText('after', ({ error }) => examples(entry.examples, width(error)))
  if (entry.argument !== undefined) command.argument(entry.argument.name, entry.argument.description)
  for (const flag of flags) command.addOption(new Option(flag.flags, flag.description))
  command.action((...args: unknown[]) =>
    invoke({
      spec: { ...entry, name: group + entry.name },
      flags,
      command,
      argument: typeof args[0] === 'string' ? args[0] : '',
    }),
  )
}

function sentence(summary: string): string {
  return `${summary[0]!.toUpperCase()}${summary.slice(1)}.`
}

interface Failed {
  argv: readonly string[]
  /** null where the flags were too wrong to set up a log. */
  context: CommandContext | null
  streams: CommandStreams
  signal: AbortSignal
}

/** The command as the log names it, such as "config show"; undefined where there is none. */
function commandIn(argv: readonly string[]): string | undefined {
  const find = (among: readonly { name: string }[]) => argv.find((word) => among.some(({ name }) => name === word))
  const command = find(COMMANDS)
  const entry = COMMANDS.find(({ name }) => name === command)
  const inner = entry !== undefined && 'commands' in entry ? find(entry.commands) : undefined
  return inner === undefined ? command : `${command} ${inner}`
}

/** Reports the error to the user and returns the exit code. */
async function report(thrown: unknown, { argv, context, streams, signal }: Failed): Promise<number> {
  context?.progress.finish()
  const command = commandIn(argv)
  const error = thrown instanceof CommanderError ? await usageError(thrown, command) : thrown
  if (error === null) return (thrown as CommanderError).exitCode === 0 ? EXIT.done : EXIT.usage
  if (isCode(error, 'EPIPE')) return EXIT.done
  if (isStop(error, signal)) {
    const exitCode = stopCode(signal)
    if (exitCode !== 0) context?.log.warn({}, stopText(error, signal))
    return exitCode
  }
  if (context === null) await tellEarly(error, streams, command)
  else context.tell(error)
  return signal.aborted ? stopCode(signal) || exitCodeOf(error) : exitCodeOf(error)
}

/** commander's message about a mistake, to be reported as any error; null where it printed help or version instead. */
async function usageError(
  { code, exitCode, message }: CommanderError,
  command: string | undefined,
): Promise<MirrorError | null> {
  if (exitCode === 0 || code === 'commander.help') return null
  const [, what = message, suggestion] = /^error: (.*?)\n?(?:\((.*)\))?$/s.exec(message) ?? []
  const help = `\`${['task-mirror', command, '--help'].filter(Boolean).join(' ')}\` says what there is.`
  // The simulator's key is made up, and is a flag.
  const isKey = command !== 'simulate' && /^unknown option '--?(api|key)/i.test(what)
  const spec = COMMANDS.find(({ name }) => name === command)
  const shown = spec !== undefined && 'examples' in spec ? spec.examples : []
  const byOut = code === 'commander.excessArguments' ? shown.find((line) => line.includes('--out ')) : undefined
  const others = await commandsWith(/^unknown option '(--[a-z-]+)/.exec(what)?.[1])
  const elsewhere = others.length === 0 ? null : `It is a flag of ${listed(others, 'and')}.`
  // commander's suggestion may be far from what was meant.
  const all = byOut === undefined ? [elsewhere ?? suggestion, help] : [`Where to write is said by --out: \`${byOut}\`.`]
  const hint = isKey ? KEY_PLACES : all.filter(Boolean).join(' ')
  // What follows the name may be the key.
  return new MirrorError('usage-invalid', what.replace(/^(unknown option '[^=]*=).*'$/s, "$1...'"), { hint })
}

/** The names of the commands that have the flag, such as `--since`. */
async function commandsWith(flag: string | undefined): Promise<string[]> {
  const specs = COMMANDS.flatMap((entry) => ('commands' in entry ? [] : [entry]))
  const found = await Promise.all(
    specs.map(async ({ name, flags }) => {
      const all = Array.isArray(flags) ? flags : await flags()
      return all.some((one) => longName(one) === flag) ? [name] : []
    }),
  )
  return found.flat()
}

/** For errors before flags have set up a log. Unforeseen ones are reported without loading anything more. */
async function tellEarly(error: unknown, { stderr, env }: CommandStreams, command: string | undefined): Promise<void> {
  let log: Log | null = null
  if (isMirrorError(error, 'usage-invalid')) {
    const { createLog } = await import('./log.ts')
    log = await createLog({ level: 'error', write: stderr.write, pretty: false, colour: false })
  }
  tellError(error, log, { ...stderr, env }, { command })
}

/** The command's own message about the stop, else the name of the signal. */
function stopText(error: unknown, { reason }: AbortSignal): string {
  const own = isMirrorError(error) && error !== reason ? `: ${error.message}` : ''
  return `${(reason as Error).message}${own}`
}
