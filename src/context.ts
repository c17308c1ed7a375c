// Makes what a command works with: log, progress, output and, on request, the configuration. One per invocation.
import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { type Clock, steadyClock } from './clock.ts'
import type { AnyCommand, CommandContext } from './commands/shared/command.ts'
import { printPieces } from './commands/shared/printed.ts'
import { jsonPieceTexts } from './commands/text/json-pieces.ts'
import type { LoadedConfig } from './config/load.ts'
import { tellError } from './failure.ts'
import type { GivenFlags } from './flags.ts'
import type { Log, LogLevel } from './log.ts'
import { canRedraw, createStatusLine, knownWidth, wantsColour } from './terminal.ts'

export interface CommandStreams {
  stdout: Writable & { isTTY?: boolean; columns?: number }
  stderr: {
    isTTY: boolean
    columns(): number | undefined
    /** Writes before it returns. */
    write(text: string): void
  }
  env: NodeJS.ProcessEnv
  /** Registers what to do when the user asks for progress (SIGUSR2). */
  onProgressRequest(listener: () => void): void
  /** Clocks and randomness (0 to 1) in place of the machine's. */
  clocks?: Clocks
  random?: () => number
}

interface Clocks {
  /** Epoch ms; may jump. */
  wall: Clock
  /** ms; never jumps. */
  monotonic: Clock
}

export const MACHINE_CLOCKS: Clocks = { wall: Date.now, monotonic: () => performance.now() }

export async function createContext(
  { name: command, untilSignal }: Pick<AnyCommand, 'name' | 'untilSignal'>,
  given: GivenFlags,
  streams: CommandStreams,
  signal: AbortSignal,
): Promise<CommandContext> {
  const { createLog } = await import('./log.ts')
  const { createProgress } = await import('./progress.ts')
  const { stdout, stderr, env } = streams
  const quiet = given.values.quiet === true
  const { wall, monotonic } = streams.clocks ?? MACHINE_CLOCKS
  const now = steadyClock(wall, monotonic)
  const line = createStatusLine(stderr.write)
  // A person who waits has the progress line; a command that stays up has only the log to show what it does.
  const isCalm = quiet || (stderr.isTTY && untilSignal !== true)
  const log = await createLog({
    level: (given.values.logLevel as LogLevel | undefined) ?? (isCalm ? 'warn' : 'info'),
    write: line.write,
    pretty: stderr.isTTY,
    colour: wantsColour(stderr.isTTY, env),
  })
  const progress = createProgress({
    line: canRedraw(stderr.isTTY, env) ? line : null,
    columns: () => knownWidth(stderr.columns()) ?? 80,
    log,
    shown: !quiet && given.values.noProgress !== true,
    now,
  })
  streams.onProgressRequest(() => progress.print())
  const print = async (data: string | object): Promise<void> => {
    progress.finish()
    await printPieces(stdout, jsonPieceTexts(typeof data === 'string' ? data : JSON.stringify(data)))
  }
  return {
    env,
    stdout,
    columns: stdout.isTTY === true ? knownWidth(stdout.columns) : undefined,
    json: given.values.json === true,
    quiet,
    attended: stderr.isTTY,
    log,
    progress,
    signal,
    now,
    wall,
    monotonic,
    random: streams.random ?? Math.random,
    ...settingsOf(given, env, log),
    tell(error, facts = {}) {
      line.clear()
      tellError(error, log, { isTTY: stderr.isTTY, env, write: line.write }, { command, ...facts })
    },
    print,
    async printSummary(data) {
      if (quiet && typeof data === 'string') progress.finish()
      else await print(data)
    },
  }
}

/** Reads the configuration on first use and the key each time; warns once in `log` of what is wrong with it. */
function settingsOf(
  given: GivenFlags,
  env: NodeJS.ProcessEnv,
  log: Log,
): Pick<CommandContext, 'config' | 'filesInUse' | 'apiKey'> {
  let isWarned = false
  let loading: Promise<LoadedConfig> | null = null
  const config = () => (loading ??= load())
  async function load(): Promise<LoadedConfig> {
    const { configWithoutSchema } = await import('./config/without-schema.ts')
    const file = (given.values.config as string | undefined) ?? null
    const sources = { file, env, overrides: given.overrides }
    const loaded = configWithoutSchema(sources) ?? (await import('./config/load.ts')).loadConfig(sources)
    if (loaded.file !== null) log.info({ file: resolve(loaded.file) }, 'Configuration file in use')
    return loaded
  }
  return {
    config,
    async filesInUse() {
      const loaded = await config()
      const named = [loaded.file, env.TASK_MIRROR_API_KEY_FILE, loaded.config.schedule.tokenFile]
      return named.filter((file): file is string => typeof file === 'string' && file !== '')
    },
    async apiKey() {
      const { readApiKey } = await import('./config/api-key.ts')
      const found = readApiKey(env)
      if (found.warning !== null && !isWarned) log.warn({}, found.warning)
      isWarned ||= found.warning !== null
      return found
    },
  }
}
