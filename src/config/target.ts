// Checks that a configuration may be used to talk to the service: a base URL is set, and requests can be
// sent as configured, and travel safely.
import { MirrorError } from '../errors.ts'
import { refusePlainHttp } from '../http-policy.ts'
import type { Config } from './schema.ts'

/** The hint where no list is found. */
export const CHECK_ADDRESS = 'Check service.baseUrl, path included: the list is asked for at BASE/tasks/list.'

/** A base URL as it is compared: one spelling of scheme, host and port, no slash at its end. A damaged one stays. */
export function plainBaseUrl(baseUrl: string): string {
  return (URL.parse(baseUrl)?.href ?? String(baseUrl)).replace(/\/+$/, '')
}

/** The configured base URL, by `plainBaseUrl`. Throws `config-invalid` where there is none. */
export function requireBaseUrl({ service: { baseUrl } }: Config): string {
  if (baseUrl !== null) return plainBaseUrl(baseUrl)
  throw new MirrorError('config-invalid', 'service.baseUrl is not set', {
    hint: 'Give --base-url URL, set TASK_MIRROR_BASE_URL, or put service.baseUrl into task-mirror.json.',
  })
}

/** Headers that frame or route a message: a key written there would break it. */
const RESERVED =
  /^(?:host|connection|content-length|content-type|content-encoding|accept|accept-encoding|user-agent|transfer-encoding|upgrade|keep-alive|expect|te|trailer|proxy-.*)$/i

/**
 * Throws `config-invalid` without a base URL, for a header that cannot carry a key, or for plain http to another machine
 * without `service.allowInsecure`.
 */
export function checkTarget(config: Config, apiKey: string | null): void {
  const { auth, allowInsecure } = config.service
  if (auth.placement === 'header' && RESERVED.test(auth.name)) {
    throw new MirrorError('config-invalid', `service.auth.name cannot be ${JSON.stringify(auth.name)}`, {
      hint: 'Use a header such as authorization or x-api-key.',
    })
  }
  const sendsKey = apiKey !== null && auth.placement !== 'none'
  refusePlainHttp(new URL(requireBaseUrl(config)), {
    what: sendsKey ? 'the API key' : 'what is asked and answered',
    setting: 'service.baseUrl',
    allowance: 'service.allowInsecure to true',
    isAllowed: allowInsecure,
  })
}
