import { expect, test } from 'vitest'
import { AttemptFailure, finalAnswer } from '../../src/service/attempt-failure.ts'

test.each([
  ['connect', true, 'The proxy (service.proxy) cannot be reached: '],
  ['getaddrinfo', true, 'The proxy (service.proxy) cannot be reached: '],
  ['read', true, 'https://a.example cannot be reached by way of service.proxy: '],
  ['connect', false, 'https://a.example cannot be reached: '],
])(
  'where the call that fails is %s, and by a proxy is %j, the message says who is not reached',
  (syscall, proxied, says) => {
    const cause = Object.assign(new Error('no'), { syscall })
    const asked = {
      operation: 'list',
      origin: 'https://a.example',
      path: '/',
      attempts: 1,
      key: 'none',
      proxied,
    } as const
    expect(() =>
      finalAnswer(new AttemptFailure('unreachable', 'no', { cause }), { ...asked, scrub: (text) => text }),
    ).toThrow(says)
  },
)
