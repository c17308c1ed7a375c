// Storages whose answers have no end, come a byte at a time, or name what was not asked for.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { exportSnapshot } from '../../../src/export/export.ts'
import { bounded, boundedObject } from '../../../src/export/publish/s3/answers.ts'
import { S3Store } from '../../../src/export/publish/s3/store.ts'
import { listening } from '../../support/listening.ts'
import { makeMirror, ordinaryRows } from '../mirror.ts'

const SNAPSHOT = '20260101T000000000Z-1-abcdef'

/** A storage that answers as `answer` does, and where that gives false, as an empty one. */
async function startHostile(answer: (asked: URL, method: string, response: ServerResponse) => boolean) {
  const asked: string[] = []
  const server = createServer((incoming: IncomingMessage, response) => {
    incoming.resume()
    const method = incoming.method ?? ''
    const url = new URL(incoming.url ?? '', 'http://storage')
    asked.push(`${method} ${url.pathname}`)
    if (answer(url, method, response)) return
    if (method === 'DELETE') response.writeHead(204).end()
    else if (method === 'GET' && url.pathname === '/lake/') response.end(list('', false))
    else response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
  })
  const storage = await listening(server)
  onTestFinished(() => storage[Symbol.asyncDispose]())
  const env = {
    AWS_ACCESS_KEY_ID: 'A',
    AWS_SECRET_ACCESS_KEY: 'S',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_S3: storage.url,
  }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  return { env, asked }
}

const list = (content: string, isTruncated: boolean, token = '') =>
  `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${
    isTruncated ? `<NextContinuationToken>${token}</NextContinuationToken>` : ''
  }${content}</ListBucketResult>`

const isList = (asked: URL, method: string) => method === 'GET' && asked.searchParams.has('list-type')

const storeAt = (env: Record<string, string>) =>
  new S3Store('s3://lake/tasks', { env, settings: undefined, signal: undefined })

const publishing = (env: Record<string, string>, signal?: AbortSignal) =>
  exportSnapshot({
    dbPath: makeMirror(...ordinaryRows(3)).path,
    out: 's3://lake/tasks/',
    redact: [],
    toolVersion: '0',
    env,
    ...(signal && { signal }),
  })

test.each([
  ['the same place for ever', () => 'same', 2],
  ['ever new places', (n: number) => `place-${n}`, 1001],
])('a list that goes on at %s is given up', async (_, tokenOf, most) => {
  let pages = 0
  const { env } = await startHostile((asked, method, response) => {
    if (!isList(asked, method)) return false
    pages += 1
    response.end(list('', true, tokenOf(pages)))
    return true
  })
  await expect(storeAt(env).snapshotIds()).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    message: expect.stringContaining('does not end'),
  })
  expect(pages).toBe(most)
})

test('a list that names what is not below the prefix makes nothing go there', async () => {
  const { env, asked } = await startHostile((url, method, response) => {
    if (!isList(url, method)) return false
    const keys = ['other/important.txt', `tasks/${SNAPSHOT}/part-00000.parquet`]
    response.end(list(keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join(''), false))
    return true
  })
  await storeAt(env).remove(SNAPSHOT)
  expect(asked.filter((one) => one.startsWith('DELETE'))).toEqual([
    `DELETE /lake/tasks/${SNAPSHOT}/_manifest.json`,
    `DELETE /lake/tasks/${SNAPSHOT}/manifest.json`,
    `DELETE /lake/tasks/${SNAPSHOT}/part-00000.parquet`,
  ])
})

test.each(['latest.json', 'the list', 'a refusal'])('%s without end is given up', async (what) => {
  const { env } = await startHostile((asked, method, response) => {
    const isLatest = method === 'GET' && asked.pathname.endsWith('latest.json')
    if (what === 'the list' ? !isList(asked, method) : !isLatest) return false
    response.writeHead(what === 'a refusal' ? 400 : 200, { etag: '"x"' })
    const piece = Buffer.alloc(1024 * 1024, ' ')
    Readable.from(
      (function* () {
        // Far more than is read, and an end all the same for a reader that has no bound.
        for (let n = 0; n < 200; n += 1) yield piece
      })(),
    )
      .on('error', () => {})
      .pipe(response)
    return true
  })
  await expect(publishing(env)).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    message: expect.stringContaining('has more than 67108864 bytes'),
  })
})

test('an interruption while a body comes byte by byte is told as one', async () => {
  const stop = new AbortController()
  const { env } = await startHostile((asked, method, response) => {
    if (method !== 'GET' || !asked.pathname.endsWith('latest.json')) return false
    response.writeHead(200, { 'content-length': 1_000_000 }).write(' ')
    setTimeout(() => stop.abort(), 200)
    return true
  })
  await expect(publishing(env, stop.signal)).rejects.toMatchObject({ code: 'interrupted' })
})

/** A byte now and then, for ever. */
const drip = () =>
  Readable.from(
    (async function* () {
      for (;;) {
        yield Buffer.from(' ')
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })(),
  )

test('a body that does not end in time is given up, however steadily it comes', async () => {
  await expect(buffer(bounded(drip(), 1_000_000, 100))).rejects.toThrow('its answer has not ended after 0.1 s')
})

test('an object is cut off where it is longer than its manifest says', async () => {
  let length = 0
  for await (const piece of boundedObject(drip(), 10)) length += piece.length
  expect(length).toBe(11)
})
