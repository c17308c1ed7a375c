// One POST of plain text under the policy of http-policy.ts: only to that address, with one deadline. The body of the
// answer is not read.
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { TLS } from '../http-policy.ts'

interface Post {
  url: string
  body: string
  timeoutMs: number
}

/** Resolves to the HTTP status, also of a redirect. Rejects with `TimeoutError` or the network error. */
export function post({ url, body, timeoutMs }: Post): Promise<number> {
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
