// Issue 5: the key is only ever in memory and on its way to the service. Every command runs with a key that can be
// recognised, against services that refuse it, fail, or say it back; then everything that was written is searched for it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/commands/index.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { CLI, HANGS_MS, runHere } from '../support/cli.ts'
import { listening } from '../support/listening.ts'
import { makeScratch, type Scratch } from '../support/scratch.ts'
import { SOAK } from '../support/soak.ts'

const KEY = 'c4nary/K3y+"wi th\\odd=signs&Zz9'

/** The key as it is, as parts of a URL, of JSON or of base64 carry it, and backwards. */
const FORMS: string[] = (() => {
  const bare = [KEY, encodeURIComponent(KEY), encodeURI(KEY), new URLSearchParams({ k: KEY }).toString().slice(2)]
  const forms = [...bare, JSON.stringify(KEY).slice(1, -1), [...KEY].reverse().join('')]
  const bytes = Buffer.from(KEY)
  // In base64 it looks different behind one or two other bytes; what depends on its neighbours is left out.
  for (const shift of [0, 1, 2]) {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    forms.push(
      text.slice(shift === 0 ? 0 : 4, -4),
      text
        .slice(shift === 0 ? 0 : 4, -4)
        .replaceAll('+', '-')
        .replaceAll('/', '_'),
    )
  }
  forms.push(bytes.toString('hex'), KEY.slice(0, 12))
  return [...new Set(forms.flatMap((form) => [form, form.toLowerCase()]))]
})()

function formsIn(text: string): string[] {
  return FORMS.filter((form) => text.includes(form))
}

type Answering = (request: IncomingMessage, response: ServerResponse) => void

/** What the service got of the key, in all the places in which a careless service says things back. */
function sayBack(status: number, kind: 'json' | 'html' | 'redirect' | 'cut' | 'coding'): Answering {
  return (request, response) => {
    const got = `${request.headers['x-secret'] ?? ''} ${decodeURIComponent((request.url ?? '').split('?')[1] ?? '')} ${request.url}`
    const plain = got.replaceAll(/[^\x20-\x7e]/g, '')
    const headers = { 'x-ratelimit-limit': plain, 'retry-after': kind === 'html' ? plain : '0', 'set-cookie': plain }
    // A message that is cut after 200 characters is cut in the middle of the key.
    const padding = kind === 'cut' ? 'x'.repeat(190) : ''
    if (kind === 'redirect') {
      response.writeHead(status, plain, { ...headers, location: `https://elsewhere.example/${request.url}` }).end()
    } else if (kind === 'coding') {
      response.writeHead(status, { 'content-encoding': plain.replaceAll(/[^\w]/g, '-') }).end('{}')
    } else if (kind === 'html') {
      response.writeHead(status, plain, { ...headers, 'content-type': 'text/html' }).end(`<h1>${got}</h1>`)
    } else {
      const body = {
        statusCode: status,
        message: padding + got,
        error: got,
        body: { request: request.rawHeaders, got },
      }
      response.writeHead(status, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
  }
}

const SERVICES: [string, Answering][] = [
  ['a service that refuses the key', sayBack(401, 'json')],
  ['a service that fails', sayBack(500, 'json')],
  ['a service whose message is cut', sayBack(400, 'cut')],
  ['a service that answers success without items', sayBack(200, 'json')],
  ['a service that answers with a page', sayBack(200, 'html')],
  ['a service behind a page', sayBack(503, 'html')],
  ['a service that redirects', sayBack(302, 'redirect')],
  ['a service with an odd coding', sayBack(200, 'coding')],
]

/** A command line for every command that there is. */
const LINES: Record<string, string[][]> = {
  sync: [['sync'], ['sync', '--json'], ['sync', '--full', '--details', 'always'], ['sync', '--dry-run']],
  backfill: [
    ['backfill', '--since', '7d'],
    ['backfill', '--id', 'a', 'b'],
  ],
  export: [
    ['export', '--out', 'tasks.ndjson', '--no-redact'],
    ['export', '--out', 'lake/'],
    ['export', '--out', 't.parquet'],
  ],
  copy: [['copy', '--out', 'copy.sqlite']],
  restore: [['restore', 'copy.sqlite']],
  schedule: [['schedule', '--listen', '127.0.0.1:0', '--export', '* * * * *']],
  get: [['get', 'a', '--refresh']],
  prune: [['prune', '--deleted-before', '1s']],
  status: [['status', '--json']],
  doctor: [['doctor'], ['doctor', '--json']],
  verify: [['verify', '--service'], ['verify'], ['verify', '--snapshot', 'lake']],
  rejected: [['rejected'], ['rejected', '--replay']],
  report: [['report', '--out', 'report.html']],
  'datasette-config': [['datasette-config']],
  probe: [['probe'], ['probe', '--json']],
  'config show': [['config', 'show']],
  simulate: [['simulate', '--tasks', '5']],
  demo: [['demo']],
  completion: [['completion', 'bash']],
}

const STAYS_UP = new Set(['schedule', 'simulate'])

test('every command is among those that are searched', () => {
  const names = COMMANDS.flatMap((entry) =>
    'commands' in entry ? entry.commands.map(({ name }) => `${entry.name} ${name}`) : [entry.name],
  )
  expect(Object.keys(LINES).sort(), 'LINES wants a command line for each').toEqual(names.sort())
})

const PROCESSES = ['sync', 'copy', 'schedule', 'verify']
const KNOWS_NOTHING = ['demo', 'completion', 'simulate']
const TALKING = ['sync', 'backfill', 'get', 'probe', 'verify', 'doctor']

const PLACES = [
  { placement: 'header', name: 'x-secret', prefix: 'Token ' },
  { placement: 'query', name: 'secret' },
]

test.concurrent.for(PLACES)(
  'no command shows or stores the key, sent in a $placement, whatever the service does',
  async (auth) => {
    using scratch = makeScratch()
    const args = new Set<string>()
    let output = ''
    let answering: Answering | null = null
    let received = 0
    const lines = new Set<string>()
    await using simulator = await startSimulator({ tasks: 60, openFraction: 0.1 })
    // The simulator answers through this one, which may answer in its place.
    const server = createServer((request, response) => {
      if (formsIn(`${request.headers['x-secret']} ${request.url}`).length > 0) received += 1
      if (answering !== null) return answering(request, response)
      void forward(simulator.url, request, response)
    })
    await using service = await listening(server)
    const env = {
      TASK_MIRROR_BASE_URL: service.url,
      TASK_MIRROR_LOG_LEVEL: 'debug',
      TASK_MIRROR_API_KEY: KEY,
      TASK_MIRROR_NOTIFY_METRICS_FILE: 'figures.prom',
      TMPDIR: scratch.dir,
    }
    writeFileSync(scratch.path('task-mirror.json'), JSON.stringify({ service: { auth, maxRetries: 1 } }))
    const run = async (line: string[]) => {
      const stays = STAYS_UP.has(line[0]!)
      lines.add(line.join(' '))
      const ended = await watch(line, scratch, env, args, stays)
      output += `\n${line.join(' ')}\n${ended}`
    }
    // What only the service differs in needs no process of its own.
    const runInside = async (line: string[]) => {
      // It stands elsewhere than a process would: the first path of a line is that of a file or a folder it writes or reads.
      const placed = line.map((word) => (/^(tasks|lake|t|copy|report)\b[./]/.test(word) ? scratch.path(word) : word))
      const { stdout, stderr } = await runHere(placed, {
        ...env,
        TASK_MIRROR_NOTIFY_METRICS_FILE: scratch.path('figures.prom'),
        TASK_MIRROR_CONFIG: scratch.path('task-mirror.json'),
        TASK_MIRROR_DB: scratch.path('task-mirror.sqlite'),
      })
      output += `\n${line.join(' ')}\n${stdout}${stderr}`
    }

    // First an ordinary service, so that there is something to leak into; then the others.
    for (const [command, some] of Object.entries(LINES)) {
      // Where the key stands in a request concerns the commands that send one. What a process shows is seen of those that
      // start others, or stay up; the demo and the help of a shell know of no account.
      if (SOAK) for (const line of some) await run(line)
      else if (auth.placement === 'header' && PROCESSES.includes(command)) await run(some[0]!)
      else if (auth.placement === 'header' ? !KNOWS_NOTHING.includes(command) : TALKING.includes(command))
        await runInside(some[0]!)
    }
    expect(received).toBeGreaterThan(10)
    for (const [name, service] of SERVICES) {
      answering = service
      // A probe of a failing service asks for long.
      if (SOAK) for (const line of TALKING.flatMap((command) => LINES[command]!)) await run(line)
      else await runInside(['sync'])
      expect({ name, found: formsIn(output) }).toEqual({ name, found: [] })
    }
    answering = null
    await runInside(['sync', '--now'])
    await runInside(['report', '--out', scratch.path('last.html')])
    await runInside(['export', '--out', scratch.path('last.ndjson'), '--no-redact'])
    for (const command of ['status', 'rejected']) await runInside([command])

    expect({ output: formsIn(output), cmdlines: formsIn([...args].join('\n')) }).toEqual({ output: [], cmdlines: [] })
    expect(args.size).toBeGreaterThanOrEqual(lines.size)
    const files = filesBelow(scratch.dir)
    for (const file of files)
      expect({ file, found: formsIn(readFileSync(file, 'latin1')) }).toEqual({ file, found: [] })
    expect(files.length).toBeGreaterThan(4)
    // The figures are for another program's user; the configuration is this test's.
    const open = files.filter((file) => !/task-mirror\.json$|\.prom$/.test(file) && (statSync(file).mode & 0o177) !== 0)
    expect(open).toEqual([])
  },
)

/** Runs the command line to its end, or to a second of calm and a SIGTERM; looks at the arguments of its processes. */
async function watch(
  line: readonly string[],
  scratch: Scratch,
  env: Record<string, string>,
  args: Set<string>,
  stays: boolean,
): Promise<string> {
  const child = spawn(process.execPath, [CLI, ...line], {
    cwd: scratch.dir,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: scratch.dir,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: HANGS_MS,
    killSignal: 'SIGKILL',
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      note(child, args)
    })
  }
  if (stays) {
    await once(child.stdout, 'data')
    setTimeout(() => child.kill('SIGTERM'), 500)
  }
  await once(child, 'close')
  return text
}

function note({ pid }: ChildProcess, args: Set<string>): void {
  try {
    args.add(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
    const children = `/proc/${pid}/task/${pid}/children`
    for (const child of readFileSync(children, 'utf8').trim().split(' ')) {
      if (child !== '' && existsSync(`/proc/${child}/cmdline`))
        args.add(readFileSync(`/proc/${child}/cmdline`, 'latin1'))
    }
  } catch {
    // It has ended, or this is no Linux.
    args.add(`${pid}`)
  }
}

async function forward(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const answer = await fetch(url + (request.url ?? '').split('?')[0], {
    method: request.method ?? 'GET',
    ...(chunks.length > 0 && { body: Buffer.concat(chunks), headers: { 'content-type': 'application/json' } }),
  })
  const back = `${request.headers['x-secret'] ?? ''} ${request.url}`
  response.writeHead(answer.status, {
    ...{ 'content-type': 'application/json', date: new Date().toUTCString() },
    ...{ 'x-ratelimit-limit': back, 'x-ratelimit-policy': 'x'.repeat(45) + back },
  })
  response.end(Buffer.from(await answer.arrayBuffer()))
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
}
