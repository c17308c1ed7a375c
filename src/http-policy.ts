// The one policy for everything sent over HTTP, to the service, a monitor or object storage. Certificates are always
// checked; plain http to another machine needs a configuration key that allows it; redirects are not followed, which
// each sender ensures. Pure.
import { MirrorError } from './errors.ts'

/** For every connection. Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED=0 weakens nothing. */
export const TLS = { rejectUnauthorized: true } as const

interface PlainHttp {
  /** What is sent there, for the message: "the API key", "what a run has done". */
  what: string
  /** The key of the configuration that names the destination. */
  setting: string
  /** The key that allows plain http, and what to set it to. */
  allowance: string
  isAllowed: boolean
}

/** Throws `config-invalid` where plain http would leave this machine without permission. */
export function refusePlainHttp({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>, plain: PlainHttp): void {
  if (protocol !== 'http:' || plain.isAllowed || isLoopback(hostname)) return
  throw new MirrorError('config-invalid', `${plain.setting}: ${plain.what} would travel unencrypted to ${hostname}`, {
    hint: `Use https, or set ${plain.allowance} where the network is trusted.`,
  })
}

/** True for names and addresses that never leave this machine. `hostname` is that of a parsed URL. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(name) || name === '[::1]'
}

/** A token of RFC 9110 section 5.6.2: what a header may be called. */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
