// The built command on a terminal: util-linux's `script` makes one.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { CLI, startCli } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'
import { few } from '../support/soak.ts'

const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

/** What the terminal gets of a command. */
async function onTerminal(args: string, cwd: string, columns: number, more: NodeJS.ProcessEnv = {}): Promise<string> {
  const command = `stty cols ${columns}; exec '${process.execPath}' '${CLI}' ${args}`
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = { PATH, HOME, NODE_COMPILE_CACHE, TERM: 'xterm', NO_COLOR: '1', ...more }
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], { cwd, env })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  await once(child, 'close')
  return text
}

test.skipIf(!hasScript).each(few([40, 80, 200], (columns) => columns === 40))(
  'on a terminal of %d columns there is one line that is redrawn, then the summary',
  async (columns) => {
    using scratch = makeScratch()
    await using simulator = await startSimulator({ tasks: 6000, latencyMs: 60 })
    const text = await onTerminal(`sync --base-url ${simulator.url}`, scratch.dir, columns)
    const [drawn = '', summary] = [text.slice(0, text.indexOf('run  ')), text.slice(text.indexOf('run  '))]
    const lines = drawn.split('\r\u001b[2K').filter((line) => line.trim() !== '')
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) {
      expect(line).toMatch(/^(full walk|deletions|open tasks)/)
      expect(line).not.toContain('\n')
      expect(line.length).toBeLessThan(columns)
    }
    expect(summary).toMatch(/outcome {3}ok, verdict complete\r\n/)
    expect(text).not.toContain('INFO')
  },
)

test.skipIf(!hasScript)('with --quiet a terminal stays empty', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 1200 })
  expect(await onTerminal(`sync --quiet --base-url ${simulator.url}`, scratch.dir, 80)).toBe('')
})

// Errors of a command and of its flags are told on different ways.
test.skipIf(!hasScript).each([
  ['status', '`npx task-mirror sync`'],
  ['sync --fast', '`npx task-mirror sync --help`'],
  ['doctor --base-url http://127.0.0.1:1', '`npx task-mirror sync`'],
])('in a clone %s says what can be typed there', async (args, command) => {
  using scratch = makeScratch()
  expect(await onTerminal(args, scratch.dir, 200, { npm_command: 'exec' })).toContain(command)
})

test.skipIf(process.platform === 'win32')('SIGUSR2 is answered at once, with --quiet too', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 30_000, latencyMs: 200 })
  const env = { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_LOG_LEVEL: 'debug' }
  const running = startCli(['sync', '--quiet', '--no-progress'], { cwd: scratch.dir, env })
  await running.untilStderr(/Run begins/)
  running.process.kill('SIGUSR2')
  await running.untilStderr(/"Progress: /)
  running.process.kill('SIGTERM')
  expect((await running.ended).code).toBe(143)
})
