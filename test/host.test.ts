import { expect, test } from 'vitest'
import { hostOf } from '../src/host.ts'
import fc from './support/fc.ts'

test.each([
  ['https://bob:p@sSECRET@one.example/', 'one.example'],
  ['https://evil.example\\@good.example/', 'evil.example'],
  ['foo://User:pw@HOST:80/x', 'host:80'],
  ['HTTPS://EXAMPLE.com:443/', 'example.com'],
  ['http://example.com:8080/a?b=http://other.example/', 'example.com:8080'],
  ['http://[::1]:8080/', '[::1]:8080'],
  ['http://0x7f.1/', '127.0.0.1'],
  ['https://ex%41mple.com', 'example.com'],
  ['https://münchen.example/', 'xn--mnchen-3ya.example'],
  ['ht\ntps://a.\tb/', 'a.b'],
  ['https:a.example', 'a.example'],
  ['https://a.example?b', 'a.example'],
  ['https://a.example\t.evil/', 'a.example.evil'],
  ['https://:pw@a.example', 'a.example'],
  ['https://a b/', null],
  ['https://a.example:99999/', null],
  ['//a.example/', null],
  ['a.example', null],
  ['mailto:bob@a.example', null],
  ['file:///etc/passwd', null],
  ['javascript:alert(1)', null],
  ['', null],
  [`https://${'a.'.repeat(500_000)}example/`, null],
])('the host of %j', (url, expected) => {
  expect(hostOf(url)).toBe(expected)
  expect(hostOf(url)).toBe(expected)
})

test('a task without a URL has none', () => expect(hostOf(null)).toBeNull())

test('whatever stands around it, it is the host of the WHATWG parser', () => {
  const part = fc.constantFrom(
    ...[
      'http',
      'https',
      ':',
      '/',
      '//',
      '\\',
      '@',
      '?',
      '#',
      '.',
      '-',
      'a',
      'b.example',
      'B',
      ':443',
      ':80',
      ':8080',
      ':x',
    ],
    ...['%41', 'é', ' ', '\t', '\n', '\0', '[::1]', '127.1', '0x7f', 'xn--', 'xn--a', '..', 'user:pw@', '__'],
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 7 }), fc.boolean(), (parts, isWeb) => {
      const url = (isWeb ? 'https://' : '') + parts.join('')
      const host = URL.parse(url)?.host.toLowerCase()
      expect(hostOf(url)).toBe(host === '' || host === undefined ? null : host)
    }),
    { numRuns: 3000 },
  )
})
