// How old answers show themselves to be, header by header.
import { describe, expect, test } from 'vitest'
import { admittedAgeMs, type Came, dateWatch } from '../../src/service/freshness.ts'
import { makeClient } from '../support/client.ts'
import { rawServer, saysJson } from '../support/raw-server.ts'

const NOW = 1_000_000_000
const DATE = NOW - 90_000

describe('an answer admits to an age', () => {
  test.each<[Record<string, string | string[]>, number]>([
    [{}, 0],
    [{ age: '0' }, 0],
    [{ age: '30' }, 30_000],
    [{ age: ' 30 ' }, 30_000],
    [{ age: '30, 5' }, 30_000],
    [{ age: ['30', '5'] }, 30_000],
    [{ age: '-3' }, 0],
    [{ age: '1e9' }, 0],
    [{ age: 'soon' }, 0],
    [{ age: '99999999999999999999' }, 2 ** 31 * 1000],
    [{ 'x-cache': 'MISS' }, 0],
    [{ 'x-cache': 'HIT' }, 90_000],
    [{ 'x-cache': 'HIT, MISS', age: '12' }, 12_000],
    [{ 'x-cache': 'Hit from cloudfront' }, 90_000],
    [{ 'x-cache': 'RefreshHit from cloudfront' }, 0],
    [{ 'x-cache': 'TCP_MEM_HIT from proxy' }, 90_000],
    [{ 'x-cache': 'TCP_REFRESH_HIT' }, 0],
    [{ 'x-cache-status': 'STALE' }, 90_000],
    [{ 'cf-cache-status': 'DYNAMIC' }, 0],
    [{ 'cf-cache-status': 'HIT' }, 90_000],
    [{ 'cache-status': 'ExampleCache; hit; ttl=10' }, 90_000],
    [{ 'cache-status': 'ExampleCache; fwd=miss; stored' }, 0],
    // A proxy that keeps nothing.
    [{ via: '1.1 example' }, 0],
    [{ 'x-whitelist': 'hit' }, 0],
  ])('%j: %i ms', (headers, expected) => {
    expect(admittedAgeMs(headers, DATE, NOW)).toBe(expected)
  })

  test('a second at least where it came from a cache and nothing says when', () => {
    expect(admittedAgeMs({ 'x-cache': 'HIT' }, null, NOW)).toBe(1000)
    expect(admittedAgeMs({ 'x-cache': 'HIT' }, NOW + 60_000, NOW)).toBe(1000)
  })
})

describe('a Date that stands still', () => {
  const came = (more: Partial<Came>): Came => ({
    question: 'list 0',
    serviceDate: DATE,
    bytes: 10,
    startedAt: NOW,
    receivedAt: NOW + 5,
    ...more,
  })
  const later = { startedAt: NOW + 60_000, receivedAt: NOW + 60_005 }

  test.each<[string, Partial<Came>, number]>([
    ['the same question a minute later', later, 59_995],
    ['with a Date that went on', { ...later, serviceDate: DATE + 60_000 }, 0],
    ['with another body', { ...later, bytes: 11 }, 0],
    ['another question', { ...later, question: 'list 10' }, 0],
    ['without a Date', { ...later, serviceDate: null }, 0],
    ['within the same second or two', { startedAt: NOW + 2000, receivedAt: NOW + 2005 }, 0],
  ])('%s', (_, more, expected) => {
    const ageOf = dateWatch()
    expect(ageOf(came({}))).toBe(0)
    expect(ageOf(came(more))).toBe(expected)
  })

  test('counts from the first answer, and is forgotten with the thousandth other question', () => {
    const ageOf = dateWatch()
    ageOf(came({}))
    ageOf(came(later))
    expect(ageOf(came({ startedAt: NOW + 120_000, receivedAt: NOW + 120_005 }))).toBe(119_995)
    for (let n = 0; n < 1000; n += 1) ageOf(came({ question: `list ${n + 1}` }))
    expect(ageOf(came(later))).toBe(0)
  })
})

test('no cache is to answer, and what one answers all the same speaks of an earlier moment', async () => {
  const aged = { age: '30' }
  await using server = await rawServer([
    saysJson(200, { statusCode: 200, body: { items: [] } }, aged),
    saysJson(404, { statusCode: 404, message: 'Not found' }, aged),
    saysJson(200, { statusCode: 200, body: { items: [] } }),
  ])
  await using client = makeClient(server.url, { now: () => NOW })
  const decode = async () => ({ statusCode: 200, message: null, hasPayload: true })
  const window = { skip: 0, take: 10 }
  expect(await client.list(window, decode)).toMatchObject({ kind: 'ok', ageMs: 30_000, startedAt: NOW - 30_000 })
  expect(await client.get('a', decode)).toMatchObject({ kind: 'refused', ageMs: 30_000 })
  const fresh = await client.list(window, decode)
  expect(fresh).toMatchObject({ kind: 'ok', startedAt: NOW })
  expect(fresh).not.toHaveProperty('ageMs')
  expect(client.traffic().oldestMs).toBe(30_000)
  for (const { headers } of server.requests) expect(headers).toMatchObject({ 'cache-control': 'no-cache' })
})
