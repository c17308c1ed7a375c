import { expect, test } from 'vitest'
import { isAskable, readAddress } from '../../src/service/address.ts'
import fc from '../support/fc.ts'

test.each([
  ['https://tasks.example.com', 'https://tasks.example.com', '/tasks/list'],
  ['https://tasks.example.com/', 'https://tasks.example.com', '/tasks/list'],
  ['http://tasks.example.com:8080/api/v1//', 'http://tasks.example.com:8080', '/api/v1/tasks/list'],
  ['HTTPS://Tasks.Example.com:443/Api', 'https://tasks.example.com', '/Api/tasks/list'],
])('%s is taken apart', (baseUrl, origin, listPath) => {
  expect(readAddress(baseUrl)).toMatchObject({ origin, listPath })
})

test.each(['', '.', '..', '%2e', '%2E', '.%2e', '%2E%2e', '%252e', '%25252E.', '\ud800', 'a\udc00'])(
  'the id %j cannot be asked for',
  (id) => {
    expect(isAskable(id)).toBe(false)
  },
)

test.each(['...', '.a', '%2ea', '%', '%2', 'a/../b', '/', '?', '#', '\\..\\', ' ', 'é', '🔑', 'list'])(
  'the id %j can be asked for',
  (id) => {
    expect(isAskable(id)).toBe(true)
  },
)

test('an askable id reaches the service as it is, also through a URL parser', () => {
  const { taskPath } = readAddress('http://tasks.example.com/v1')
  const ids = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('.', '%', '2', '5', 'e', 'E', '/', '\\') }),
  )
  fc.assert(
    fc.property(ids, (id) => {
      fc.pre(isAskable(id))
      const path = taskPath(id)
      expect(new URL(`http://tasks.example.com${path}`).pathname).toBe(path)
      expect(decodeURIComponent(path.slice('/v1/tasks/'.length))).toBe(id)
      expect(path).toMatch(/^[\x21-\x7e]+$/)
    }),
  )
})
