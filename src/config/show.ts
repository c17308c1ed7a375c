// The configuration as `config show` prints it: every key with value and origin, secrets masked. Pure.
import type { ApiKey } from './api-key.ts'
import { KEYS, valueAt } from './keys.ts'
import type { LoadedConfig } from './load.ts'

interface ShownKey {
  key: string
  value: unknown
  origin: string
}

/** Keys whose URL carries a secret: a password, or a path that is one. */
const SECRET_URLS = new Set(['service.proxy', 'notify.healthcheckUrl', 'notify.exportHealthcheckUrl'])

export function shownKeys(loaded: LoadedConfig, apiKey: ApiKey): ShownKey[] {
  const keys = KEYS.map((key) => ({
    key,
    value: SECRET_URLS.has(key) ? masked(valueAt(loaded.config, key)) : valueAt(loaded.config, key),
    origin: loaded.origins[key] ?? 'default',
  }))
  const key = { key: 'API key', value: apiKey.key === null ? null : '[masked]', origin: apiKey.origin ?? 'not set' }
  return [...keys, key]
}

function masked(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (!URL.canParse(value)) return '[masked]'
  const { protocol, host, username, password, pathname, search } = new URL(value)
  const user = username === '' && password === '' ? '' : '[masked]@'
  const rest = pathname === '/' && search === '' ? '' : '/[masked]'
  return `${protocol}//${user}${host}${rest}`
}
