// What the client sends, and how it judges answers that are whole: HTTP status, envelope and body together.
import { describe, expect, test } from 'vitest'
import { DEFAULTS } from '../../src/config/defaults.ts'
import { decodePage, detail, KEY, makeClient, type Page, page } from '../support/client.ts'
import { rawServer, says, saysJson } from '../support/raw-server.ts'

const WINDOW = { skip: 20, take: 10 }
const code = (expected: string) => expect.objectContaining({ code: expected })

describe('requests', () => {
  test('the list is a POST of take and skip below the path of the base URL', async () => {
    await using server = await rawServer([
      saysJson(200, page([{ id: 'a' }]), { date: 'Sun, 06 Nov 1994 08:49:37 GMT' }),
    ])
    await using client = makeClient(`${server.url}/v1/`)
    const answer = await client.list(WINDOW, decodePage)
    expect(answer).toMatchObject({ kind: 'ok', serviceDate: 784111777000, value: { json: page([{ id: 'a' }]) } })
    const [request] = server.requests
    expect(request).toMatchObject({ method: 'POST', path: '/v1/tasks/list' })
    expect(JSON.parse(request!.body)).toEqual({ take: 10, skip: 20 })
    expect(request!.headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/json',
      'accept-encoding': 'gzip, deflate, br, zstd',
      'user-agent': 'task-mirror/test',
      authorization: `Bearer ${KEY}`,
    })
  })

  test('a detail is a GET with the id as one encoded path segment', async () => {
    await using server = await rawServer([saysJson(200, detail({ id: 'a' }))])
    await using client = makeClient(server.url)
    await client.get('a/../b?c#d é', decodePage)
    expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/tasks/a%2F..%2Fb%3Fc%23d%20%C3%A9', body: '' })
    expect(server.requests[0]!.headers).not.toHaveProperty('content-type')
  })

  test('ids that a path cannot carry are refused without a request', async () => {
    await using server = await rawServer([saysJson(200, detail({}))])
    await using client = makeClient(server.url)
    for (const id of ['.', '..', '%2e', '%2E.', '', '\ud800']) {
      expect(await client.get(id, decodePage)).toMatchObject({ kind: 'refused', httpStatus: 0 })
    }
    expect(server.requests).toHaveLength(0)
    expect(client.traffic().requests).toBe(0)
  })

  test.each([
    ['in a header, bare', { placement: 'header', name: 'X-Api-Key', prefix: '', on: 'all' }, true, true],
    [
      'in the query, without the prefix',
      { placement: 'query', name: 'api key', prefix: 'Bearer ', on: 'all' },
      true,
      true,
    ],
    ['only on details', { placement: 'header', name: 'X-Api-Key', prefix: '', on: 'detail' }, false, true],
    ['nowhere', { placement: 'none', name: 'X-Api-Key', prefix: '', on: 'all' }, false, false],
  ] as const)('the key is sent %s', async (_title, auth, onList, onDetail) => {
    await using server = await rawServer([saysJson(200, page()), saysJson(200, detail({}))])
    await using client = makeClient(server.url, { auth })
    await client.list(WINDOW, decodePage)
    await client.get('a', decodePage)
    const sent = server.requests.map(({ path, headers }) => {
      if (auth.placement === 'query') return path.endsWith(`?api%20key=${encodeURIComponent(KEY)}`)
      return headers['x-api-key'] === KEY
    })
    expect(sent).toEqual([onList, onDetail])
    expect(JSON.stringify(server.requests).includes('Bearer')).toBe(false)
  })

  test('a proxy that is no URL is a configuration error that does not repeat it', () => {
    let error: unknown
    try {
      makeClient('https://tasks.example.com', { proxy: `${KEY}:nowhere` })
    } catch (thrown) {
      error = thrown
    }
    expect(error).toEqual(code('config-invalid'))
    expect(told(error)).not.toContain(KEY)
  })
})

describe('judging', () => {
  test.each([
    ['200 with items', 'list', saysJson(200, page()), { kind: 'ok' }],
    ['200 with an envelope without statusCode', 'list', saysJson(200, { body: { items: [] } }), { kind: 'ok' }],
    ['an envelope code that is text', 'list', saysJson(200, page([], '500')), { kind: 'ok' }],
    ['an envelope code that is no status', 'list', saysJson(200, page([], 0)), { kind: 'ok' }],
    ['an envelope code beyond 599', 'list', saysJson(200, page([], 1000)), { kind: 'ok' }],
    ["a byte order mark is the decoder's affair", 'list', says(200, `\ufeff${JSON.stringify(page())}`), { kind: 'ok' }],
    [
      '200 without an item',
      'get',
      saysJson(200, { statusCode: 200, body: {} }),
      { kind: 'ok', value: { hasPayload: false } },
    ],
    [
      '404 on a detail',
      'get',
      saysJson(404, { statusCode: 404, message: 'gone' }),
      { kind: 'refused', httpStatus: 404, statusCode: 404, message: 'gone' },
    ],
    [
      '404 in an envelope of HTTP 200',
      'get',
      saysJson(200, { statusCode: 404, message: 'gone' }),
      { kind: 'refused', httpStatus: 200, statusCode: 404, message: 'gone' },
    ],
    [
      '200 in an envelope of HTTP 404',
      'get',
      saysJson(404, detail({ id: 'a' })),
      { kind: 'refused', httpStatus: 404, statusCode: 200 },
    ],
    ['403 on a detail', 'get', saysJson(403, { statusCode: 403 }), { kind: 'refused', httpStatus: 403 }],
    [
      'HTML with 404',
      'get',
      says(404, '<html>'),
      { kind: 'refused', httpStatus: 404, statusCode: null, message: 'HTTP 404' },
    ],
    [
      '400 on the list',
      'list',
      saysJson(400, { statusCode: 400, message: 'take' }),
      { kind: 'refused', httpStatus: 400, message: 'take' },
    ],
  ] as const)('%s is answered at once', async (_title, operation, behaviour, expected) => {
    await using server = await rawServer([behaviour])
    await using client = makeClient(server.url)
    const answer = operation === 'list' ? client.list(WINDOW, decodePage) : client.get('a', decodePage)
    expect(await answer).toMatchObject(expected)
    expect(server.requests).toHaveLength(1)
  })

  test('a web page where JSON should be is called one', async () => {
    await using server = await rawServer([says(200, '\n <!doctype html><title>Sign in</title>')])
    await using client = makeClient(server.url)
    expect(await client.list(WINDOW, decodePage)).toMatchObject({
      kind: 'failed',
      reason: 'not-json',
      message: expect.stringMatching(/^a web page instead of JSON/),
    })
  })

  test.each([
    ['an empty 200', says(200), 'not-json'],
    ['HTML with 200', says(200, '<html>maintenance</html>'), 'not-json'],
    ['HTML with 502', says(502, '<html>bad gateway</html>'), 'status'],
    ['JSON of the right length that ends early', says(200, '{"statusCode":200,"body":{"items":[{"id'), 'not-json'],
    ['a body that is a list', saysJson(200, []), 'not-json'],
    ['a body that is null', saysJson(200, null), 'not-json'],
    ['invalid UTF-8', says(200, Buffer.from('{"a":"\xff"}', 'latin1')), 'not-json'],
    ['an unknown content coding', says(200, '{}', { 'content-encoding': 'rot13' }), 'not-json'],
    ['1,000 content codings', says(200, '{}', { 'content-encoding': 'gzip,'.repeat(1000) }), 'not-json'],
    ['500 in an envelope of HTTP 200', saysJson(200, page([], 500)), 'status'],
    ['200 in an envelope of HTTP 500', saysJson(500, page([])), 'status'],
    ['429 in an envelope of HTTP 200', saysJson(200, page([], 429), { 'retry-after': '1' }), 'status'],
    ['408', saysJson(408, {}), 'status'],
    ['425', saysJson(425, {}), 'status'],
    ['503 with a body of 1 MB', says(503, 'x'.repeat(1_000_000)), 'status'],
    ['a status beyond 599', saysJson(999, {}), 'status'],
  ] as [string, ReturnType<typeof says>, string][])(
    '%s is retried and then failed',
    async (_title, behaviour, reason) => {
      await using server = await rawServer([behaviour])
      await using client = makeClient(server.url)
      expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'failed', reason })
      expect(server.requests).toHaveLength(3)
      expect(client.traffic()).toMatchObject({ requests: 3, retries: 2, inFlight: 0 })
    },
  )

  test('a retry that succeeds is an ordinary answer', async () => {
    await using server = await rawServer([saysJson(500, {}), says(200, '<html>'), saysJson(200, page())])
    await using client = makeClient(server.url)
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'ok' })
  })

  test('the caller can ask without retries', async () => {
    await using server = await rawServer([saysJson(500, {})])
    await using client = makeClient(server.url)
    expect(await client.list(WINDOW, decodePage, { maxRetries: 0 })).toMatchObject({ kind: 'failed', reason: 'status' })
    expect(server.requests).toHaveLength(1)
  })

  test('the caller gets no more retries than are configured', async () => {
    await using server = await rawServer([saysJson(500, {}), saysJson(200, page())])
    await using client = makeClient(server.url, { maxRetries: 0 })
    expect(await client.list(WINDOW, decodePage, { maxRetries: 1 })).toMatchObject({ kind: 'failed', reason: 'status' })
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    ['401 on the list', 'list', saysJson(401, { statusCode: 401 })],
    ['401 on a detail', 'get', saysJson(401, { statusCode: 401 })],
    ['403 on the list', 'list', saysJson(403, { statusCode: 403 })],
    ['401 in an envelope of HTTP 200', 'get', saysJson(200, { statusCode: 401 })],
    ['403 in an envelope of HTTP 200 on the list', 'list', saysJson(200, page([], 403))],
    ['401 whose body never ends', 'list', says(401, 'x', { 'content-length': '1000' })],
  ] as const)('%s refuses the key at once', async (_title, operation, behaviour) => {
    await using server = await rawServer([behaviour])
    // A head has to have come by then, also on a slow machine.
    await using client = makeClient(server.url, { requestTimeoutMs: 2_000 })
    const answer = operation === 'list' ? client.list(WINDOW, decodePage) : client.get('a', decodePage)
    await expect(answer).rejects.toMatchObject({
      code: 'key-refused',
      hint: expect.stringMatching(/^Check the key, alone in its file without a name or quotes, and how it is sent/),
    })
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    ['no key', { apiKey: null }, 'asks for a key', /^Put it into a file and name that in TASK_MIRROR_API_KEY_FILE/],
    [
      'a key for details only',
      { auth: { ...DEFAULTS.service.auth, on: 'detail' } },
      'asks for a key',
      /^A key is set, but/,
    ],
    ['a key with its prefix', { apiKey: 'bearer hunter2' }, 'refuses the key', /^The key already begins with what/],
    [
      'no prefix',
      { auth: { ...DEFAULTS.service.auth, prefix: '' }, apiKey: 'Bearer hunter2' },
      'refuses the key',
      /^Check the key/,
    ],
    [
      'a prefix without its space',
      { auth: { ...DEFAULTS.service.auth, prefix: 'Bearer' } },
      'refuses the key',
      /prefix \(its space included\)/,
    ],
  ] as const)('what to do is told of %s', async (_title, options, what, hint) => {
    await using server = await rawServer([saysJson(401, {})])
    await using client = makeClient(server.url, options)
    const error = await client.list(WINDOW, decodePage).catch((thrown) => thrown)
    expect(error).toMatchObject({
      code: 'key-refused',
      message: expect.stringContaining(what),
      hint: expect.stringMatching(hint),
    })
    expect(told(error)).not.toContain('hunter2')
  })

  test('a refusal that is a web page may come from something on the way', async () => {
    await using server = await rawServer([says(403, '<html>Blocked</html>', { 'content-type': 'text/html' })])
    await using client = makeClient(server.url)
    await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({
      code: 'key-refused',
      hint: expect.stringMatching(/^Check the key, .* a proxy or firewall on the way may have sent it/),
    })
  })

  test.each([300, 301, 302, 303, 304, 307, 308])('a redirect with %i is refused, never followed', async (status) => {
    await using elsewhere = await rawServer([saysJson(200, page())])
    await using server = await rawServer([says(status, '', { location: `${elsewhere.url}/?secret=1` })])
    await using client = makeClient(server.url)
    const error = await client.list(WINDOW, decodePage).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'service-refused', facts: { locationHost: new URL(elsewhere.url).host } })
    expect(told(error)).not.toContain('secret')
    expect([server.requests.length, elsewhere.requests.length]).toEqual([1, 0])
  })

  test('a redirect is one whatever its body says', async () => {
    await using server = await rawServer([saysJson(302, { statusCode: 404 }, { location: '/elsewhere' })])
    await using client = makeClient(server.url)
    await expect(client.get('a', decodePage)).rejects.toEqual(code('service-refused'))
  })

  test.each(['', '/relative', 'http://[', 'javascript:alert(1)'])('a Location of %j does no harm', async (location) => {
    await using server = await rawServer([says(302, '', { location })])
    await using client = makeClient(server.url)
    await expect(client.list(WINDOW, decodePage)).rejects.toEqual(code('service-refused'))
  })

  test('messages say what went wrong, and how often', async () => {
    await using server = await rawServer([says(200)])
    await using client = makeClient(server.url)
    const answer = await client.list(WINDOW, decodePage)
    expect(answer).toMatchObject({ message: 'an answer without a body after 3 attempts' })
  })

  test.each([
    ['no items', saysJson(200, { statusCode: 200, message: 'OK', body: {} })],
    ['items null', saysJson(200, { statusCode: 200, body: { items: null } })],
    ['204', (socket) => void socket.write('HTTP/1.1 204 No Content\r\n\r\n')],
  ] as [string, ReturnType<typeof says>][])('a success with %s is a refusal', async (_title, behaviour) => {
    await using server = await rawServer([behaviour])
    await using client = makeClient(server.url)
    const answer = await client.list(WINDOW, decodePage)
    expect(answer).toMatchObject({ kind: 'refused', message: 'a success without content' })
    expect(server.requests).toHaveLength(1)
  })

  test('a 401 to a list that carries no key asks for one', async () => {
    await using server = await rawServer([saysJson(401, {})])
    const auth = { placement: 'header', name: 'authorization', prefix: '', on: 'detail' } as const
    await using client = makeClient(`${server.url}/v1`, { auth })
    await expect(client.list(WINDOW, decodePage)).rejects.toThrow(
      `The service asks for a key (HTTP 401 for POST ${server.url}/v1/tasks/list)`,
    )
    await expect(client.get('a', decodePage)).rejects.toThrow(
      `The service refuses the key (HTTP 401 for GET ${server.url}/v1/tasks/a)`,
    )
  })

  test('what the decoder throws for reasons of its own is passed on as it is', async () => {
    await using server = await rawServer([saysJson(200, page())])
    await using client = makeClient(server.url)
    const full = new Error('disk full')
    await expect(client.list(WINDOW, () => Promise.reject(full))).rejects.toBe(full)
    expect(server.requests).toHaveLength(1)
  })

  test('decoding may take the buffer away', async () => {
    await using server = await rawServer([saysJson(200, page())])
    await using client = makeClient(server.url)
    const length = JSON.stringify(page()).length
    const answer = await client.list(WINDOW, async (raw) => {
      expect(raw.buffer.byteLength).toBe(raw.byteLength)
      return decodePage(structuredClone(raw, { transfer: [raw.buffer] }))
    })
    expect(answer).toMatchObject({ kind: 'ok', bytes: length })
    expect(client.traffic().bytes).toBe(length)
  })
})

describe('the key stays out of everything that is told', () => {
  const query = { placement: 'query', name: 'key', prefix: '', on: 'all' } as const

  test.each([
    ['a refusal that echoes it', saysJson(404, { statusCode: 404, message: `no task for ${KEY}` })],
    ['a refusal that echoes it encoded', saysJson(404, { message: `/tasks/a?key=${encodeURIComponent(KEY)}` })],
    ['a failure that echoes it', saysJson(500, { statusCode: 500, message: KEY })],
    ['a refused key', saysJson(401, { statusCode: 401, message: `bad key ${KEY}` })],
    ['a redirect that carries it on', says(302, '', { location: `https://elsewhere.example/?key=${KEY}` })],
    ['an answer that is no HTTP', (socket) => void socket.end(`${KEY}\r\n\r\n`)],
  ] as [string, ReturnType<typeof says>][])('%s', async (_title, behaviour) => {
    await using server = await rawServer([behaviour])
    const logged: unknown[] = []
    await using client = makeClient(server.url, { auth: query, log: (...event) => logged.push(event) })
    const outcome = await client.get('a', decodePage).catch((thrown) => thrown)
    expect(server.requests[0]!.path).toContain(encodeURIComponent(KEY))
    const all = told(outcome) + told(logged)
    expect(all).not.toContain(KEY)
    expect(all).not.toContain(encodeURIComponent(KEY))
  })
})

/** Everything an error or answer could show: message, stack, facts and causes. */
function told(thing: unknown): string {
  if (!(thing instanceof Error)) return JSON.stringify(thing)
  return [thing.message, thing.stack, JSON.stringify(thing), thing.cause === undefined ? '' : told(thing.cause)].join()
}

test('a decoded body that is no answer is told to whoever asked, and an answer is not', async () => {
  const error = saysJson(200, { statusCode: 500, message: 'no', body: { items: ['error'] } })
  await using server = await rawServer([error, saysJson(200, page(['answer']))])
  await using client = makeClient(server.url)
  const discarded: unknown[] = []
  const discard = ({ json }: Page) => discarded.push(json.body)
  expect(await client.list({ skip: 0, take: 10 }, decodePage, { discard })).toMatchObject({ kind: 'ok' })
  expect(discarded).toEqual([{ items: ['error'] }])
})
