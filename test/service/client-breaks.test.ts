// Answers that break: connections that never come about, end early, stall, pour or inflate. Every row is a real socket.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  brotliCompressSync,
  constants,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { decodePage, KEY, makeClient, page, skippingClock } from '../support/client.ts'
import { freePort, listening } from '../support/listening.ts'
import {
  answer,
  type Behaviour,
  closesAfter,
  drips,
  pours,
  rawServer,
  resetsAfter,
  says,
  saysJson,
  silent,
} from '../support/raw-server.ts'

const WINDOW = { skip: 0, take: 10 }
const TEXT = JSON.stringify(page([{ id: 'a'.repeat(1000) }]))
const good = saysJson(200, page())
const half = (bytes: Uint8Array) => bytes.subarray(0, bytes.byteLength - 400)
const HEAD = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`
const cutChunks = `${CHUNKED}10\r\n{"statusCode":20\r\n`

describe('connections that end early', () => {
  test.each<[string, Behaviour, string]>([
    ['a reset before the answer', resetsAfter(''), 'reset'],
    ['a close before the answer', closesAfter(''), 'reset'],
    ['a close inside the head', closesAfter('HTTP/1.1 200 OK\r\ncontent-le'), 'reset'],
    ['an answer that is no HTTP', closesAfter('220 mail.example.com ESMTP\r\n'), 'reset'],
    ['huge headers', says(200, TEXT, { 'x-huge': 'x'.repeat(100_000) }), 'reset'],
    ['two lengths that differ', closesAfter(`${HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\n{}x`), 'reset'],
    [
      'a protocol switch nobody asked for',
      closesAfter('HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      'reset',
    ],
    ['a reset inside the body', resetsAfter(half(answer(200, TEXT))), 'truncated'],
    ['half of a body with Content-Length', closesAfter(half(answer(200, TEXT))), 'truncated'],
    ['a chunked body without its last chunk', closesAfter(cutChunks), 'truncated'],
    ['a chunked body that is reset', resetsAfter(cutChunks), 'truncated'],
    ['a chunk of nonsense', closesAfter(`${CHUNKED}zz\r\n{}\r\n`), 'truncated'],
    [
      'a gzip body that ends early',
      says(200, half(gzipSync(noise(2000))), { 'content-encoding': 'gzip' }),
      'truncated',
    ],
    [
      'a zstd body that ends early',
      says(200, half(zstdCompressSync(noise(2000))), { 'content-encoding': 'zstd' }),
      // The decoder of Node 22 ends there as if that were all.
      process.versions.node.startsWith('22.') ? 'not-json' : 'truncated',
    ],
    ['a body that is not what its coding says', says(200, TEXT, { 'content-encoding': 'gzip' }), 'not-json'],
    ['a Brotli body that is none', says(200, TEXT, { 'content-encoding': 'br' }), 'not-json'],
    ['a close-delimited body cut inside its JSON', closesAfter(`${HEAD}\r\n${TEXT.slice(0, 50)}`), 'not-json'],
  ])('%s is retried on a fresh connection', async (_title, behaviour, reason) => {
    await using always = await rawServer([behaviour])
    await using failing = makeClient(always.url)
    expect(await failing.list(WINDOW, decodePage)).toMatchObject({ kind: 'failed', reason })
    expect(always.requests).toHaveLength(3)

    await using once = await rawServer([behaviour, good])
    await using client = makeClient(once.url)
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'ok' })
    expect(client.traffic()).toMatchObject({ requests: 2, retries: 1 })
  })

  test('a keep-alive connection that has gone stale costs one retry, whatever the method', async () => {
    await using server = await rawServer([good, resetsAfter(''), good])
    await using client = makeClient(server.url, { concurrency: 1 })
    await client.list(WINDOW, decodePage)
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'ok' })
    expect(server.requests.map((request) => request.connection)).toEqual([1, 1, 2])
  })

  test('after a suspect error no idle connection is used again', async () => {
    const release = Promise.withResolvers<void>()
    const whenReleased: Behaviour = (socket, request) => void release.promise.then(() => good(socket, request))
    await using server = await rawServer([whenReleased, resetsAfter(''), good])
    const clock = skippingClock()
    // While the second request backs off, the first ends well and leaves its connection idle.
    const sleep = async (ms: number, signal: AbortSignal) => {
      release.resolve()
      await first
      // undici takes a turn of the event loop to have a connection back.
      await setImmediate()
      await setImmediate()
      await clock.sleep(ms, signal)
    }
    await using client = makeClient(server.url, { ...clock, sleep })
    const first = client.list(WINDOW, decodePage)
    await server.asked(1)
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'ok' })
    expect(server.requests.map((request) => request.connection)).toEqual([1, 2, 3])
  })

  test('whole answers leave the connection in use', async () => {
    await using server = await rawServer([good, saysJson(404, {}), saysJson(500, {}), good])
    await using client = makeClient(server.url, { concurrency: 1 })
    for (let i = 0; i < 3; i++) await client.list(WINDOW, decodePage)
    expect(server.connections()).toBe(1)
  })

  test('an answer nobody asked for is not taken for the next one', async () => {
    const poisoned = answer(200, JSON.stringify(page([{ id: 'poison' }])))
    const twice: Behaviour = (socket) => void socket.write(Buffer.concat([answer(200, TEXT), poisoned]))
    await using server = await rawServer([twice, good])
    await using client = makeClient(server.url)
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'ok', value: { json: JSON.parse(TEXT) } })
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'ok', value: { json: page() } })
  })

  test('interim answers are passed over', async () => {
    const hinted = Buffer.concat([Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'), answer(200, TEXT)])
    await using server = await rawServer([(socket) => void socket.write(hinted)])
    await using client = makeClient(server.url)
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'ok' })
  })

  test('a 100 Continue that was not asked for cannot be passed over, and is named', async () => {
    const continued = Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'), answer(200, TEXT)])
    await using server = await rawServer([(socket) => void socket.write(continued)])
    await using client = makeClient(server.url)
    expect(await client.list(WINDOW, decodePage)).toMatchObject({
      kind: 'failed',
      reason: 'reset',
      message: expect.stringContaining('100 Continue'),
    })
  })
})

describe('one deadline for the whole request', () => {
  test.each<[string, Behaviour]>([
    ['a head that never comes', silent],
    ['a head that comes byte by byte', drips(`${HEAD}x-slow: `, () => 'y', 20)],
    ['interim answers without end', drips('', () => 'HTTP/1.1 103 Early Hints\r\n\r\n', 20)],
    ['a body that stops', says(200, 'x', { 'content-length': '1000' })],
    ['a body that comes byte by byte', drips(`${HEAD}content-length: 100000\r\n\r\n`, () => ' ', 20)],
    [
      'a compressed body that comes byte by byte',
      (...its) => drips(gzipHead(), byteByByte(gzipSync(noise(9000))), 20)(...its),
    ],
    [
      'empty gzip blocks without end',
      pours(Buffer.concat([Buffer.from(gzipHead()), gzipSync('').subarray(0, 10)]), emptyBlocks()),
    ],
  ])('%s is a time-out', async (_title, behaviour) => {
    await using server = await rawServer([behaviour])
    await using client = makeClient(server.url, { requestTimeoutMs: 250, maxRetries: 1 })
    // None of them comes to an end by itself. On a slow machine the server may not have read a request by then.
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'failed', reason: 'timeout' })
    expect(client.traffic().requests).toBe(2)
  })

  test('an error whose body never comes is judged by its status', async () => {
    await using server = await rawServer([says(404, 'x', { 'content-length': '1000' })])
    // The head has to have come by then.
    await using client = makeClient(server.url, { requestTimeoutMs: 1_500 })
    expect(await client.get('a', decodePage)).toMatchObject({ kind: 'refused', httpStatus: 404 })
  })
})

describe('bodies beyond the limit', () => {
  const big = Buffer.alloc(50_000_000)
  const bombs: [string, Uint8Array][] = [
    ['gzip', gzipSync(big)],
    ['x-gzip', gzipSync(big)],
    ['deflate', deflateSync(big)],
    ['br', brotliCompressSync(big)],
    ['zstd', zstdCompressSync(big)],
    ['gzip, gzip', gzipSync(gzipSync(big))],
  ]

  test.each(bombs)('a %s bomb is stopped at the limit and not asked for again', async (coding, bytes) => {
    await using server = await rawServer([says(200, bytes, { 'content-encoding': coding })])
    await using client = makeClient(server.url)
    expect(await client.list(WINDOW, decodePage)).toMatchObject({
      kind: 'failed',
      reason: 'too-large',
      httpStatus: 200,
    })
    expect(server.requests).toHaveLength(1)
  })

  test.each<[string, Behaviour]>([
    ['a body without end', pours(CHUNKED, Buffer.from(`1000\r\n${' '.repeat(0x1000)}\r\n`))],
    ['a close-delimited body without end', pours(`${HEAD}\r\n`, Buffer.alloc(4096))],
    ['a Content-Length beyond the limit', says(200, Buffer.alloc(1_000_001))],
  ])('%s is stopped at the limit', async (_title, behaviour) => {
    await using server = await rawServer([behaviour])
    await using client = makeClient(server.url)
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'failed', reason: 'too-large' })
  })

  test('an answer with many tasks is stopped at what may be under way, one with few is not', async () => {
    const large = says(200, TEXT + ' '.repeat(5_000))
    await using server = await rawServer([large, large, large, large])
    await using client = makeClient(server.url, { maxBytesInFlight: 8_000 })
    const tooLarge = { kind: 'failed', reason: 'too-large' }
    const [many, few] = [
      { skip: 0, take: 17 },
      { skip: 0, take: 16 },
    ]
    expect(await client.list(many, decodePage, { maxBytes: 2_000 })).toMatchObject(tooLarge)
    expect(client.traffic().bytes).toBe(0)
    expect(await client.list(many, decodePage, { maxBytes: 20_000 })).toMatchObject({ kind: 'ok' })
    expect(await client.list(few, decodePage, { maxBytes: 2_000 })).toMatchObject({ kind: 'ok' })
    await using other = makeClient(server.url, { maxBytesInFlight: 2_000 })
    expect(await other.list(many, decodePage, { maxBytes: 20_000 })).toMatchObject(tooLarge)
  })

  test.each([
    [23, 'ok'],
    [27, 'failed'],
  ])('a zstd body with a window of 2^%i bytes is %s: RFC 9659 allows 8 MB', async (windowLog, kind) => {
    const params = { [constants.ZSTD_c_windowLog]: windowLog, [constants.ZSTD_c_contentSizeFlag]: 0 }
    // Streamed, because one call would shrink the window to what is compressed.
    const compress = createZstdCompress({ params })
    compress.write(' '.repeat(20_000_000))
    compress.end(TEXT)
    const bytes = await buffer(compress)
    await using server = await rawServer([says(200, bytes, { 'content-encoding': 'zstd' })])
    await using client = makeClient(server.url, { maxResponseBytes: 100_000_000, maxRetries: 0 })
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind })
  })
})

describe('content codings', () => {
  const raw = Buffer.from(TEXT)
  test.each<[string | string[], Uint8Array]>([
    ['gzip', gzipSync(raw)],
    ['X-GZIP', gzipSync(raw)],
    ['deflate', deflateSync(raw)],
    ['deflate', deflateRawSync(raw)],
    ['br', brotliCompressSync(raw)],
    ['zstd', zstdCompressSync(raw)],
    ['identity', raw],
    ['gzip, br', brotliCompressSync(gzipSync(raw))],
    [['gzip', 'zstd'], zstdCompressSync(gzipSync(raw))],
    ['gzip,gzip,gzip,gzip,gzip', [0, 1, 2, 3, 4].reduce((bytes) => gzipSync(bytes), raw)],
  ])('%j is undone', async (coding, bytes) => {
    await using server = await rawServer([says(200, bytes, { 'content-encoding': coding })])
    await using client = makeClient(server.url)
    const answered = await client.list(WINDOW, decodePage)
    expect(answered).toMatchObject({ kind: 'ok', bytes: raw.byteLength, value: { json: JSON.parse(TEXT) } })
  })

  test('six codings are too many', async () => {
    const bytes = [0, 1, 2, 3, 4, 5].reduce((inner) => gzipSync(inner), raw)
    await using server = await rawServer([says(200, bytes, { 'content-encoding': 'gzip,'.repeat(6) })])
    await using client = makeClient(server.url, { maxRetries: 0 })
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'failed', reason: 'not-json' })
  })
})

describe('connections that never come about', () => {
  test('a refused connection is retried, then the service is unreachable', async () => {
    const port = await freePort()
    await using client = makeClient(`http://127.0.0.1:${port}`)
    await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({
      code: 'service-unreachable',
      message: expect.stringContaining(
        `http://127.0.0.1:${port} cannot be reached after 3 attempts: connect ECONNREFUSED`,
      ),
      facts: { errorCode: 'ECONNREFUSED', attempts: 3 },
    })
  })

  test('an unknown host is unreachable', async () => {
    await using client = makeClient('http://task-mirror.invalid', { maxRetries: 0 })
    await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({ code: 'service-unreachable' })
  })

  test('a TLS handshake that gets no answer ends at the connect time-out', async () => {
    await using server = await listening(createServer())
    await using client = makeClient(`https://127.0.0.1:${server.port}`, { connectTimeoutMs: 100, maxRetries: 1 })
    await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({
      code: 'service-unreachable',
      facts: { errorCode: 'UND_ERR_CONNECT_TIMEOUT', attempts: 2 },
    })
  })

  test('a plain server behind an https address is unreachable', async () => {
    const refuses = (socket: Socket) => void socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n')
    await using server = await listening(createServer(refuses))
    await using client = makeClient(`https://127.0.0.1:${server.port}`, { maxRetries: 0 })
    await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({
      code: 'service-unreachable',
      message: expect.stringMatching(/: the port does not speak TLS: is it an http service\?$/),
    })
  })

  test('an expired certificate sends people to the clock and to the service', async () => {
    await using server = await rawServer([good], selfSigned('expired'))
    await using client = makeClient(server.url)
    await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({
      code: 'service-unreachable',
      message: expect.stringMatching(/does not prove its identity: certificate has expired$/),
      hint: expect.stringMatching(/^Check this machine's clock .* renew its certificate\.$/),
    })
  })

  test.each(['1', '0'])(
    'a self-signed certificate is refused at once, NODE_TLS_REJECT_UNAUTHORIZED=%s',
    async (value) => {
      await using server = await rawServer([good], selfSigned())
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = value
      try {
        await using client = makeClient(server.url)
        await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({
          code: 'service-unreachable',
          facts: { happening: 'untrusted', errorCode: 'DEPTH_ZERO_SELF_SIGNED_CERT', attempts: 1 },
        })
      } finally {
        delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      }
      expect(server.requests).toHaveLength(0)
    },
  )
})

describe('a proxy', () => {
  test.each([
    ['directly', false],
    ['through a tunnel', true],
  ])('a private authority named by NODE_EXTRA_CA_CERTS is trusted %s', async (_title, tunnelled) => {
    await using server = await rawServer([good], selfSigned())
    const tunnel: Behaviour = (socket) => {
      socket.removeAllListeners('data').write('HTTP/1.1 200 Connected\r\n\r\n')
      const onward = connect(Number(new URL(server.url).port), '127.0.0.1')
      socket.pipe(onward).pipe(socket)
    }
    await using proxy = await rawServer([tunnel])
    // Node reads the variable when it starts, so this needs a process of its own.
    const script = `
      const { decodePage, makeClient } = await import(${JSON.stringify(import.meta.resolve('../support/client.ts'))})
      const client = makeClient('${server.url}', { proxy: ${tunnelled ? JSON.stringify(proxy.url) : null} })
      console.log((await client.list({ skip: 0, take: 1 }, decodePage)).kind)
      await client.close()`
    const env = {
      ...process.env,
      NODE_EXTRA_CA_CERTS: fileURLToPath(new URL('./self-signed.cert.pem', import.meta.url)),
    }
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env })
    expect(stdout).toBe('ok\n')
    expect(proxy.requests).toHaveLength(tunnelled ? 1 : 0)
    expect(JSON.stringify(proxy.requests)).not.toContain(KEY)
    expect(server.requests[0]!.headers.authorization).toContain(KEY)
  })

  test('carries requests to a plain address', async () => {
    await using proxy = await rawServer([good])
    await using client = makeClient('http://tasks.example.test/v1', { proxy: proxy.url })
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'ok' })
    expect(proxy.requests[0]).toMatchObject({ method: 'POST', path: 'http://tasks.example.test/v1/tasks/list' })
  })

  test('learns no key of a TLS address, and one that refuses is unreachable', async () => {
    await using proxy = await rawServer([says(403)])
    await using client = makeClient('https://tasks.example.test', { proxy: proxy.url, maxRetries: 0 })
    await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({
      code: 'service-unreachable',
      message: expect.stringMatching(/^https:\/\/tasks\.example\.test cannot be reached by way of service\.proxy: /),
    })
    expect(proxy.requests[0]).toMatchObject({ method: 'CONNECT', path: 'tasks.example.test:443' })
    expect(JSON.stringify(proxy.requests)).not.toContain(KEY)
  })

  test('that wants a password is told of as such, and takes one from its URL', async () => {
    const asks: Behaviour = (socket, { headers }) => {
      const isRight = headers['proxy-authorization'] === `Basic ${Buffer.from('me:p@ss').toString('base64')}`
      socket.end(`HTTP/1.1 ${isRight ? '403 Forbidden' : '407 Proxy Authentication Required'}\r\n\r\n`)
    }
    await using proxy = await rawServer([asks])
    const errorBy = async (url: string) => {
      await using client = makeClient('https://tasks.example.test', { proxy: url, maxRetries: 0 })
      return await client.list(WINDOW, decodePage).catch((thrown) => thrown)
    }
    expect(await errorBy(proxy.url)).toMatchObject({ hint: expect.stringMatching(/http:\/\/USER:PASSWORD@HOST:PORT/) })
    expect(await errorBy(proxy.url.replace('//', '//me:p%40ss@'))).toMatchObject({
      message: expect.stringContaining('(403)'),
      hint: expect.stringMatching(/^Check service\.baseUrl/),
    })
  })

  test.each(['http', 'https'])('that is down is what the message of an %s service names', async (scheme) => {
    const proxy = await rawServer([])
    await proxy[Symbol.asyncDispose]()
    await using client = makeClient(`${scheme}://tasks.example.test`, { proxy: proxy.url, maxRetries: 0 })
    await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({
      code: 'service-unreachable',
      message: expect.stringMatching(/^The proxy \(service\.proxy\) cannot be reached: .*ECONNREFUSED/),
    })
  })
})

/** Bytes that do not compress, the same each time. */
function noise(length: number): Uint8Array {
  let state = 1
  return Uint8Array.from({ length }, () => {
    state = (state * 48271) % 2147483647
    return state & 0xff
  })
}

function gzipHead(): string {
  return `${HEAD}content-encoding: gzip\r\n\r\n`
}

function byteByByte(bytes: Uint8Array): () => Uint8Array | null {
  let at = 0
  return () => (at < bytes.byteLength ? bytes.subarray(at, ++at) : null)
}

/** A gzip head and then stored blocks of no bytes: input for ever, output never. */
function emptyBlocks(): Uint8Array {
  const block = [0x00, 0x00, 0x00, 0xff, 0xff]
  return Uint8Array.from({ length: 5_000 }, (_, index) => block[index % 5]!)
}

/** An EC key and a certificate of its own for localhost and 127.0.0.1; `expired`: one that ended in February 2025. */
function selfSigned(name: 'self-signed' | 'expired' = 'self-signed'): { key: string; cert: string } {
  const pem = (file: string) => readFileSync(new URL(`./${file}.pem`, import.meta.url), 'utf8')
  return { key: pem('self-signed.key'), cert: pem(`${name}.cert`) }
}
