import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DEFAULTS } from '../../src/config/defaults.ts'
import { environmentName, KEYS, valueAt } from '../../src/config/keys.ts'
import { type ConfigSources, loadConfig } from '../../src/config/load.ts'
import { configSchema, jsonSchema, schemaOfKey } from '../../src/config/schema.ts'
import { MirrorError } from '../../src/errors.ts'
import { makeScratch } from '../support/scratch.ts'

const none: ConfigSources = { file: null, env: {}, overrides: [] }

function loadFile(content: unknown, more: Partial<ConfigSources> = {}) {
  using scratch = makeScratch()
  const file = scratch.path('c.json')
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  try {
    return loadConfig({ ...none, file, ...more })
  } catch (error) {
    if (error instanceof MirrorError)
      error.message = error.message.replaceAll(`${file}: `, '').replaceAll(file, 'c.json')
    throw error
  }
}

function problemsOf(content: unknown, more: Partial<ConfigSources> = {}): string[] {
  try {
    loadFile(content, more)
  } catch (error) {
    expect(error).toBeInstanceOf(MirrorError)
    expect((error as MirrorError).code).toBe('config-invalid')
    return (error as MirrorError).message.split('\n')
  }
  return []
}

test('an empty configuration is the literal of defaults', () => {
  expect(loadFile({}).config).toEqual(JSON.parse(JSON.stringify(DEFAULTS)))
  expect(configSchema.parse({})).toEqual(JSON.parse(JSON.stringify(DEFAULTS)))
})

test('every key has a description, a default in the published schema and an environment variable of its own', () => {
  const published = jsonSchema()
  for (const key of KEYS) {
    const described = key.split('.').reduce<unknown>((at, name) => valueAt(at, `properties.${name}`), published)
    expect(described, key).toMatchObject({ description: expect.any(String) })
    expect(valueAt(described, 'default'), key).toEqual(valueAt(DEFAULTS, key))
    expect(schemaOfKey(key).safeParse(valueAt(DEFAULTS, key)).success, key).toBe(true)
  }
  expect(new Set(KEYS.map(environmentName)).size).toBe(KEYS.length)
})

test('the text of a flag means what it does in the environment', () => {
  const values = {
    'schedule.sync': 'null',
    'schedule.listen': 'null',
    'schedule.timezone': 'UTC',
    'mirror.path': 'null',
  }
  const entries = Object.entries(values)
  const overrides = entries.map(([key, value]) => ({ key, value, name: `--${key}` }))
  const env = Object.fromEntries(entries.map(([key, value]) => [environmentName(key), value]))
  expect(loadConfig({ ...none, overrides }).config).toEqual(loadConfig({ ...none, env }).config)
  expect(loadConfig({ ...none, overrides }).config).toMatchObject({
    schedule: { sync: null, listen: null, timezone: 'UTC' },
    mirror: { path: 'null' },
  })
})

test('flags win over the environment, the environment over the file, the file over the default', () => {
  const file = { sync: { window: 1, overlap: 2, settleMs: 3 } }
  const env = { TASK_MIRROR_SYNC_WINDOW: '10', TASK_MIRROR_SYNC_OVERLAP: '20' }
  const overrides = [{ key: 'sync.window', value: 100, name: '--window' }]
  const { config, origins } = loadFile(file, { env, overrides })
  expect(config.sync).toMatchObject({ window: 100, overlap: 20, settleMs: 3, massDeleteMinimum: 100 })
  expect(origins['sync.window']).toBe('--window')
  expect(origins['sync.overlap']).toBe('TASK_MIRROR_SYNC_OVERLAP')
  expect(origins['sync.settleMs']).toMatch(/c\.json$/)
  expect(origins['sync.massDeleteMinimum']).toBe('default')
})

test('an environment variable is read as what its key takes', () => {
  const env = {
    TASK_MIRROR_SERVICE_BASE_URL: 'https://tasks.example.com',
    TASK_MIRROR_SERVICE_AUTH_PREFIX: '5',
    TASK_MIRROR_SERVICE_REQUESTS_PER_SECOND: '2.5',
    TASK_MIRROR_SERVICE_ALLOW_INSECURE: 'true',
    TASK_MIRROR_SYNC_FINAL_STATUSES: 'DONE, FAILED',
    TASK_MIRROR_SYNC_MAX_DURATION_MS: 'null',
    TASK_MIRROR_MIRROR_FILE_MODE: '0640',
    TASK_MIRROR_EXPORT_KEEP: '',
  }
  const { config, origins } = loadConfig({ ...none, env })
  expect(config.service).toMatchObject({
    baseUrl: 'https://tasks.example.com',
    requestsPerSecond: 2.5,
    allowInsecure: true,
  })
  expect(config.service.auth.prefix).toBe('5')
  expect(config.sync).toMatchObject({ finalStatuses: ['DONE', 'FAILED'], maxDurationMs: null })
  expect(config.mirror.fileMode).toBe('0640')
  expect(origins['export.keep']).toBe('default')
})

test.each([
  [{ service: { concurrency: '4' } }, 'service.concurrency: expected a whole number from 1 to 64, got "4"'],
  [{ service: { concurrency: 65 } }, 'service.concurrency: expected a whole number from 1 to 64, got 65'],
  [{ service: { maxRetries: 1.5 } }, 'service.maxRetries: expected a whole number from 0 to 100, got 1.5'],
  [
    { sync: { openEveryMs: '90m' } },
    'sync.openEveryMs: expected a whole number of milliseconds from 0 to 2147483647, got "90m"',
  ],
  [{ rejected: { maxBytes: '1G' } }, 'rejected.maxBytes: expected a whole number of bytes of at least 0, got "1G"'],
  [
    { service: { baseUrl: 'ftp://a' } },
    'service.baseUrl: expected a valid URL that begins with http:// or https://, such as https://tasks.example.com, got text (not shown: it may hold a secret)',
  ],
  [
    { service: { baseUrl: 'https://u:secret@a' } },
    'service.baseUrl: expected a URL without user and password, got text (not shown: it may hold a secret)',
  ],
  [
    { service: { baseUrl: 'https://a/?key=secret' } },
    'service.baseUrl: expected a URL without query and fragment, got text (not shown: it may hold a secret)',
  ],
  [
    { service: { auth: { placement: 'body' } } },
    'service.auth.placement: expected "header", "query" or "none", got text (not shown: it may hold a secret)',
  ],
  [
    { service: { auth: { name: 'a b' } } },
    'service.auth.name: expected the name of a header or query parameter, got text (not shown: it may hold a secret)',
  ],
  [{ service: { allowInsecure: 'yes' } }, 'service.allowInsecure: expected true or false, got "yes"'],
  [{ service: { timeoutMs: 1 } }, 'service.timeoutMs: there is no such key'],
  [{ service: { concurency: 1 } }, 'service.concurency: there is no such key; did you mean service.concurrency?'],
  [{ serivce: {} }, 'serivce: there is no such key; did you mean service?'],
  [{ 'service.baseUrl': 'x' }, 'service.baseUrl: sections are written as objects: {"service": {"baseUrl": ...}}'],
  [
    { service: { 'auth.name': 'x' } },
    'service.auth.name: sections are written as objects: {"service": {"auth": {"name": ...}}}',
  ],
  [{ window: 5 }, 'window: there is no such key; did you mean sync.window?'],
  [{ sync: { massDeleteFraction: 2 } }, 'sync.massDeleteFraction: expected a number from 0 to 1, got 2'],
  [{ sync: { finalStatuses: 'DONE' } }, 'sync.finalStatuses: expected a list of texts, got "DONE"'],
  [{ sync: { finalStatuses: ['DONE', 3] } }, 'sync.finalStatuses.1: expected text, got 3'],
  [{ sync: [] }, 'sync: expected an object, got a list'],
  [{ mirror: { fileMode: 384 } }, 'mirror.fileMode: expected an octal file mode as text, such as "0640", got 384'],
  [
    { mirror: { fileMode: '0999' } },
    'mirror.fileMode: expected an octal file mode as text, such as "0640", got "0999"',
  ],
  [
    { mirror: { path: 'm.sqlite\r' } },
    'mirror.path: expected the name of a file, without white space around it or a slash at its end, got "m.sqlite\\r"',
  ],
  [
    { mirror: { path: ':memory:' } },
    'mirror.path: expected the name of a file, without white space around it or a slash at its end, got ":memory:"',
  ],
  [
    { mirror: { path: 'folder/' } },
    'mirror.path: expected the name of a file, without white space around it or a slash at its end, got "folder/"',
  ],
  [{ mirror: { path: '' } }, 'mirror.path: expected text, got an empty text'],
  [{ mirror: { path: 'x\0y' } }, 'mirror.path: expected text without NUL, got "x\\u0000y"'],
  [{ export: { dir: 'x\0y' } }, 'export.dir: expected text without NUL, got "x\\u0000y"'],
  [
    { mirror: { path: '~/m.sqlite' } },
    'mirror.path: expected the whole path, as "~" is not expanded here (a folder really called ~ is ./~), got "~/m.sqlite"',
  ],
  [
    { mirror: { path: '~/' } },
    'mirror.path: expected the whole path, as "~" is not expanded here (a folder really called ~ is ./~), got "~/"',
  ],
  [{ export: { dir: '~' } }, expect.stringContaining('export.dir: expected the whole path, as "~" is not')],
  [
    { schedule: { tokenFile: '~/token' } },
    expect.stringContaining('schedule.tokenFile: expected the whole path, as "~" is not'),
  ],
  [
    { notify: { metricsFile: '~/m.prom' } },
    expect.stringContaining('notify.metricsFile: expected the whole path, as "~" is not'),
  ],
  [
    { schedule: { timezone: 'Mars/Base' } },
    'schedule.timezone: expected a time zone such as "UTC" or "Europe/Berlin", got "Mars/Base"',
  ],
  [
    { schedule: { timezone: `\n\u202e\u001b${'x'.repeat(40)}` } },
    `schedule.timezone: expected a time zone such as "UTC" or "Europe/Berlin", got "\\n\\u202e\\u001b${'x'.repeat(37)}..."`,
  ],
  [{ sync: 'hunter2' }, 'sync: expected an object, got text'],
  [[], 'expected an object, got a list'],
  ['{"a":1,}', expect.stringMatching(/^c\.json is not valid JSON/)],
])('%j is refused with its key, what was expected and the type that was there', (content, message) => {
  expect(problemsOf(content)).toEqual([message])
})

test('all problems are named at once', () => {
  expect(problemsOf({ sync: { window: 0 }, mirror: { pth: 'x' } })).toHaveLength(2)
})

test.each([{ apiKey: 'hunter2' }, { service: { api_key: 'hunter2' } }, { service: { auth: { key: 'hunter2' } } }])(
  'a key in the file (%j) is refused with the right way, and not repeated',
  (content) => {
    const [problem] = problemsOf(content)
    expect(problem).toContain('TASK_MIRROR_API_KEY')
    expect(problem).not.toContain('hunter2')
  },
)

test('broken JSON is not quoted: it may hold a secret', () => {
  expect(problemsOf('{"apiKey": hunter2}').join()).not.toContain('hunter2')
})

test('white space around a URL, as a file or a secret may end with, is no part of it', () => {
  const { config } = loadConfig({ ...none, env: { TASK_MIRROR_SERVICE_BASE_URL: ' https://tasks.example/v1\n' } })
  expect(config.service.baseUrl).toBe('https://tasks.example/v1')
})

test('wrong values of the environment and of flags are named by what the user wrote', () => {
  const env = { TASK_MIRROR_SYNC_WINDOW: 'many' }
  const overrides = [{ key: 'service.baseUrl', value: 'nope', name: '--base-url' }]
  expect(problemsOf({}, { env, overrides })).toEqual([
    'TASK_MIRROR_SYNC_WINDOW: expected a whole number from 1 to 1000, got "many"',
    '--base-url: expected a valid URL that begins with http:// or https://, such as https://tasks.example.com, got text (not shown: it may hold a secret)',
  ])
})

test('of flags alone it is wrong usage', () => {
  const overrides = [{ key: 'service.baseUrl', value: 'nope', name: '--base-url' }]
  expect(() => loadConfig({ ...none, overrides })).toThrow(expect.objectContaining({ code: 'usage-invalid' }))
})

test('a missing file that was named is an error', () => {
  expect(() => loadConfig({ ...none, file: '/nowhere/c.json' })).toThrow(
    '/nowhere/c.json cannot be read: no such file or directory',
  )
})

test('a byte order mark and $schema are taken', () => {
  expect(loadFile(`\uFEFF{"$schema": "x", "sync": {"window": 7}}`).config.sync.window).toBe(7)
})

test('the proxy variables are read only where service.proxy says so, and NO_PROXY is obeyed', () => {
  const env = { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'internal.example.com' }
  const proxyOf = (service: object) => loadFile({ service }, { env }).config.service.proxy
  const baseUrl = 'https://tasks.example.com'
  expect(proxyOf({ baseUrl })).toBe(null)
  expect(proxyOf({ baseUrl, proxy: 'environment' })).toBe('http://proxy:3128')
  expect(proxyOf({ baseUrl: 'https://a.internal.example.com', proxy: 'environment' })).toBe(null)
  expect(proxyOf({ baseUrl, proxy: 'http://other:1' })).toBe('http://other:1')
})

test.each([
  ['TASK_MIRROR_SCHEDULE_HOSTS', 'tasks.example.com,Tasks', 'expected a host name in small letters, without port'],
  ['TASK_MIRROR_SYNC_FINAL_STATUSES', 'DONE,', 'expected text, got an empty text'],
])('a list in %s is told which part of it is wrong', (name, text, says) => {
  expect(() => loadConfig({ file: null, env: { [name]: text }, overrides: [] })).toThrow(`${name}: ${says}`)
})
