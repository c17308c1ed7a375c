// One policy for everything that is sent: to the monitor and to object storage here, to the service in test/service/.
import { readFileSync } from 'node:fs'
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTls } from 'node:https'
import { expect, onTestFinished, test, vi } from 'vitest'
import { configSchema } from '../src/config/schema.ts'
import { exportSnapshot } from '../src/export/export.ts'
import { isLoopback, refusePlainHttp } from '../src/http-policy.ts'
import { checkMonitors, ping } from '../src/notify/healthcheck.ts'
import { makeMirror, ordinaryRows } from './export/mirror.ts'
import { runCli } from './support/cli.ts'
import { listening } from './support/listening.ts'
import { makeScratch } from './support/scratch.ts'

const pem = (name: string) => readFileSync(new URL(`./service/self-signed.${name}.pem`, import.meta.url))

/** A server that counts what it is asked; with a certificate that nobody has signed where it speaks TLS. */
async function startServer(tls: boolean, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: string[] = []
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    asked.push(`${request.method} ${request.url}`)
    answer(request, response)
  }
  const server = tls ? createTls({ cert: pem('cert'), key: pem('key') }, handle) : createPlain(handle)
  const started = await listening(server)
  onTestFinished(() => started[Symbol.asyncDispose]())
  return { asked, url: tls ? started.url.replace('http', 'https') : started.url }
}

const given = { signal: 0, runId: 'r', body: 'lines of the log', timeoutMs: 300_000, tries: 1 } as const

test.each([301, 302, 303, 307, 308])('the monitor answers %s: nothing is posted where that points', async (status) => {
  const elsewhere = await startServer(false, (_, response) => response.end('OK'))
  const monitor = await startServer(false, (_, response) => {
    response.writeHead(status, { location: `${elsewhere.url}/taken` }).end()
  })
  expect(await ping({ ...given, url: monitor.url })).toBe(`it answered ${status}, a redirect, which is not followed`)
  expect([monitor.asked.length, elsewhere.asked]).toEqual([1, []])
})

test.each(['0', '1'])(
  'NODE_TLS_REJECT_UNAUTHORIZED=%s: no monitor with a certificate of its own is told',
  async (value) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', value)
    onTestFinished(() => void vi.unstubAllEnvs())
    const monitor = await startServer(true, (_, response) => response.end('OK'))
    expect(await ping({ ...given, url: monitor.url })).toBe('DEPTH_ZERO_SELF_SIGNED_CERT')
    expect(monitor.asked).toEqual([])
  },
)

test.each(['0', '1'])('NODE_TLS_REJECT_UNAUTHORIZED=%s: no such storage gets a token or a task', async (value) => {
  const storage = await startServer(true, (_, response) => response.writeHead(403).end())
  const env = {
    AWS_ENDPOINT_URL_S3: storage.url,
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
    AWS_REGION: 'us-east-1',
    AWS_MAX_ATTEMPTS: '1',
    NODE_TLS_REJECT_UNAUTHORIZED: value,
  }
  for (const [name, text] of Object.entries(env)) vi.stubEnv(name, text)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { path: dbPath } = makeMirror(...ordinaryRows(3))
  await expect(
    exportSnapshot({ dbPath, out: 's3://lake/t/', redact: [], toolVersion: '0', env }),
  ).rejects.toMatchObject({
    code: 'snapshot-unwritable',
    facts: { system: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
  })
  expect(storage.asked).toEqual([])
})

test('the built command hands NODE_TLS_REJECT_UNAUTHORIZED to nothing it loads', async () => {
  using scratch = makeScratch()
  const storage = await startServer(true, (_, response) => response.writeHead(403).end())
  const sts = await startServer(true, (_, response) => response.writeHead(403).end())
  const { path } = makeMirror(...ordinaryRows(3))
  // Credentials that the library itself fetches over TLS, by a client of its own.
  const env = {
    AWS_ENDPOINT_URL_S3: storage.url,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${sts.url}/creds`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: 'token-of-the-container',
    AWS_REGION: 'us-east-1',
    AWS_MAX_ATTEMPTS: '1',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  }
  const { code, stderr } = await runCli(['export', '--db', path, '--out', 's3://lake/t/'], { cwd: scratch.dir, env })
  expect({ code, asked: [storage.asked, sts.asked] }).toEqual({ code: 7, asked: [[], []] })
  expect(stderr).not.toContain('token-of-the-container')
})

const monitorOf = (healthcheckUrl: string, insecureHosts: string[] = []) =>
  configSchema.parse({ notify: { healthcheckUrl, insecureHosts } }).notify

test('a monitor beyond this machine is told over plain http only where it is named', () => {
  const refused = 'notify.healthcheckUrl: what a run has done would travel unencrypted to hc.internal'
  expect(() => checkMonitors(monitorOf('http://hc.internal:8000/secret'))).toThrow(refused)
  expect(() => checkMonitors(monitorOf('http://hc.internal/secret', ['hc2.internal']))).toThrow(refused)
  expect(() => checkMonitors(monitorOf('http://hc.internal:8000/secret', ['hc.internal']))).not.toThrow()
  expect(() => checkMonitors(monitorOf('https://hc.example.com/secret'))).not.toThrow()
  expect(() => checkMonitors(monitorOf('http://127.0.0.1:8000/secret'))).not.toThrow()
  const { notify } = configSchema.parse({ notify: { exportHealthcheckUrl: 'http://hc.internal/secret' } })
  expect(() => checkMonitors(notify)).toThrow(refused.replace('healthcheckUrl', 'exportHealthcheckUrl'))
})

test('a monitor that must not be told is wrong configuration, before anything is sent; its secret is not said', async () => {
  using scratch = makeScratch()
  const service = await startServer(false, (_, response) => response.end('{}'))
  const env = { TASK_MIRROR_BASE_URL: service.url, TASK_MIRROR_NOTIFY_HEALTHCHECK_URL: 'http://hc.internal/secret' }
  for (const command of ['sync', 'schedule']) {
    const { code, stderr } = await runCli([command], { cwd: scratch.dir, env })
    expect(code).toBe(2)
    expect(stderr).toContain('unencrypted to hc.internal')
    expect(stderr).not.toContain('secret')
  }
  expect(service.asked).toEqual([])
})

test.each([
  ['localhost', true],
  ['LOCALHOST.', true],
  ['a.localhost', true],
  ['127.9.9.9', true],
  ['[::1]', true],
  ['127.0.0.1.example.com', false],
  ['localhost.example.com', false],
  ['0.0.0.0', false],
  ['[::ffff:7f00:1]', false],
  ['10.0.0.1', false],
])('%s is this machine: %s', (hostname, local) => {
  expect(isLoopback(hostname)).toBe(local)
  const plain = { what: 'it', setting: 's', allowance: 'a', isAllowed: false }
  const sent = () => refusePlainHttp({ protocol: 'http:', hostname }, plain)
  if (local) expect(sent).not.toThrow()
  else expect(sent).toThrow(`s: it would travel unencrypted to ${hostname}`)
  expect(() => refusePlainHttp({ protocol: 'https:', hostname }, plain)).not.toThrow()
  expect(() => refusePlainHttp({ protocol: 'http:', hostname }, { ...plain, isAllowed: true })).not.toThrow()
})
