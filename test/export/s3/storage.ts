// An object store on this machine (s3rver) behind a proxy that can be told to fail. s3rver knows neither conditions nor the
// listing and ending of uploads, so the proxy adds these three as Amazon describes them.
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import S3rver from '@20minutes/s3rver'
import { onTestFinished, vi } from 'vitest'

export interface Asked {
  method: string
  /** Without the bucket, with the query. */
  path: string
  headers: IncomingMessage['headers']
}

/** What happens instead of the request; `lost`: it is carried out and its answer never arrives. */
export type Fault = { status: number; code: string } | 'reset' | 'lost' | undefined

export interface Storage {
  env: Record<string, string>
  /** Everything asked so far. */
  asked: Asked[]
  /** Decides about every request before it is carried out. */
  fault: (asked: Asked) => Fault | Promise<Fault>
  /** Names of the objects in the bucket `lake`. */
  keys(): string[]
  object(key: string): Buffer
  /** Whether it does as it is asked with `x-amz-server-side-encryption`, and says so; s3rver passes over it. */
  encrypts: boolean
  /** Uploads that were begun and neither completed nor ended. */
  uploads: Map<string, string>
}

const KEYS = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER', AWS_REGION: 'us-east-1' }

/** Stops at the end of the test, or when `atEnd` calls what it is given. */
export async function startStorage(atEnd: (stop: () => Promise<void>) => void = onTestFinished): Promise<Storage> {
  const directory = mkdtempSync(join(tmpdir(), 'task-mirror-s3-'))
  const s3rver = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    // It signs the path of a bucket with a slash at its end, where the library signs it without.
    allowMismatchedSignatures: true,
    directory,
    configureBuckets: [{ name: 'lake', configs: [] }],
  })
  const { port } = await s3rver.run()
  const storage: Storage = {
    env: {},
    asked: [],
    fault: () => undefined,
    keys: () => objectsIn(directory),
    object: (key) => readFileSync(join(directory, 'lake', `${key}._S3rver_object`)),
    uploads: new Map(),
    encrypts: false,
  }
  const answering = new Set<Promise<void>>()
  const proxy = createServer((incoming, outgoing) => {
    const answered: Promise<void> = answer(incoming).then(
      (result) => {
        if (result === null) return void incoming.socket.destroy()
        outgoing.writeHead(result.status, result.headers).end(result.body)
      },
      () => void incoming.socket.destroy(),
    )
    answering.add(answered)
    void answered.finally(() => answering.delete(answered))
  })

  async function answer(incoming: IncomingMessage): Promise<Answer | null> {
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
    const result = await carryOut(method, url, incoming.headers, body)
    const encryption = incoming.headers['x-amz-server-side-encryption']
    if (storage.encrypts && encryption !== undefined) result.headers['x-amz-server-side-encryption'] = encryption
    return fault === 'lost' ? null : result
  }

  async function carryOut(
    method: string,
    url: string,
    headers: IncomingMessage['headers'],
    body: Buffer,
  ): Promise<Answer> {
    const forward = (how = method, what = body) => ask(port, how, url, headers, what)
    const query = new URL(url, 'http://x').searchParams
    const uploadId = query.get('uploadId')
    if (method === 'PUT' && headers['if-none-match'] === '*') {
      const key = decodeURIComponent(new URL(url, 'http://x').pathname.replace('/lake/', ''))
      if (storage.keys().includes(key)) return failure(412, 'PreconditionFailed')
    }
    if (method === 'PUT' && headers['if-match'] !== undefined) {
      const key = decodeURIComponent(new URL(url, 'http://x').pathname.replace('/lake/', ''))
      if (!storage.keys().includes(key)) return failure(404, 'NoSuchKey')
      const tag = createHash('md5').update(storage.object(key)).digest('hex')
      if (headers['if-match'] !== `"${tag}"`) return failure(412, 'PreconditionFailed')
    }
    if (method === 'DELETE' && uploadId !== null) {
      storage.uploads.delete(uploadId)
      return { status: 204, headers: {}, body: Buffer.alloc(0) }
    }
    if (method === 'GET' && query.has('uploads')) return listOf(storage.uploads)
    if (uploadId !== null && !storage.uploads.has(uploadId)) return failure(404, 'NoSuchUpload')
    const result = await forward()
    const begun = /<UploadId>(\w+)<\/UploadId>/.exec(result.body.toString())?.[1]
    if (query.has('uploads') && begun)
      storage.uploads.set(begun, new URL(url, 'http://x').pathname.replace('/lake/', ''))
    if (method === 'POST' && uploadId !== null && result.status === 200) storage.uploads.delete(uploadId)
    return result
  }

  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  storage.env = { ...KEYS, AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
  for (const [name, value] of Object.entries(storage.env)) vi.stubEnv(name, value)
  atEnd(async () => {
    vi.unstubAllEnvs()
    await Promise.all(answering)
    await Promise.all([proxy, s3rver.httpServer].map(stop))
    rmSync(directory, { recursive: true, force: true })
  })
  return storage
}

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

function ask(
  port: number,
  method: string,
  path: string,
  headers: IncomingMessage['headers'],
  body: Buffer,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers }, (incoming) => {
      buffer(incoming).then(
        (content) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: content }),
        reject,
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function failure(status: number, code: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>as told</Message></Error>`
  return { status, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) }
}

function listOf(uploads: Map<string, string>): Answer {
  const items = [...uploads].map(([id, key]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`)
  const body = `<?xml version="1.0"?><ListMultipartUploadsResult>${items.join('')}</ListMultipartUploadsResult>`
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) }
}

function objectsIn(directory: string): string[] {
  const bucket = join(directory, 'lake')
  return readdirSync(bucket, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('._S3rver_object'))
    .map((name) => name.replace('._S3rver_object', ''))
    .sort()
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
