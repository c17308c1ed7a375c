// Issue 5: nginx in front of the service, as many stand: it limits the rate, compresses, closes kept connections and
// answers for a service that hangs with pages of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { makeStage } from '../acceptance/stage.ts'
import { freePort } from '../support/listening.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'
import { expectExactLines } from './crash.ts'

const missing = spawnSync('nginx', ['-v']).error === undefined ? null : 'nginx is not installed'

interface Proxy extends AsyncDisposable {
  url: string
  /** One line per request: HTTP status, connection, requests on it, coding. */
  lines(): string[]
}

/** Starts nginx in front of `target`; `rules` go into its one location. */
async function startNginx(target: string, rules: string, outside = ''): Promise<Proxy> {
  const scratch: Scratch = makeScratch()
  const port = await freePort()
  writeFileSync(
    scratch.path('nginx.conf'),
    `daemon off; master_process off; pid ${scratch.path('pid')}; error_log ${scratch.path('error.log')};
     events { worker_connections 64; }
     http {
       log_format own '$status $connection $connection_requests $sent_http_content_encoding';
       access_log ${scratch.path('access.log')} own;
       client_body_temp_path ${scratch.path('body')}; proxy_temp_path ${scratch.path('proxy')};
       fastcgi_temp_path ${scratch.path('f')}; uwsgi_temp_path ${scratch.path('u')}; scgi_temp_path ${scratch.path('s')};
       ${outside}
       server { listen 127.0.0.1:${port}; location / { proxy_pass ${target}; ${rules} } }
     }`,
  )
  const child: ChildProcess = spawn('nginx', ['-c', scratch.path('nginx.conf'), '-p', scratch.dir], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  while (child.exitCode === null) {
    if (
      await fetch(`${url}/ready`).then(
        () => true,
        () => false,
      )
    )
      break
    await sleep(25)
  }
  return {
    url,
    lines: () => readFileSync(scratch.path('access.log'), 'utf8').trim().split('\n').slice(1),
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      await ended
      scratch[Symbol.dispose]()
    },
  }
}

describe.skipIf(missing !== null)(`behind nginx (${missing ?? 'a real one'})`, () => {
  test.concurrent.for<[string, string, string, RegExp]>([
    [
      'a rate limit of 429',
      'limit_req zone=z; limit_req_status 429;',
      'limit_req_zone $binary_remote_addr zone=z:1m rate=4r/s;',
      /^429 /m,
    ],
    ['a rate limit of 503', 'limit_req zone=z;', 'limit_req_zone $binary_remote_addr zone=z:1m rate=4r/s;', /^503 /m],
    ['connections kept for two requests', 'keepalive_requests 2;', '', /^200 \d+ 2 /m],
    ['connections kept for no time', 'keepalive_timeout 0;', '', /^200 \d+ 1 /m],
    [
      'gzip of its own',
      'proxy_set_header accept-encoding ""; gzip on; gzip_types *; gzip_proxied any;',
      '',
      /^200 .* gzip$/m,
    ],
    ['unbuffered answers', 'proxy_buffering off; proxy_http_version 1.1;', '', /^200 /m],
  ])('%s costs time and no task', async ([, rules, outside, seen]) => {
    await using stage = await makeStage({ tasks: 3000, openFraction: 0 })
    await using proxy = await startNginx(stage.simulator.url, rules, outside)
    const env = {
      TASK_MIRROR_BASE_URL: proxy.url,
      TASK_MIRROR_SYNC_WINDOW: '500',
      TASK_MIRROR_SERVICE_MAX_RETRIES: '20',
    }
    const first = await stage.runJson(['sync'], env)
    expect(first.summary, first.stderr).toMatchObject({ outcome: 'ok', verdict: 'complete', inserted: 3000 })
    expect(proxy.lines().join('\n')).toMatch(seen)
    const exported = await stage.runHere(['export', '--out', '-', '--no-redact', '--quiet'])
    expectExactLines(stage, exported.stdout)
  })

  test.concurrent('a service that hangs behind it is a 504 with a page: retried, then exit 4 with progress kept', async () => {
    let hangs = false
    const faults = ({ n }: { n: number }) => (n >= 3 && hangs ? { hang: true } : null)
    await using stage = await makeStage({ tasks: 1500, openFraction: 0, faults })
    await using proxy = await startNginx(stage.simulator.url, 'proxy_read_timeout 2s;')
    const env = {
      TASK_MIRROR_BASE_URL: proxy.url,
      TASK_MIRROR_SYNC_WINDOW: '200',
      TASK_MIRROR_SERVICE_MAX_RETRIES: '1',
      TASK_MIRROR_SERVICE_CONCURRENCY: '1',
    }
    hangs = true
    const failed = await stage.runJson(['sync'], env)
    expect({ code: failed.code, outcome: failed.summary.outcome }).toEqual({ code: 4, outcome: 'failed' })
    expect(failed.summary.seen).toBeGreaterThan(300)
    expect(proxy.lines().join('\n')).toMatch(/^504 /m)
    hangs = false
    const next = await stage.runJson(['sync'], { ...env, TASK_MIRROR_SERVICE_MAX_RETRIES: '6' })
    expect(next.summary).toMatchObject({ outcome: 'ok', verdict: 'complete', inserted: 1500 - failed.summary.inserted })
  })

  test.concurrent('no service behind it is a 502 with a page: exit 4, nothing is made of the page', async () => {
    await using stage = await makeStage({ tasks: 10 })
    await using proxy = await startNginx(`http://127.0.0.1:${await freePort()}`, '')
    const env = { TASK_MIRROR_BASE_URL: proxy.url, TASK_MIRROR_SERVICE_MAX_RETRIES: '1' }
    const { code, stderr } = await stage.run(['sync'], env)
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('502') })
    expect(stderr).not.toContain('<html>')
    expect(stage.value('SELECT count(*) FROM tasks')).toBe(0)
  })
})
