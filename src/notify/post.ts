// One POST of plain text by the policy of http-policy.ts: to that address alone, within one deadline, its answer's body left unread.
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { TLS } from '../http-policy.ts'

interface Post {
  url: string
  body: string
  timeoutMs: number
}

/** Resolves to the HTTP status; a redirect is one like others. Rejects with `TimeoutError` or what the network says. */
export function post({ url, body, timeoutMs }: Post): Promise<number> {
  const to = new URL(url)
  const request = to.protocol === 'https:' ? tlsRequest : plainRequest
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-length': Buffer.byteLength(body) }
  const signal = AbortSignal.timeout(timeoutMs)
  return new Promise((resolve, reject) => {
    // No agent: nothing is left open, and no proxy of the environment comes in between.
    const sent = request(to, { method: 'POST', headers, signal, agent: false, ...TLS }, (answer) => {
      resolve(answer.statusCode ?? 0)
      answer.destroy()
    })
    sent.on('error', (error) => reject(signal.aborted ? signal.reason : error))
    sent.end(body)
  })
}
