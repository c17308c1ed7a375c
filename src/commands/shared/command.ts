// What a command is made of. It imports what it needs only in `run`, so that --help and --version stay quick.
import type { Writable } from 'node:stream'
import type { Clock } from '../../clock.ts'
import type { ApiKey } from '../../config/api-key.ts'
import type { LoadedConfig } from '../../config/load.ts'
import type { ErrorFacts } from '../../errors.ts'
import type { RunContext } from '../../sync/context.ts'

export interface Flag {
  /** In commander's notation, such as `--max-duration <duration>`. The environment twin follows from the long name. */
  flags: string
  description: string
  /** All values the flag takes, where they are few. */
  choices?: readonly string[]
  /** The configuration key this flag sets. */
  key?: string
  /** Turns the text into a value; `name` is the flag or variable the user wrote. Throws `usage-invalid`. */
  parse?: (text: string, name: string, now: number) => unknown
}

export interface CommandSpec<Flags = Record<string, unknown>> {
  name: string
  /** In commander's notation, such as `<id>`. */
  argument?: { name: string; description: string; choices?: readonly string[] }
  summary: string
  examples: string[]
  /** A function where something has to be loaded to make the flags. */
  flags: Flag[] | (() => Promise<Flag[]>)
  /** The command runs until it is told to stop: a signal ends it with exit 0. */
  untilSignal?: true
  run(context: CommandContext, flags: Flags, argument: string): Promise<number>
}

/** A command with any flags. */
export type AnyCommand = CommandSpec<never>

/** A command with subcommands, such as `config show`. */
export interface CommandGroup {
  name: string
  summary: string
  commands: AnyCommand[]
}

export interface CommandContext extends Pick<RunContext, 'log' | 'progress' | 'signal' | 'random'> {
  env: NodeJS.ProcessEnv
  stdout: Writable & { isTTY?: boolean }
  /** Width of the terminal that stdout goes to; undefined where stdout is no terminal. */
  columns: number | undefined
  json: boolean
  quiet: boolean
  /** Whether a person watches, which means that stderr is a terminal. */
  attended: boolean
  /** Epoch ms by a clock that never jumps, for one run. */
  now: Clock
  /** The machine's wall clock (epoch ms) and monotonic clock (ms), for commands that stay up. */
  wall: Clock
  monotonic: Clock
  /** The configuration with flags and environment applied. Throws `config-invalid`. */
  config(): Promise<LoadedConfig>
  /** Paths of the configuration and the key file, which no output may replace. Throws `config-invalid`. */
  filesInUse(): Promise<string[]>
  /** Throws `config-invalid`. */
  apiKey(): Promise<ApiKey>
  /** Reports an error on stderr for a command that goes on or has an exit code of its own; the log has `facts` too. */
  tell(error: unknown, facts?: ErrorFacts): void
  /** Ends the progress line, then writes a line: text, or an object as JSON. For long output see reading.ts. */
  print(data: string | object): Promise<void>
  /** As `print`, for a summary of what a command has done, which no pipe needs: --quiet leaves the text out. */
  printSummary(data: string | object): Promise<void>
}
