// What stands behind the proxy of the tests: a server that speaks S3, asked over HTTP and looked into by other ways.
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface Request {
  method: string
  /** Path and query. */
  url: string
  headers: IncomingMessage['headers']
  body: Buffer
}

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

/** A store with one empty bucket, `lake`. */
export interface Backend {
  answer(request: Request): Promise<Answer>
  /** Names of the objects, in order. */
  keys(): Promise<string[]>
  object(key: string): Promise<Buffer>
  /** Keys of uploads that were begun and neither completed nor ended. */
  uploads(): Promise<string[]>
  stop(): Promise<void>
}

export function ask(port: number, { method, url, headers, body }: Request): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, path: url, headers }, (incoming) => {
      buffer(incoming).then(
        (content) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: content }),
        reject,
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

export function failure(status: number, code: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>as told</Message></Error>`
  return { status, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) }
}
