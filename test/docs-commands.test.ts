// Every command line of the program in the documents, in the files for deployment and in --help is run: against a service
// on this machine, with a prepared mirror, in the order of the page. What is not run stands in NOT_RUN with the reason.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { COMMANDS } from '../src/commands/index.ts'
import { type Simulator, startSimulator } from '../src/simulator/server.ts'
import { type Storage, startStorage } from './export/s3/storage.ts'
import { CLI, HANGS_MS, runHere } from './support/cli.ts'
import { makeScratch } from './support/scratch.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')

/** By what a line begins with. */
const NOT_RUN: Record<string, string> = {
  npm: 'the gate (.ci/run) does it, and what follows, in a clean clone',
  docker: 'npm run test:container builds the image and runs it',
  kubectl: 'needs a cluster; test/deploy.test.ts holds the files against the schemas',
  sudo: 'test/container/deb.sh installs the Debian package and uses it',
  journalctl: 'needs systemd as PID 1',
  systemctl: 'needs systemd as PID 1; test/deploy.test.ts has systemd read the units',
  'task-mirror demo': 'test/commands/demo.test.ts runs it',
  datasette: 'another program; test/export/datasette.test.ts runs its queries',
  'spark-submit': 'another program; npm run test:engines runs merge.py by it',
}

/** Commands that run until a signal ends them. */
const STAYS_UP = new Set(['schedule', 'simulate'])

const KEY = 'a-made-up-key'
const scratch = makeScratch()
const home = process.cwd()
let simulator: Simulator
let storage: Storage
let stopStorage: () => Promise<void>
let env: Record<string, string>

beforeAll(async () => {
  simulator = await startSimulator({ tasks: 150, key: KEY, spanDays: 30, openFraction: 0.02 })
  storage = await startStorage((stop) => {
    stopStorage = stop
  })
  for (const folder of ['srv/tasks', 'srv/datasette', 'var/www', 'etc', 'mirrors', 'keys'])
    mkdirSync(scratch.path(folder), { recursive: true })
  writeFileSync(scratch.path('key'), KEY, { mode: 0o600 })
  // Not the account of the examples: another mirror is published there.
  writeFileSync(scratch.path('etc/accounts'), 'globex\n')
  writeFileSync(scratch.path('keys/globex'), KEY, { mode: 0o600 })
  env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_API_KEY_FILE: scratch.path('key'), ...storage.env }
  // Commands are run as a reader does, who stands in one folder.
  process.chdir(scratch.dir)
  for (const line of ['sync', 'export --out lake/ --partition-by month', 'export --out snapshots/'])
    expect(await inside(line.split(' ')), line).toMatchObject({ code: 0 })
  simulator.account.insert(5)
  await inside(['sync'])
  await inside(['copy', '--out', 'backup.sqlite'])
  await inside(['export', '--out', 's3://lake/tasks'])
})

afterAll(async () => {
  process.chdir(home)
  await stopStorage()
  await simulator.close()
  scratch[Symbol.dispose]()
})

const inside = (args: string[]) => runHere(args, env)

/** A line as it would be typed here: names that stand for something, and places that are not this test's. */
function typed(line: string): string {
  const ids = [simulator.account.idAt(0), simulator.account.idAt(1)] as [string, string]
  return line
    .replace(/^(?:[*\d/,]+ ){5}/, '')
    .replaceAll(/(^|&& )npx task-mirror /g, '$1task-mirror ')
    .replaceAll(/https:\/\/tasks\.example\.com|http:\/\/127\.0\.0\.1:8090/g, simulator.url)
    .replaceAll(/\bID1 ID2\b|\bID\.\.\./g, ids.join(' '))
    .replaceAll(/\bID\b|6f1c9f0e-8d5b-4c1e-9f2a-0f6f5f0c7a11/g, ids[0])
    .replaceAll(/\bFILE\b/g, 'file.sqlite')
    .replaceAll(/\bFOLDER\b/g, 'snapshots')
    .replaceAll('s3://bucket/', 's3://lake/')
    .replaceAll(/(?<= )\/(srv|var|etc|mirrors|keys|tmp)\//g, `${scratch.dir}/$1/`)
    .replaceAll(/=\/(mirrors|keys)\//g, `=${scratch.dir}/$1/`)
    .replaceAll(/\b0\.0\.0\.0:8080\b/g, '127.0.0.1:0')
    .replaceAll('--port 8090', '--port 0')
}

interface Line {
  /** Where it stands: the document, and the line as it stands there. */
  text: string
}

/** Command lines in `code` and in tables: those that name a command of the program. */
function inlineLines(text: string): Line[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/`([^`\n]*\btask-mirror [a-z][^`\n]*)`/g)].map(([, line]) => ({
    text: line!.replaceAll('\\|', '|'),
  }))
}

/** Their blocks are followed by test/procedures.test.ts, from the first to the last. */
const PROCEDURES = /^## (Backup and restore|Upgrade and roll back)\n[\s\S]*?(?=^## )/gm

/** Blocks that a reader would paste into a shell. */
function blocks(text: string): string[] {
  return [...text.replaceAll(PROCEDURES, '').matchAll(/^```(?:sh|bash|console)\n([\s\S]*?)^```$/gm)].map(
    ([, block]) => block!,
  )
}

/** Whether a line stands in NOT_RUN, apart from `cd FOLDER &&` before it. */
function skipped(line: string, where: string): boolean {
  const bare = line.replace(/^cd \S+ && /, '')
  const found = Object.entries(NOT_RUN).find(([begins]) => bare === begins || bare.startsWith(`${begins} `))
  if (found !== undefined) console.log(`not run: ${where}: ${line}: ${found[1]}`)
  return found !== undefined
}

async function runLine(text: string): Promise<void> {
  if (text.includes('<(')) return runBlock(text)
  // What stands behind a pipe, or is done where the command fails, is another program.
  const [line] = typed(text).split(/ \|\|? /) as [string]
  await runTyped(line)
}

/** Without a shell, and without a process of its own. */
async function runTyped(line: string): Promise<void> {
  const words = line
    .replace(/ > \S+$/, '')
    .replace(/^cd \S+ && /, '')
    .split(' ')
    .filter((word) => word !== '')
  const args = words.slice(words.indexOf('task-mirror') + 1)
  const listening = args[0] === 'schedule' && !/--(listen|help)/.test(line) ? ['--listen', '127.0.0.1:0'] : []
  const unquoted = args
    .join(' ')
    .match(/'[^']*'|\S+/g)!
    .map((word) => word.replaceAll("'", ''))
  const { code, stdout, stderr } = await runHere([...unquoted, ...listening], env, undefined, STAYS_UP.has(args[0]!))
  expect({ line, code }, `${stdout.slice(0, 5_000)}\n${stderr}`).toEqual({ line, code: 0 })
}

async function runBlock(block: string, more: Record<string, string> = {}): Promise<void> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const command = `task-mirror() { '${process.execPath}' '${CLI}' "$@"; }`
  const child = spawn('bash', ['-eu', '-c', `${command}\n${block}`], {
    cwd: scratch.dir,
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env, ...more },
    // sqlite3 without a statement reads them from stdin.
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: HANGS_MS,
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [status] = await once(child, 'close')
  expect({ block, status }, stderr).toEqual({ block, status: 0 })
}

const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
]
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: read(name) }))

describe.each(DOCUMENTS.filter(({ text }) => blocks(text).length > 0))('$name', ({ name, text }) => {
  test.each(blocks(text).map((block) => ({ block })))('does what it says: $block', async ({ block }) => {
    const lines = block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) => line.replace(/\s+#.*$/, ''))
      .filter((line) => line !== '')
    const kept = lines.filter((line) => !skipped(line, name)).map(typed)
    // Nothing in it is for a shell.
    if (kept.every((line) => /^task-mirror [\w ./:=,-]+$/.test(line))) for (const line of kept) await runTyped(line)
    else await runBlock(kept.join('\n'), { YOUR_KEY: KEY })
  })
})

const LINES = DOCUMENTS.flatMap(({ name, text }) => inlineLines(text).map((line) => ({ ...line, name })))
const seen = new Set<string>()
const first = <T extends Line>(lines: T[]): T[] => lines.filter(({ text }) => !seen.has(text) && seen.add(text))

test.each(first(LINES).filter(({ text, name }) => !skipped(text, name)))('$name: $text', async ({ text }) => {
  await runLine(text)
})

const EXAMPLES = COMMANDS.flatMap((entry) => ('commands' in entry ? entry.commands : [entry])).flatMap(
  ({ name, examples }) => examples.map((text) => ({ name, text })),
)

// Those of other shells are run by test/commands/completion.test.ts.
test.each(first(EXAMPLES.filter(({ name, text }) => name !== 'completion' && !skipped(text, '--help'))))(
  '$name --help: $text',
  async ({ text }) => {
    await runLine(text)
  },
)

describe('files for deployment', () => {
  const units = readdirSync(join(ROOT, 'deploy/systemd')).map((name) => read(`deploy/systemd/${name}`))
  const started = units.flatMap((unit) =>
    [...unit.matchAll(/^ExecStart=\/usr\/bin\/env (.*)$/gm)].map(([, line]) => line!),
  )
  const kubernetes = ['deploy/cronjob.yaml', 'deploy/backfill-job.yaml'].flatMap((name) =>
    [...read(name).matchAll(/^\s+args: (\[.*\])$/gm)].map(([, args]) => (JSON.parse(args!) as string[]).join(' ')),
  )
  const compose: string[] = parse(read('deploy/compose.yaml')).services.worker.command
  const all = [...started, ...[...kubernetes, compose.join(' ')].map((line) => `task-mirror ${line}`)]

  test.each(first([...new Set(all)].map((text) => ({ text }))))('$text', async ({ text }) => {
    await runLine(text)
  })

  test('the job of docs/scale.md takes its account from its number, mirrors it and publishes', async () => {
    const [yaml] = [...read('docs/scale.md').matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block]) => block!)
    const [container] = parse(yaml!).spec.jobTemplate.spec.template.spec.containers
    expect(container.command).toEqual(['sh', '-c'])
    const script = typed(container.args[0] as string)
    expect(script).not.toMatch(/[ =]\/(etc|mirrors|keys)\//)
    // A feed follows a full snapshot, as the page says.
    await runBlock(`${script.replace(' --changes last', '')}\n${script}`, { JOB_COMPLETION_INDEX: '0' })
    expect((await storage.keys()).filter((key) => key.startsWith('tasks/account=globex/')).length).toBeGreaterThan(2)
  })
})

test('what is searched for is found', () => {
  expect(LINES.length).toBeGreaterThan(25)
  expect(EXAMPLES.length).toBeGreaterThan(35)
})
