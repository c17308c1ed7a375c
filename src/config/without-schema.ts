// The default configuration, with at most another mirror or address, without loading zod, which takes long.
import { existsSync } from 'node:fs'
import { DEFAULTS } from './defaults.ts'
import { DEFAULT_FILE, environmentName, KEYS, setAt } from './keys.ts'
import type { ConfigSources, LoadedConfig } from './load.ts'
import type { Config } from './schema.ts'

/** Tests for values that the schema certainly accepts unchanged. */
const IS_TAKEN_AS_IT_IS: Readonly<Record<string, (text: string) => boolean>> = {
  'mirror.path': (text) => /^[\w./](?:.*\w)?$/s.test(text),
  'service.baseUrl': (text) =>
    /^https?:\/\/[a-z0-9][a-z0-9.-]*(:\d{1,5})?(\/[a-z0-9._~-]*)*$/i.test(text) && URL.canParse(text),
}

/** What `loadConfig` returns for the same sources; null where that needs the schema. Throws nothing. */
export function configWithoutSchema({ file, env, overrides }: ConfigSources): LoadedConfig | null {
  if (file !== null || existsSync(DEFAULT_FILE)) return null
  if (KEYS.some((key) => (env[environmentName(key)] ?? '') !== '')) return null
  const config = structuredClone(DEFAULTS) as unknown as Config & Record<string, unknown>
  const origins = Object.fromEntries(KEYS.map((key) => [key, 'default']))
  for (const { key, value, name } of overrides) {
    if (typeof value !== 'string' || IS_TAKEN_AS_IT_IS[key]?.(value) !== true) return null
    setAt(config, key, value)
    origins[key] = name
  }
  return { config, origins, file: null }
}
