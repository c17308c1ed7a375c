// Whether a configuration may be used to talk to the service: a base URL is there, and the key travels safely.
import { MirrorError } from '../errors.ts'
import type { Config } from './schema.ts'

/**
 * Throws `config-invalid` where there is no base URL, or where the key would travel over plain http to another machine
 * without `service.allowInsecure`.
 */
export function checkTarget(config: Config, apiKey: string | null): void {
  const { baseUrl, auth, allowInsecure } = config.service
  if (baseUrl === null) {
    throw new MirrorError('config-invalid', 'service.baseUrl is not set', {
      hint: 'Give --base-url URL, set TASK_MIRROR_BASE_URL, or put service.baseUrl into task-mirror.json.',
    })
  }
  const url = new URL(baseUrl)
  const sendsKey = apiKey !== null && auth.placement !== 'none'
  if (url.protocol === 'http:' && sendsKey && !allowInsecure && !isLoopback(url.hostname)) {
    throw new MirrorError('config-invalid', `service.baseUrl: the API key would travel unencrypted to ${url.host}`, {
      hint: 'Use https, or set service.allowInsecure to true where the network is trusted.',
    })
  }
}

/** True for names and addresses that never leave this machine. `hostname` is that of a parsed URL. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(name) || name === '[::1]'
}
