// Which hosts NO_PROXY leaves out.
import { expect, test } from 'vitest'
import { proxyFromEnvironment } from '../../src/config/proxy.ts'

test.each<[string, NodeJS.ProcessEnv, boolean]>([
  ['http://a.example.com', { NO_PROXY: 'b.com, example.com' }, false],
  ['http://a.example.com:8080', { NO_PROXY: '*.Example.com:8080' }, false],
  ['http://anexample.com', { NO_PROXY: 'example.com' }, true],
  ['http://a.example.com', { NO_PROXY: '', no_proxy: 'example.com' }, false],
  ['http://a.example.com', { NO_PROXY: 'b.com', no_proxy: 'example.com' }, true],
  ['http://[::1]:8080', { NO_PROXY: '::1' }, false],
  ['http://[::1]:8080', { NO_PROXY: '[::1]' }, false],
  ['http://[::1]:8080', { NO_PROXY: '[::1]:8080' }, false],
  ['http://[fe80::1]', { NO_PROXY: 'fe80::1' }, false],
  ['http://[fe80::1:8080]', { NO_PROXY: 'fe80::1' }, true],
  ['http://127.0.0.1', { NO_PROXY: '127.0.0.1:80' }, false],
  ['http://anywhere', { NO_PROXY: '*' }, false],
])('%s with %j goes by the proxy: %s', (url, env, goes) => {
  expect(proxyFromEnvironment(url, { http_proxy: 'proxy:3128', ...env }).url).toBe(goes ? 'http://proxy:3128' : null)
})
