import { expect, test } from 'vitest'
import { type Auth, fingerprint, keySent, withoutKey } from '../../src/service/key.ts'
import fc from '../support/fc.ts'

test.each<[Partial<Auth>, string, string]>([
  [{}, 'abc', 'sent'],
  [{}, 'bearer abc', 'prefixed-twice'],
  [{ prefix: '' }, 'Bearer abc', 'sent'],
  [{ placement: 'query' }, 'Bearer abc', 'sent'],
  [{ placement: 'none' }, 'abc', 'kept'],
  [{ on: 'detail' }, 'abc', 'kept'],
])('with %j a list request with the key %j: %s', (auth, key, says) => {
  expect(
    keySent('list', { placement: 'header', name: 'authorization', prefix: 'Bearer ', on: 'all', ...auth }, key),
  ).toBe(says)
})

test('a fingerprint tells keys and salts apart and shows neither', () => {
  expect(fingerprint('key', 'salt')).toBe(fingerprint('key', 'salt'))
  expect(fingerprint('key', 'salt')).toMatch(/^[0-9a-f]{16}$/)
  const others = [fingerprint('kez', 'salt'), fingerprint('key', 'salz'), fingerprint('tkey', 'sal')]
  expect(new Set([fingerprint('key', 'salt'), ...others]).size).toBe(4)
})

test.each([
  ['KEY-1234 in small letters', 'key-1234'],
  ['a text cut in the middle of KEY-12', 'KEY-12'],
  ['an address with k%2F%2b9 in it', 'k%2F'],
])('no text shows a part of the key: %s', (text, part) => {
  expect(withoutKey(text.replace('KEY-1234', 'key-1234'), part.startsWith('k%') ? 'k/+9' : 'KEY-1234')).not.toContain(
    part,
  )
})

test('no text shows the key, as it is or encoded', () => {
  const keys = fc.string({ minLength: 6, unit: 'binary-ascii' })
  fc.assert(
    fc.property(keys, fc.string(), fc.string(), (key, before, after) => {
      fc.pre(!'[key]'.includes(key))
      expect(withoutKey(before + key, key).endsWith(key)).toBe(false)
      expect(withoutKey(`${before}${encodeURIComponent(key)}${after}`, key)).not.toContain(encodeURIComponent(key))
    }),
  )
})
