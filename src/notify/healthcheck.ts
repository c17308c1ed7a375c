// Tells a monitor how a run goes (https://healthchecks.io/docs/http_api/). The monitor's URL is a secret.
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { Config } from '../config/schema.ts'
import { refusePlainHttp, TLS } from '../http-policy.ts'

/** healthchecks.io keeps this much of a body. */
const MOST_BYTES = 100_000
const PAUSE_MS = 500

interface Ping {
  url: string
  /** `start`, or the exit code of the run. */
  signal: 'start' | number
  /** Joins start and end of one run. */
  runId: string
  body: string
  timeoutMs: number
  tries: number
}

/** Resolves to null when the monitor took the ping, else to a few words on what went wrong. Never throws. */
export async function ping({ url, signal, runId, body, timeoutMs, tries }: Ping): Promise<string | null> {
  let problem: string | null = null
  for (let left = tries; left > 0; left -= 1) {
    if (problem !== null) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    try {
      const status = await post(pingUrl(url, signal, runId), lastBytes(body, MOST_BYTES), timeoutMs)
      if (status >= 200 && status < 300) return null
      problem = `it answered ${status}${status >= 300 && status < 400 ? ', a redirect, which is not followed' : ''}`
      if (status < 500 && status !== 429) return problem
    } catch (error) {
      problem = reason(error)
    }
  }
  return problem
}

/**
 * One POST of plain text, only to that address, with one deadline; the body of the answer is not read. Resolves to the
 * HTTP status, also of a redirect. Rejects with `TimeoutError` or the network error.
 */
function post(url: string, body: string, timeoutMs: number): Promise<number> {
  const to = new URL(url)
  const request = to.protocol === 'https:' ? tlsRequest : plainRequest
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-length': Buffer.byteLength(body) }
  const signal = AbortSignal.timeout(timeoutMs)
  return new Promise((resolve, reject) => {
    // Without an agent no connection stays open, and no proxy of the environment is used.
    const sent = request(to, { method: 'POST', headers, signal, agent: false, ...TLS }, (answer) => {
      resolve(answer.statusCode ?? 0)
      answer.destroy()
    })
    sent.on('error', (error) => reject(signal.aborted ? signal.reason : error))
    sent.end(body)
  })
}

/** The key of the monitor for a command: one check each, so that an export cannot turn a failing sync green. */
export function monitorOf(command: string): 'healthcheckUrl' | 'exportHealthcheckUrl' {
  return command === 'export' ? 'exportHealthcheckUrl' : 'healthcheckUrl'
}

/** Throws `config-invalid` where http-policy.ts forbids sending to a monitor. */
export function checkMonitors(notify: Config['notify']): void {
  for (const name of ['healthcheckUrl', 'exportHealthcheckUrl'] as const) {
    if (notify[name] === null) continue
    const url = new URL(notify[name])
    refusePlainHttp(url, {
      what: 'what a run has done',
      setting: `notify.${name}`,
      allowance: 'notify.insecureHosts to a list with its host',
      isAllowed: notify.insecureHosts.includes(url.hostname),
    })
  }
}

/** The address to post to. A query in the URL is kept. */
export function pingUrl(base: string, signal: 'start' | number, runId: string): string {
  const url = new URL(base)
  if (signal !== 0) url.pathname = `${url.pathname.replace(/\/+$/, '')}/${signal}`
  url.searchParams.set('rid', runId)
  return url.href
}

/** The end of `text` that fits into `most` bytes of UTF-8. */
function lastBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  // Drops what is left of a character that was cut.
  return bytes
    .subarray(bytes.length - most)
    .toString('utf8')
    .replace(/^\uFFFD+/, '')
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'it did not answer in time'
  return 'code' in error ? String(error.code) : error.name
}
