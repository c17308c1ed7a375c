// Puts the configuration together (flags > environment > file > defaults) and keeps where each value came from.
import { existsSync } from 'node:fs'
import { MirrorError } from '../errors.ts'
import { readNamedFile } from '../small-file.ts'
import { refuseDistrusted } from '../trust.ts'
import { DEFAULTS } from './defaults.ts'
import { explainIssues, explainValue } from './explain.ts'
import { DEFAULT_FILE, environmentName, KEYS, setAt, valueAt } from './keys.ts'
import { proxyFromEnvironment } from './proxy.ts'
import { type Config, configSchema, schemaOfKey } from './schema.ts'

/** The value of a flag, or of the flag's environment twin, for the configuration key it sets. */
export interface Override {
  key: string
  value: unknown
  /** What the user wrote, for messages: `--db` or `TASK_MIRROR_DB`. */
  name: string
}

export interface ConfigSources {
  /** The file named by --config or TASK_MIRROR_CONFIG; null: ./task-mirror.json where there is one. */
  file: string | null
  env: NodeJS.ProcessEnv
  overrides: readonly Override[]
}

export interface LoadedConfig {
  config: Config
  /** By dotted key: `default`, the name of the file, of an environment variable or of a flag. */
  origins: Record<string, string>
  /** The file that was read; null where there was none. */
  file: string | null
}

/** Throws `config-invalid` (`usage-invalid` for flags alone) with each wrong value's source, type and expectation. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const file = sources.file ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : null)
  const merged = file === null ? {} : readConfigFile(file, sources.file === null)
  const origins: Record<string, string> = {}
  for (const key of KEYS) origins[key] = valueAt(merged, key) === undefined ? 'default' : (file ?? 'default')

  const problems: string[] = []
  let code: 'usage-invalid' | 'config-invalid' = 'usage-invalid'
  for (const override of [...fromEnvironment(sources.env), ...sources.overrides]) {
    const { key, name } = override
    const value = typeof override.value === 'string' ? fromText(key, override.value) : override.value
    const parsed = schemaOfKey(key).safeParse(value)
    if (parsed.success) {
      setAt(merged, key, parsed.data)
      origins[key] = name
    } else {
      const issue = parsed.error.issues[0]!
      const part = issue.path.join('.')
      const [at, found] = part === '' ? [key, value] : [`${key}.${part}`, valueAt(value, part)]
      problems.push(`${name}: ${explainValue(at, issue, found)}`)
      if (!sources.overrides.includes(override)) code = 'config-invalid'
    }
  }
  if (problems.length > 0) throw invalid(problems, code)

  const { $schema: _, ...config } = configSchema.parse(merged)
  if (config.service.proxy === 'environment') {
    const found = proxyFromEnvironment(config.service.baseUrl, sources.env)
    if (!schemaOfKey('service.proxy').safeParse(found.url).success) {
      throw invalid([`${found.name}: expected an http URL, got text`])
    }
    config.service.proxy = found.url
    origins['service.proxy'] = found.name ?? 'environment'
  }
  return { config, origins, file }
}

const MOST_BYTES = 1024 * 1024

/** `isImplicit`: nobody named the file, so it is refused unless only the caller or root can have written it. */
function readConfigFile(path: string, isImplicit: boolean): Record<string, unknown> {
  const refuse = (what: string, cause?: unknown) =>
    new MirrorError('config-invalid', `The configuration file ${path} ${what}`, {
      hint: cause === undefined ? 'Name the right file.' : 'Check the path given by --config or TASK_MIRROR_CONFIG.',
      cause,
    })
  const { bytes, stats } = readNamedFile(path, { most: MOST_BYTES, pipe: true, refuse })
  if (isImplicit) refuseDistrusted(path, stats)
  const text = bytes.toString().replace(/^\uFEFF/, '')
  const value = parseJson(text, path)
  const parsed = configSchema.safeParse(value)
  if (!parsed.success) throw invalid(explainIssues(parsed.error.issues, value).map((line) => `${path}: ${line}`))
  return structuredClone(value) as Record<string, unknown>
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The message of JSON.parse quotes the text, which may hold a secret: only the position is repeated.
    const place = /line \d+ column \d+/.exec((error as Error).message)?.[0]
    throw new MirrorError('config-invalid', `${path} is not valid JSON${place === undefined ? '' : ` (${place})`}`, {
      hint: 'Look for a missing comma, bracket or quote; JSON has no comments and no trailing commas.',
    })
  }
}

/** Keys that are set by an environment variable of their own. An empty variable counts as not set. */
function fromEnvironment(env: NodeJS.ProcessEnv): Override[] {
  return KEYS.flatMap((key) => {
    const name = environmentName(key)
    const text = env[name]
    return text === undefined || text === '' ? [] : [{ key, value: text, name }]
  })
}

/** Returns the first reading of the text that the key accepts; where none fits, the list or the text itself. */
function fromText(key: string, text: string): unknown {
  const readings: unknown[] = []
  if (text === 'null') readings.push(null)
  if (text === 'true' || text === 'false') readings.push(text === 'true')
  if (/^-?\d+(\.\d+)?$/.test(text)) readings.push(Number(text))
  const list = text.split(',').map((part) => part.trim())
  readings.push(text, list)
  const schema = schemaOfKey(key)
  const fitting = readings.filter((value) => schema.safeParse(value).success)
  if (fitting.length > 0) return fitting[0]
  return Array.isArray(valueAt(DEFAULTS, key)) ? list : text
}

function invalid(problems: string[], code: 'usage-invalid' | 'config-invalid' = 'config-invalid'): MirrorError {
  return new MirrorError(code, problems.join('\n'), {
    hint: 'docs/configuration.md says what every key takes.',
  })
}
