// The simulator over real HTTP on 127.0.0.1: envelope, key, faults, changes, log.
import { setTimeout as delay } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { request } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { createAccount } from '../../src/simulator/account.ts'
import type { Fault } from '../../src/simulator/faults.ts'
import { type Simulator, startSimulator } from '../../src/simulator/server.ts'

const NOW = Date.UTC(2026, 10, 20, 12)
const running: Simulator[] = []

async function simulator(options: Parameters<typeof startSimulator>[0] = {}): Promise<Simulator> {
  const started = await startSimulator({ tasks: 50, now: () => NOW, ...options })
  running.push(started)
  return started
}

afterEach(async () => {
  for (const each of running.splice(0)) await each.close()
})

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

async function send(
  url: string,
  method: 'GET' | 'POST',
  body?: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await request(url, { method, headers, ...(body === undefined ? {} : { body }) })
  return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) }
}

const list = (at: Simulator, body: unknown = { skip: 0, take: 10 }, headers?: Record<string, string>) =>
  send(`${at.url}/tasks/list`, 'POST', typeof body === 'string' ? body : JSON.stringify(body), headers)
const get = (at: Simulator, id: string, headers?: Record<string, string>) =>
  send(`${at.url}/tasks/${id}`, 'GET', undefined, headers)
const json = (answer: Answer) => JSON.parse(answer.bytes.toString())

describe('the interface document', () => {
  it('lists a window in the envelope', async () => {
    const at = await simulator()
    const answer = await list(at, { skip: 5, take: 3 })
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
    const all = at.account.ids().map((id) => JSON.parse(at.account.get(id)!))
    expect(json(answer)).toEqual({ statusCode: 200, message: 'OK', body: { items: all.slice(5, 8) } })
  })

  it('gets one task in the envelope', async () => {
    const at = await simulator()
    const id = at.account.idAt(4)
    const answer = await get(at, id)
    expect(answer.status).toBe(200)
    expect(json(answer)).toEqual({ statusCode: 200, message: 'OK', body: { item: JSON.parse(at.account.get(id)!) } })
  })

  it('has defaults for skip and take', async () => {
    const at = await simulator({ defaultTake: 7 })
    expect(json(await list(at, '{}')).body.items).toHaveLength(7)
    expect(json(await list(at, '')).body.items).toHaveLength(7)
  })

  it.each([
    ['no JSON', '{skip', 400],
    ['no object', '[]', 400],
    ['a negative skip', '{"skip":-1,"take":1}', 400],
    ['a fraction', '{"skip":0,"take":1.5}', 400],
    ['a text', '{"skip":"0","take":1}', 400],
    ['take 0', '{"skip":0,"take":0}', 400],
    ['a take beyond the limit', '{"skip":0,"take":1001}', 400],
  ])('answers %s with an error in the envelope', async (_title, body, status) => {
    const answer = await list(await simulator(), body)
    expect(answer.status).toBe(status)
    expect(json(answer)).toEqual({ statusCode: status, message: expect.any(String), body: {} })
  })

  it('answers anything else with 404', async () => {
    const at = await simulator({ path: '/api/v1' })
    expect(at.url).toMatch(/\/api\/v1$/)
    expect((await list(at)).status).toBe(200)
    const elsewhere = at.url.replace('/api/v1', '/tasks/list')
    expect((await send(elsewhere, 'POST', '{}')).status).toBe(404)
    expect((await send(`${at.url}/tasks`, 'GET')).status).toBe(404)
    expect((await send(`${at.url}/tasks/a/b`, 'GET')).status).toBe(404)
  })

  it.each([
    ['404', 404, { statusCode: 404 }],
    ['400', 400, { statusCode: 400 }],
    ['204', 204, null],
    ['item-null', 200, { statusCode: 200, body: { item: null } }],
    ['item-absent', 200, { statusCode: 200, body: {} }],
    ['envelope-404', 200, { statusCode: 404 }],
  ] as const)('not found as %s', async (notFound, status, envelope) => {
    const at = await simulator({ notFound })
    const made = await get(at, '00000000-0000-4000-8000-000000000000')
    expect(made.status).toBe(status)
    if (envelope === null) expect(made.bytes).toHaveLength(0)
    else expect(json(made)).toMatchObject(envelope)
    const [removed] = at.account.remove(1)
    expect((await get(at, removed!)).status).toBe(status)
  })
})

describe('the key', () => {
  const key = 'made-up'
  it.each([
    ['header with prefix', {}, '', { authorization: 'Bearer made-up' }],
    ['header without prefix', { keyName: 'X-Api-Key', keyPrefix: '' }, '', { 'x-api-key': 'made-up' }],
    ['query', { keyPlacement: 'query', keyName: 'api_key' }, '?api_key=made-up', {}],
  ] as const)('is found in: %s', async (_title, options, query, headers) => {
    const at = await simulator({ key, ...options })
    const listed = (more: string, sent: Record<string, string>) =>
      send(`${at.url}/tasks/list${more}`, 'POST', '{}', sent)
    expect((await listed(query, headers)).status).toBe(200)
    const refused = await listed('', {})
    expect(refused.status).toBe(401)
    expect(json(refused)).toEqual({ statusCode: 401, message: 'Unauthorized', body: {} })
    const wrong = Object.fromEntries(Object.keys(headers).map((name) => [name, 'Bearer other']))
    expect((await listed(query.replace('made-up', 'other'), wrong)).status).toBe(401)
  })

  it('is wanted for details only where that is so', async () => {
    const at = await simulator({ key, keyOn: 'detail', keyRefusal: '403' })
    expect((await list(at)).status).toBe(200)
    expect((await get(at, at.account.idAt(0))).status).toBe(403)
    expect((await get(at, at.account.idAt(0), { authorization: 'Bearer made-up' })).status).toBe(200)
  })
})

describe('transport', () => {
  it.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
    ['zstd', zstdDecompressSync],
  ] as const)('%s is used only where the client accepts it', async (compression, decompress) => {
    const at = await simulator({ compression })
    const plain = await list(at)
    expect(plain.headers['content-encoding']).toBeUndefined()
    const packed = await list(at, undefined, { 'accept-encoding': `identity, ${compression}` })
    expect(packed.headers['content-encoding']).toBe(compression)
    expect(packed.bytes.length).toBeLessThan(plain.bytes.length)
    expect(decompress(packed.bytes)).toEqual(plain.bytes)
    const refusing = await list(at, undefined, { 'accept-encoding': `${compression};q=0` })
    expect(refusing.headers['content-encoding']).toBeUndefined()
  })

  it('dates its answers by the simulated clock, or not at all', async () => {
    const skewed = await simulator({ clockSkewMs: 3_600_000 })
    expect((await list(skewed)).headers.date).toBe('Fri, 20 Nov 2026 13:00:00 GMT')
    const undated = await simulator({ dateHeader: false })
    expect((await list(undated)).headers.date).toBeUndefined()
  })

  it('waits before it answers', async () => {
    const at = await simulator({ latencyMs: 40 })
    const started = performance.now()
    await list(at)
    // Timers may fire a millisecond early.
    expect(performance.now() - started).toBeGreaterThanOrEqual(38)
  })

  it('closes while a request hangs', async () => {
    const at = await simulator({ faults: [{ hang: true }] })
    const hanging = list(at).then(
      () => 'answered',
      () => 'ended',
    )
    while (at.log.length === 0) await delay(1)
    await at.close()
    expect(await hanging).toBe('ended')
  })

  it('says which port cannot be listened on', async () => {
    const first = await simulator()
    await expect(startSimulator({ port: first.port })).rejects.toMatchObject({
      code: 'usage-invalid',
      message: `Cannot listen on 127.0.0.1:${first.port}: address already in use`,
    })
  })
})

describe('faults', () => {
  const outcome = async (fault: Fault): Promise<string | Answer> => {
    const at = await simulator({ faults: [fault] })
    try {
      return await list(at)
    } catch (error) {
      return (error as { code: string }).code
    }
  }

  it('a status keeps the envelope', async () => {
    const answer = (await outcome({ status: 429, retryAfter: 7 })) as Answer
    expect(answer.status).toBe(429)
    expect(answer.headers['retry-after']).toBe('7')
    expect(json(answer)).toMatchObject({ statusCode: 429, body: {} })
  })

  it('a redirect has its location', async () => {
    expect(await outcome({ status: 302, location: 'http://elsewhere.example/' })).toMatchObject({
      status: 302,
      headers: { location: 'http://elsewhere.example/' },
    })
  })

  it('a page of HTML, an empty body and an envelope at odds with the status', async () => {
    const html = (await outcome({ html: true })) as Answer
    expect([html.status, html.headers['content-type'], html.bytes.toString()]).toEqual([
      200,
      'text/html; charset=utf-8',
      expect.stringContaining('<html>'),
    ])
    const empty = (await outcome({ emptyBody: true })) as Answer
    expect([empty.status, empty.bytes.length]).toEqual([200, 0])
    const envelope = (await outcome({ envelopeStatus: 503 })) as Answer
    expect([envelope.status, json(envelope).statusCode]).toEqual([200, 503])
  })

  it('a reset and a truncated body are errors of the connection', async () => {
    expect(await outcome({ reset: true })).toMatch(/^(ECONNRESET|UND_ERR_SOCKET)$/)
    expect(await outcome({ truncate: true })).toMatch(
      /^(ECONNRESET|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/,
    )
  })

  it('a script says which request is hit, by number or by function', async () => {
    const at = await simulator({ faults: [null, { status: 500 }] })
    const statuses = async () => [(await list(at)).status, (await list(at)).status, (await list(at)).status]
    expect(await statuses()).toEqual([200, 500, 200])
    at.setFaults(({ operation, take }) => (operation === 'list' && take === 10 ? { status: 503 } : null))
    expect(await statuses()).toEqual([503, 503, 503])
    expect((await list(at, { take: 9 })).status).toBe(200)
    at.setFaults(undefined)
    expect(await statuses()).toEqual([200, 200, 200])
  })

  it('a rate hits the same requests for the same seed', async () => {
    const hits = async (seed: number) => {
      const at = await simulator({ seed, faultRate: 0.3, faultKinds: ['500', 'html', 'envelope-500'] })
      for (let i = 0; i < 60; i++) await list(at, { take: 1 })
      return at.log.map(({ fault }) => (fault === null ? '.' : JSON.stringify(fault))).join('')
    }
    const first = await hits(1)
    expect(await hits(1)).toBe(first)
    expect(await hits(2)).not.toBe(first)
    expect(first.match(/\{/g)!.length).toBeGreaterThan(5)
    expect(first.match(/\{/g)!.length).toBeLessThan(35)
  })
})

describe('changes while it runs', () => {
  it('happen before every request, at the wanted place', async () => {
    const at = await simulator({ insertsPerRequest: 2, deletesPerRequest: 1, where: 'front' })
    const before = at.account.ids()
    const first = json(await list(at)).body.items.map(({ id }: { id: string }) => id)
    expect(first.slice(1)).toEqual(before.slice(0, 9))
    expect(before).not.toContain(first[0])
    expect(at.account.listed).toBe(51)
  })

  it('finish and update tasks, fractions adding up', async () => {
    const at = await simulator({ openFraction: 0.5, finishesPerRequest: 0.1, updatesPerRequest: 1 })
    const kinds: string[] = []
    at.account.subscribe(({ kind }) => kinds.push(kind))
    for (let i = 0; i < 20; i++) await list(at, { take: 1 })
    expect(kinds.filter((kind) => kind === 'finish')).toHaveLength(2)
    expect(kinds.filter((kind) => kind === 'update')).toHaveLength(20)
  })

  it('moves go to the front of updated_desc', async () => {
    const at = await simulator({ order: 'updated_desc', movesPerRequest: 1 })
    const before = at.account.ids()
    await list(at)
    expect(at.account.ids()[0]).not.toBe(before[0])
    expect(new Set(at.account.ids())).toEqual(new Set(before))
  })

  it('growth follows the clock, and createdAt says when', async () => {
    let now = NOW
    const at = await simulator({ now: () => now, insertsPerSecond: 2, deletesPerSecond: 0.5 })
    now += 5000
    const { items } = json(await list(at, { take: 2 })).body
    expect(at.account.listed).toBe(50 + 10 - 2)
    for (const { createdAt } of items) expect(createdAt).toBeLessThanOrEqual(now)
    await list(at)
    expect(at.account.listed).toBe(58)
  })

  it('hooks see the request and change the account before the answer', async () => {
    const at = await simulator()
    const seen: unknown[] = []
    const remove = at.onBeforeRequest(async ({ n, operation, skip, take }, account) => {
      await delay(1)
      seen.push([n, operation, skip, take])
      account.remove(account.listed)
    })
    expect(json(await list(at, { skip: 3, take: 4 })).body.items).toEqual([])
    remove()
    await list(at)
    expect(seen).toEqual([[0, 'list', 3, 4]])
  })
})

it('logs what was asked and answered', async () => {
  const at = await simulator({ faults: [null, null, { reset: true }] })
  const id = at.account.idAt(0)
  await list(at, { skip: 1, take: 2 })
  await get(at, id)
  await expect(list(at)).rejects.toThrow()
  expect(at.requests).toBe(3)
  expect(at.log).toMatchObject([
    {
      n: 0,
      method: 'POST',
      operation: 'list',
      skip: 1,
      take: 2,
      id: null,
      status: 200,
      items: 2,
      fault: null,
      at: NOW,
    },
    { n: 1, method: 'GET', operation: 'get', skip: null, take: null, id, status: 200, items: 1 },
    { n: 2, operation: 'list', status: null, fault: { reset: true } },
  ])
})

it('serves an account made before', async () => {
  const account = createAccount({ seed: 9, tasks: 3, now: () => NOW })
  const at = await simulator({ account })
  expect(json(await list(at)).body.items.map(({ id }: { id: string }) => id)).toEqual(account.ids())
})
