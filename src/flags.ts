// Flags and their environment twins (`--base-url` is TASK_MIRROR_BASE_URL), and what a command was given by either.
import type { Command } from 'commander'
import type { Flag } from './commands/shared/command.ts'
import { oneOf } from './commands/shared/values.ts'
import { environmentName, KEYS } from './config/keys.ts'
import type { Override } from './config/load.ts'
import { beginsAtHome, WHOLE_PATH } from './config/whole-path.ts'
import { MirrorError } from './errors.ts'
import { LOG_LEVELS } from './log.ts'

/** All variables of this program begin with this. */
export const PREFIX = 'TASK_MIRROR_'

/** Flags that every command takes. */
export const SHARED_FLAGS: readonly Flag[] = [
  { flags: '--config <file>', description: 'configuration file (default: task-mirror.json where there is one)' },
  { flags: '--db <file>', description: 'the mirror, a SQLite file', key: 'mirror.path' },
  { flags: '--base-url <url>', description: 'base address of the service', key: 'service.baseUrl' },
  { flags: '--json', description: 'print the result as one JSON object on one line' },
  {
    flags: '-q, --quiet',
    description: 'no progress, only warnings and errors in the log, no summary of what was done',
  },
  {
    flags: '--log-level <level>',
    description: `${LOG_LEVELS.join(', ')} (default: info; on a terminal warn, except for schedule and simulate)`,
    choices: LOG_LEVELS,
  },
  { flags: '--no-progress', description: 'no progress line' },
]

export interface GivenFlags {
  /** By name in camel case, only what was given: `{ maxAge: 900000, noProgress: true }`. */
  values: Record<string, unknown>
  /** The values of flags that set a configuration key. */
  overrides: Override[]
}

/** What was given by flag or else by its environment twin. Throws `usage-invalid`. */
export function collectFlags(
  flags: readonly Flag[],
  command: Command,
  env: NodeJS.ProcessEnv,
  now: number,
): GivenFlags {
  const given: GivenFlags = { values: {}, overrides: [] }
  for (const flag of flags) {
    const fromFlag = parsedValue(flag, command)
    const text = fromFlag ?? readTwin(flag, env)
    if (text === undefined || text === false) continue
    const name = fromFlag === undefined ? twinName(flag) : longName(flag)
    const value = typeof text === 'string' ? checkedValue(flag, text, name, now) : text
    given.values[camelCase(longName(flag))] = value
    if (flag.key !== undefined) given.overrides.push({ key: flag.key, value, name })
  }
  return given
}

/** Checks paths and choices; those of a configuration key are checked with the configuration. */
function checkedValue({ flags, parse, choices, key }: Flag, text: string, name: string, now: number): unknown {
  if (key === undefined && /<(file|folder|path)>/.test(flags) && beginsAtHome(text)) {
    throw new MirrorError('usage-invalid', `${name}: expected ${WHOLE_PATH}, got "${text}"`)
  }
  if (parse !== undefined) return parse(text, name, now)
  return choices === undefined || key !== undefined ? text : oneOf(text, choices, name)
}

/** What commander read for `flag`; undefined where it was not on the command line. */
function parsedValue(flag: Flag, command: Command): string | string[] | true | undefined {
  const attribute = camelCase(longName(flag).replace('--no-', '--'))
  for (let at: Command | null = command; at !== null; at = at.parent) {
    if (at.getOptionValueSource(attribute) === 'cli') {
      const value = at.getOptionValue(attribute)
      return value === false ? true : value
    }
  }
  return undefined
}

/** What the environment twin of `flag` says; undefined where it is not set or empty. Throws `usage-invalid`. */
function readTwin(flag: Flag, env: NodeJS.ProcessEnv): string | string[] | boolean | undefined {
  const name = twinName(flag)
  const text = env[name]
  if (text === undefined || text === '') return undefined
  if (flag.flags.includes('...')) {
    const parts = text.split(/[\s,]+/).filter((part) => part !== '')
    return parts.length === 0 ? undefined : parts
  }
  if (flag.flags.includes('<')) return text
  // 0 and 1 may be values here, not only no and yes.
  if (flag.flags.includes('[') && !/^(true|yes|on|false|no|off)$/i.test(text)) return text
  if (/^(1|true|yes|on)$/i.test(text)) return true
  if (/^(0|false|no|off)$/i.test(text)) return false
  throw new MirrorError('usage-invalid', `${name}: expected true or false, got text`)
}

/** `-q, --quiet` is `--quiet`; `--since <moment>` is `--since`. */
export function longName(flag: Flag): string {
  return /--[a-z][a-z-]*/.exec(flag.flags)![0]
}

/** `--no-progress` is `TASK_MIRROR_NO_PROGRESS`. */
export function twinName(flag: Flag): string {
  return `${PREFIX}${longName(flag).slice(2).replaceAll('-', '_').toUpperCase()}`
}

/** The variables of all `flags`, of all keys, and of the API key. */
export function knownVariables(flags: readonly Flag[]): Set<string> {
  const ofKey = [`${PREFIX}API_KEY`, `${PREFIX}API_KEY_FILE`]
  return new Set([...ofKey, ...KEYS.map(environmentName), ...[...SHARED_FLAGS, ...flags].map(twinName)])
}

function camelCase(name: string): string {
  return name.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
