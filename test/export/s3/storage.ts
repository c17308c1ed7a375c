// An object store on this machine behind a proxy that can be told to fail: s3rver, or moto's server where MOTO_URL names one
// (`npm run test:s3`). What the proxy does not fail goes to the store as it came.
import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { onTestFinished, vi } from 'vitest'
import { listening } from '../../support/listening.ts'
import { type Answer, type Backend, failure } from './backend.ts'
import { motoBackend } from './moto-backend.ts'
import { s3rverBackend } from './s3rver-backend.ts'

export interface Asked {
  method: string
  /** Without the bucket, with the query. */
  path: string
  headers: IncomingMessage['headers']
}

/** What happens instead of the request; `lost`, `cut`: it is carried out, and nothing or half of its answer arrives. */
export type Fault = { status: number; code: string } | 'reset' | 'lost' | 'cut' | undefined

export interface Storage extends Pick<Backend, 'keys' | 'object' | 'uploads'> {
  env: Record<string, string>
  /** Everything asked so far. */
  asked: Asked[]
  /** Decides about every request before it is carried out. */
  fault: (asked: Asked) => Fault | Promise<Fault>
  /** Whether it does as it is asked with `x-amz-server-side-encryption`, and says so; else it never hears of it. */
  encrypts: boolean
}

const KEYS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER', AWS_REGION: 'us-east-1' }

/** Stops at the end of the test, or when `atEnd` calls what it is given. */
export async function startStorage(atEnd: (stop: () => Promise<void>) => void = onTestFinished): Promise<Storage> {
  const { MOTO_URL } = process.env
  const backend = MOTO_URL ? await motoBackend(MOTO_URL) : await s3rverBackend()
  const { keys, object, uploads } = backend
  const storage: Storage = { env: {}, asked: [], fault: () => undefined, encrypts: false, keys, object, uploads }
  const answering = new Set<Promise<void>>()
  const proxy = createServer((incoming, outgoing) => {
    const answered: Promise<void> = answer(incoming).then(
      (result) => {
        if (result === null) return void incoming.socket.destroy()
        outgoing.writeHead(result.status, result.headers)
        if (!result.isCut) return void outgoing.end(result.body)
        outgoing.write(result.body.subarray(0, result.body.length / 2), () => incoming.socket.destroy())
      },
      () => void incoming.socket.destroy(),
    )
    answering.add(answered)
    void answered.finally(() => answering.delete(answered))
  })

  async function answer(incoming: IncomingMessage): Promise<(Answer & { isCut?: boolean }) | null> {
    const body = await buffer(incoming)
    const url = incoming.url ?? ''
    const method = incoming.method ?? ''
    const asked: Asked = {
      method,
      path: url.replace(/^\/lake\/?/, '').replace(/&?x-id=\w+/, ''),
      headers: incoming.headers,
    }
    storage.asked.push(asked)
    const fault = await storage.fault(asked)
    if (fault === 'reset') return null
    if (typeof fault === 'object') return failure(fault.status, fault.code)
    const isTold = ([name]: [string, unknown]) => storage.encrypts || !name.startsWith('x-amz-server-side-encryption')
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(isTold))
    const result = await backend.answer({ method, url, headers, body })
    return fault === 'lost' ? null : { ...result, isCut: fault === 'cut' }
  }

  const listens = await listening(proxy)
  storage.env = { ...KEYS, AWS_ENDPOINT_URL_S3: listens.url }
  for (const [name, value] of Object.entries(storage.env)) vi.stubEnv(name, value)
  atEnd(async () => {
    vi.unstubAllEnvs()
    await Promise.all(answering)
    await listens[Symbol.asyncDispose]()
    await backend.stop()
  })
  return storage
}
