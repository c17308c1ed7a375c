import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readApiKey } from '../../src/config/api-key.ts'
import { configSchema } from '../../src/config/schema.ts'
import { checkTarget } from '../../src/config/target.ts'
import { CLI } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'

test('the key comes from the variable or from the file, without one newline at its end', () => {
  using scratch = makeScratch()
  writeFileSync(scratch.path('key'), 'from-file\n')
  expect(readApiKey({})).toEqual({ key: null, origin: null, warning: null })
  expect(readApiKey({ TASK_MIRROR_API_KEY: 'direct' })).toMatchObject({ key: 'direct', origin: 'TASK_MIRROR_API_KEY' })
  expect(readApiKey({ TASK_MIRROR_API_KEY: 'direct\r\n' }).key).toBe('direct')
  expect(readApiKey({ TASK_MIRROR_API_KEY_FILE: scratch.path('key') })).toMatchObject({
    key: 'from-file',
    origin: 'TASK_MIRROR_API_KEY_FILE',
  })
})

test.each([
  [{ TASK_MIRROR_API_KEY: 'hunter2', TASK_MIRROR_API_KEY_FILE: '/x' }, 'are both set'],
  [{ TASK_MIRROR_API_KEY: '' }, 'is empty'],
  [{ TASK_MIRROR_API_KEY: 'hunter2\n\n' }, 'position 8'],
  [{ TASK_MIRROR_API_KEY: 'hunter2\r\nx-evil: 1' }, 'position 8'],
  [{ TASK_MIRROR_API_KEY: 'hunter2\u0007' }, 'control character'],
  [{ TASK_MIRROR_API_KEY: 'hunter2é' }, 'beyond ASCII'],
  [{ TASK_MIRROR_API_KEY: ' hunter2' }, 'begins or ends with a space'],
  [{ TASK_MIRROR_API_KEY_FILE: '/nowhere/key' }, '(/nowhere/key) cannot be read: no such file or directory'],
  [{ TASK_MIRROR_API_KEY_FILE: '~/key' }, 'expected the whole path, as "~" is not expanded here'],
])('%j is refused, and the key is not repeated', (env, part) => {
  const attempt = () => readApiKey(env)
  expect(attempt).toThrow(part)
  expect(attempt).not.toThrow('hunter2')
  expect(attempt).toThrow(expect.objectContaining({ code: 'config-invalid', hint: expect.any(String) }))
})

test('a key file that others can read is warned about', () => {
  using scratch = makeScratch()
  const file = scratch.path('key')
  const warningAt = (mode: number) => {
    writeFileSync(file, 'k')
    chmodSync(file, mode)
    return readApiKey({ TASK_MIRROR_API_KEY_FILE: file }).warning
  }
  expect(warningAt(0o644)).toContain(`chmod o-r ${file}`)
  for (const mode of [0o600, 0o640, 0o400]) expect(warningAt(mode)).toBe(null)
})

test('a key file that never ends, or that nothing is written to, is given up', () => {
  using scratch = makeScratch()
  expect(() => readApiKey({ TASK_MIRROR_API_KEY_FILE: '/dev/zero' })).toThrow(/more than 16384 bytes/)
  execFileSync('mkfifo', [scratch.path('pipe')])
  expect(() => readApiKey({ TASK_MIRROR_API_KEY_FILE: scratch.path('pipe') })).toThrow(/is empty/)
})

test('a key may come out of a pipe, also one that lets it wait', async () => {
  using scratch = makeScratch()
  const command = `"${process.execPath}" "${CLI}" config show --json`
  const { stdout } = spawnSync('bash', ['-c', `TASK_MIRROR_API_KEY_FILE=<(sleep 0.3; echo hunter2) ${command}`], {
    cwd: scratch.dir,
    encoding: 'utf8',
    // Not the variables of the shell that runs the tests: a key of its own would stand beside the file.
    env: { PATH: process.env.PATH },
  })
  expect(stdout).toContain('TASK_MIRROR_API_KEY_FILE')
  expect(stdout).not.toContain('hunter2')
})

function check(service: object, key: string | null = 'k') {
  return () => checkTarget(configSchema.parse({ service }), key)
}

test('talking to the service needs a base URL', () => {
  expect(check({})).toThrow('service.baseUrl is not set')
})

test('a header that frames the message carries no key, as a parameter of that name does', () => {
  const service = { baseUrl: 'https://tasks.example.com' }
  expect(check({ ...service, auth: { name: 'Host' } })).toThrow('service.auth.name cannot be "Host"')
  expect(check({ ...service, auth: { name: 'host', placement: 'query' } })).not.toThrow()
  expect(check({ ...service, auth: { name: 'x-api-key' } })).not.toThrow()
})

test.each([
  'http://tasks.example.com',
  'http://10.0.0.1:8080',
  'http://localhost.example.com',
  'http://127.0.0.1.nip.io',
])('nothing is sent over plain http to %s', (baseUrl) => {
  expect(check({ baseUrl })).toThrow('unencrypted')
  expect(check({ baseUrl, allowInsecure: true })).not.toThrow()
  for (const isSilent of [check({ baseUrl }, null), check({ baseUrl, auth: { placement: 'none' } })]) {
    expect(isSilent).toThrow('what is asked and answered would travel unencrypted')
  }
  expect(check({ baseUrl, allowInsecure: true }, null)).not.toThrow()
})

test.each([
  'https://tasks.example.com',
  'http://localhost:8080',
  'http://127.8.9.1',
  'http://[::1]:1',
  'http://a.localhost',
])('the key may be sent to %s', (baseUrl) => {
  expect(check({ baseUrl })).not.toThrow()
})
