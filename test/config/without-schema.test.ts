import { expect, test } from 'vitest'
import { type ConfigSources, loadConfig } from '../../src/config/load.ts'
import { configWithoutSchema } from '../../src/config/without-schema.ts'
import fc from '../support/fc.ts'

const none: ConfigSources = { file: null, env: {}, overrides: [] }
const given = (key: string, value: unknown): ConfigSources => ({ ...none, overrides: [{ key, value, name: '--flag' }] })

test('without the schema the configuration is the same as with it', () => {
  for (const sources of [
    none,
    given('mirror.path', 'some where/m.sqlite'),
    given('service.baseUrl', 'http://127.0.0.1:8080/t100/ms0'),
    given('service.baseUrl', 'https://Tasks.example.com/v1/'),
  ]) {
    expect(configWithoutSchema(sources)).not.toBeNull()
    expect(configWithoutSchema(sources)).toEqual(loadConfig(sources))
  }
})

test('whatever is taken without the schema is taken by it, as it is', () => {
  const address = fc.oneof(
    fc.string(),
    fc.webUrl({ withQueryParameters: true, withFragments: true, validSchemes: ['http', 'https', 'ftp'] }),
    fc.stringMatching(/^https?:\/\/[a-z0-9.:@/?#-]*$/),
  )
  fc.assert(
    fc.property(fc.constantFrom('service.baseUrl', 'mirror.path'), address, (key, value) => {
      const plain = configWithoutSchema(given(key, value))
      if (plain !== null) expect(plain).toEqual(loadConfig(given(key, value)))
    }),
    { numRuns: 300 },
  )
})

test('anything else is left to the schema', () => {
  for (const sources of [
    given('service.baseUrl', 'ftp://tasks.example.com'),
    given('service.baseUrl', 'https://user:pass@tasks.example.com'),
    given('service.baseUrl', 'https://tasks.example.com?a=b'),
    given('mirror.path', ''),
    given('sync.maxDurationMs', 1000),
    { ...none, env: { TASK_MIRROR_SYNC_WINDOW: '100' } },
    { ...none, file: 'task-mirror.json' },
  ]) {
    expect(configWithoutSchema(sources)).toBeNull()
  }
})
