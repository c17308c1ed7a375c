// What a command is made of. It imports the parts it needs when it runs, so that --help and --version stay quick.
import type { Writable } from 'node:stream'
import type { Clock } from '../../clock.ts'
import type { ApiKey } from '../../config/api-key.ts'
import type { LoadedConfig } from '../../config/load.ts'
import type { ErrorFacts } from '../../errors.ts'
import type { Log } from '../../log.ts'
import type { Progress } from '../../progress.ts'

export interface Flag {
  /** In commander's notation, such as `--max-duration DURATION`. Its environment twin follows from the long name. */
  flags: string
  description: string
  /** All values it takes, where they are few. */
  choices?: readonly string[]
  /** The configuration key this flag sets. */
  key?: string
  /** Turns the text into a value; `name` is what the user wrote, for the message. Throws `usage-invalid`. */
  parse?: (text: string, name: string, now: number) => unknown
}

export interface CommandSpec<Flags = Record<string, unknown>> {
  name: string
  /** In commander's notation, such as `<id>`. */
  argument?: { name: string; description: string; choices?: readonly string[] }
  summary: string
  examples: string[]
  /** A function where making them takes loading something. */
  flags: Flag[] | (() => Promise<Flag[]>)
  /** A command that runs until it is told to stop: a signal is its ordinary end, exit 0. */
  untilSignal?: true
  run(context: CommandContext, flags: Flags, argument: string): Promise<number>
}

/** A command whatever its flags are. */
export type AnyCommand = CommandSpec<never>

/** A command with subcommands, such as `config show`. */
export interface CommandGroup {
  name: string
  summary: string
  commands: AnyCommand[]
}

export interface CommandContext {
  env: NodeJS.ProcessEnv
  stdout: Writable & { isTTY?: boolean }
  /** How wide the terminal is that stdout goes to; undefined where it goes elsewhere. */
  columns: number | undefined
  json: boolean
  quiet: boolean
  /** Whether a person watches: stderr is a terminal. */
  attended: boolean
  log: Log
  progress: Progress
  signal: AbortSignal
  /** Epoch ms, never jumping: for one run. */
  now: Clock
  /** The machine's clock as it stands, epoch ms, and the monotonic one, ms: for what stays up. */
  wall: Clock
  monotonic: Clock
  random: () => number
  /** The configuration with flags and environment applied. Throws `config-invalid`. */
  config(): Promise<LoadedConfig>
  /** Configuration and key file, where there are any: what nothing may be written onto. Throws `config-invalid`. */
  filesInUse(): Promise<string[]>
  /** Throws `config-invalid`. */
  apiKey(): Promise<ApiKey>
  /** Tells of an error on stderr, for a command that goes on or has its own exit code. `facts` go to the log. */
  tell(error: unknown, facts?: ErrorFacts): void
  /** Ends the progress line, and writes to stdout: an object as one line of JSON, text with a newline behind. What may be long: reading.ts. */
  print(data: string | object): Promise<void>
  /** The same of what a command has done, which no pipe needs: --quiet leaves the text out. */
  printSummary(data: string | object): Promise<void>
}
