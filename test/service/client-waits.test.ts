// Waiting and stopping: Retry-After, back-off and concurrency over a real server, abort and close with work under way.
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { MirrorError } from '../../src/errors.ts'
import type { ClientOptions } from '../../src/service/client.ts'
import { decodePage, makeClient, type Page, page, skippingClock, stoppedClock } from '../support/client.ts'
import { listening } from '../support/listening.ts'
import { type Behaviour, rawServer, says, saysJson, silent } from '../support/raw-server.ts'

const WINDOW = { skip: 0, take: 10 }
const good = saysJson(200, page())
const realSleep = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal })

test('Retry-After is waited out before the retry', async () => {
  await using server = await rawServer([saysJson(429, {}, { 'retry-after': '7' }), saysJson(500, {}), good])
  const clock = skippingClock()
  const waits: unknown[] = []
  await using client = makeClient(server.url, {
    ...clock,
    onWait: (_until, why, trouble) => waits.push([why, trouble]),
  })
  expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'ok' })
  // The back-off of 250 ms passes within the seven seconds, and is not told: they would seem to be over with it.
  expect(clock.slept).toEqual([250, 6_750, 500])
  expect(client.traffic().waitedMs).toBe(7_500)
  expect(waits).toEqual([
    ['retry-after', null],
    ['back-off', 'HTTP 500'],
  ])
})

test('a Retry-After date is measured by the clock of the service, not by ours', async () => {
  const headers = { date: 'Sun, 06 Nov 1994 08:49:37 GMT', 'retry-after': 'Sun, 06 Nov 1994 08:49:47 GMT' }
  await using server = await rawServer([saysJson(503, {}, headers), good])
  const clock = skippingClock()
  await using client = makeClient(server.url, { ...clock })
  await client.list(WINDOW, decodePage)
  expect(clock.slept).toEqual([250, 9_750])
})

test.each<[string, Behaviour]>([
  ['90,000 seconds', saysJson(429, {}, { 'retry-after': '90000' })],
  ['90,000 seconds in an envelope of HTTP 200', saysJson(200, page([], 429), { 'retry-after': '90000' })],
  ['90,000 seconds with a 403, as of a quota', saysJson(403, {}, { 'retry-after': '90000' })],
  ['90,000 seconds with a 503 of HTML', says(503, '<html>', { 'retry-after': '90000' })],
  [
    'a date of the next day',
    saysJson(503, {}, { 'retry-after': 'Mon, 07 Nov 1994 09:49:37 GMT', date: 'Sun, 06 Nov 1994 08:49:37 GMT' }),
  ],
])('a Retry-After of %s ends the run and tells until when', async (_title, behaviour) => {
  await using server = await rawServer([behaviour])
  const clock = skippingClock()
  await using client = makeClient(server.url, { ...clock })
  await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({
    code: 'wait-too-long',
    facts: { notBefore: clock.now() + 90_000_000, retryAfterMs: 90_000_000 },
  })
  await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({ code: 'wait-too-long' })
  expect(server.requests).toHaveLength(1)
})

test('everyone who waits hears at once that the wait is too long', async () => {
  const open: (() => void)[] = []
  const later: Behaviour = (socket, request) =>
    void open.push(() => saysJson(429, {}, { 'retry-after': '90000' })(socket, request))
  await using server = await rawServer([saysJson(500, {}), later])
  // The first request backs off for a long while, the third has no slot; the second brings the bad news.
  const options: Partial<ClientOptions> = { concurrency: 1, sleep: realSleep, now: Date.now, random: () => 1e6 }
  await using client = makeClient(server.url, options)
  const asked = [0, 1, 2].map((skip) => client.list({ skip, take: 10 }, decodePage))
  const outcomes = Promise.allSettled(asked)
  await server.asked(2)
  open[0]!()
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { code: 'wait-too-long' } })
  expect(server.requests).toHaveLength(2)
})

test.each(['soon', '-5', '0', '', 'Sun, 06 Nov 1994 08:49:37 GMT'])(
  'a Retry-After of %j delays nobody',
  async (value) => {
    await using server = await rawServer([saysJson(429, {}, { 'retry-after': value }), good])
    const clock = skippingClock()
    await using client = makeClient(server.url, { ...clock, random: () => 0 })
    expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind: 'ok' })
    expect(clock.slept).toEqual([])
  },
)

test('back-off is drawn anew, and twice as long, for every retry', async () => {
  await using server = await rawServer([saysJson(500, {})])
  const clock = skippingClock()
  await using client = makeClient(server.url, { ...clock, maxRetries: 8, random: () => 1 })
  await client.list(WINDOW, decodePage)
  expect(clock.slept).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
})

test.each<[string, Behaviour, string, number]>([
  ['a limit by the minute that does not say so is waited out', saysJson(429, {}), 'ok', 9],
  ['one that tells a shorter wait is not', saysJson(429, {}, { 'retry-after': '1' }), 'failed', 7],
  ['nor is a failure that lasts as long', saysJson(500, {}), 'failed', 7],
])('%s', async (_, refusal, kind, requests) => {
  const clock = skippingClock()
  const end = clock.now() + 57_000
  const behaviour: Behaviour = (socket, request) => (clock.now() < end ? refusal : good)(socket, request)
  await using server = await rawServer([behaviour])
  await using client = makeClient(server.url, { ...clock, maxRetries: 6 })
  expect(await client.list(WINDOW, decodePage)).toMatchObject({ kind })
  expect(server.requests).toHaveLength(requests)
})

test('who wants few retries waits for no limit', async () => {
  await using server = await rawServer([saysJson(429, {})])
  await using client = makeClient(server.url, { maxRetries: 6 })
  expect(await client.list(WINDOW, decodePage, { maxRetries: 1 })).toMatchObject({ kind: 'failed' })
  expect(server.requests).toHaveLength(2)
})

/** Turns of the event loop in which a request that is on its way comes in. */
const TURNS = 50

/** Answers one after another, each when no more come, and notes how many requests were under way when each came in. */
function counting() {
  const underWay: (() => void)[] = []
  const levels: number[] = []
  let turns = 0
  const look = () => {
    turns += 1
    if (turns > TURNS) {
      underWay.shift()?.()
      turns = 0
    }
    if (underWay.length > 0) setImmediate(look)
  }
  const slow: Behaviour = (socket, request) => {
    if (underWay.length === 0) setImmediate(look)
    underWay.push(() => good(socket, request))
    levels.push(underWay.length)
    turns = 0
  }
  return { slow, levels }
}

test('never more requests are under way than configured', async () => {
  const { slow, levels } = counting()
  await using server = await rawServer([slow])
  await using client = makeClient(server.url, { concurrency: 3 })
  await Promise.all(Array.from({ length: 20 }, () => client.list(WINDOW, decodePage)))
  expect(Math.max(...levels)).toBe(3)
})

test('a strained service gets half as many requests, and more again while it answers well', async () => {
  const { slow, levels } = counting()
  await using server = await rawServer([saysJson(429, {}), slow])
  await using client = makeClient(server.url, { concurrency: 4 })
  await Promise.all(Array.from({ length: 40 }, (_, n) => (n === 0 ? client.list(WINDOW, decodePage) : late(client))))
  expect(Math.max(...levels.slice(0, 3))).toBe(2)
  expect(Math.max(...levels)).toBe(4)

  async function late(service: typeof client) {
    await server.asked(2)
    return service.list(WINDOW, decodePage)
  }
})

test('the next request is on its way while an answer is decoded', async () => {
  await using server = await rawServer([good])
  await using client = makeClient(server.url, { concurrency: 1 })
  const first = client.list(WINDOW, async (raw) => {
    await server.asked(2)
    return decodePage(raw)
  })
  await client.list(WINDOW, decodePage)
  expect(await first).toMatchObject({ kind: 'ok' })
})

test('events of the log are scalars', async () => {
  await using server = await rawServer([saysJson(503, { message: 'no' })])
  const events: unknown[] = []
  await using client = makeClient(server.url, { maxRetries: 1, log: (event, facts) => events.push([event, facts]) })
  await client.list(WINDOW, decodePage)
  const common = {
    happening: 'overloaded',
    httpStatus: 503,
    statusCode: null,
    errorCode: undefined,
    locationHost: null,
  }
  expect(events).toEqual([
    ['retry', { ...common, operation: 'list', attempt: 1, delayMs: 250 }],
    ['no-answer', { ...common, operation: 'list', attempts: 2 }],
  ])
})

test.each<[string, Behaviour, Partial<ClientOptions>]>([
  ['a head', silent, {}],
  ['the rest of a body', says(200, '{', { 'content-length': '100' }), {}],
  ['the rest of an error', says(500, '{', { 'content-length': '100' }), {}],
  ['a back-off', saysJson(500, {}), { random: () => 1e6 }],
  ['a Retry-After', saysJson(429, {}, { 'retry-after': '50' }), {}],
])('an abort rejects at once what waits for %s', async (_title, behaviour, given) => {
  await using server = await rawServer([behaviour])
  const run = new AbortController()
  const options = { ...stoppedClock(), signal: run.signal, concurrency: 2, ...given }
  await using client = makeClient(server.url, options)
  const outcomes = Promise.allSettled([0, 1, 2, 3].map((skip) => client.list({ skip, take: 10 }, decodePage)))
  await server.asked(2)
  run.abort()
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { code: 'interrupted' } })
  await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({ code: 'interrupted' })
})

test.each<[string, Behaviour, Partial<ClientOptions>]>([
  ['for an answer', silent, {}],
  ['for a back-off', saysJson(500, {}), { random: () => 1e6 }],
  ['for a Retry-After', saysJson(429, {}, { 'retry-after': '1' }), {}],
])(
  'what nobody wants any more ends at once where it waits %s, and the client goes on',
  async (_title, behaviour, given) => {
    await using server = await rawServer([behaviour, behaviour, good])
    const unwanted = new AbortController()
    const { signal } = unwanted
    const clock = stoppedClock()
    await using client = makeClient(server.url, { ...clock, concurrency: 2, ...given })
    // Two have been sent, and two wait for a slot.
    const outcomes = Promise.allSettled(
      [0, 1, 2, 3].map((skip) => client.list({ skip, take: 10 }, decodePage, { signal })),
    )
    await server.asked(2)
    unwanted.abort(new MirrorError('interrupted', 'Not wanted'))
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { message: 'Not wanted' } })
    await expect(client.list(WINDOW, decodePage, { signal })).rejects.toMatchObject({ message: 'Not wanted' })
    clock.pass(60_000)
    expect(await client.list({ skip: 99, take: 10 }, decodePage)).toMatchObject({ kind: 'ok' })
    expect(server.requests).toHaveLength(3)
  },
)

test('an answer that nobody wants any more is decoded to its end', async () => {
  await using server = await rawServer([good])
  const unwanted = new AbortController()
  await using client = makeClient(server.url)
  const answer = client.list(
    WINDOW,
    async (raw) => {
      unwanted.abort()
      return decodePage(raw)
    },
    { signal: unwanted.signal },
  )
  expect(await answer).toMatchObject({ kind: 'ok' })
})

test('an abort rejects at once what waits for its decoder', async () => {
  await using server = await rawServer([good])
  const run = new AbortController()
  await using client = makeClient(server.url, { signal: run.signal })
  const answer = client.list(WINDOW, () => {
    queueMicrotask(() => run.abort())
    return new Promise<Page>(() => {})
  })
  await expect(answer).rejects.toMatchObject({ code: 'interrupted' })
})

test('a client made after the run was stopped sends nothing', async () => {
  await using server = await rawServer([good])
  await using client = makeClient(server.url, { signal: AbortSignal.abort() })
  await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({ code: 'interrupted' })
  expect(server.connections()).toBe(0)
})

test('close rejects what is under way and leaves no connection open', async () => {
  await using server = await rawServer([good, silent])
  const client = makeClient(server.url)
  await client.list(WINDOW, decodePage)
  const rejected = expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({ code: 'interrupted' })
  await server.asked(2)
  await client.close()
  await rejected
  await server.idle()
  await client.close()
  await expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({ code: 'interrupted' })
})

test('close ends connections that are still being made', async () => {
  // A TLS handshake that is never answered is a connection that never comes about.
  const server = createServer()
  await using listens = await listening(server)
  const client = makeClient(`https://127.0.0.1:${listens.port}`)
  const rejected = expect(client.list(WINDOW, decodePage)).rejects.toMatchObject({ code: 'interrupted' })
  const [socket] = (await once(server, 'connection')) as [Socket]
  socket.on('error', () => {})
  const closed = once(socket.resume(), 'close')
  await client.close()
  await rejected
  await closed
})
