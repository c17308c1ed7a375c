import { expect, test } from 'vitest'
import { MirrorError } from '../src/errors.ts'
import { tellError } from '../src/failure.ts'
import { createLog } from '../src/log.ts'

test('a log line is one JSON object with level, time and message', async () => {
  const lines: string[] = []
  const log = await createLog({ level: 'info', write: (line) => lines.push(line), pretty: false, colour: false })
  log.debug({}, 'too fine')
  log.warn({ window: 3, reason: undefined }, 'A seam did not hold')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0]!)).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    window: 3,
    msg: 'A seam did not hold',
  })
})

test('on a terminal a log line is for people, on one line, coloured only where wanted', async () => {
  const linesWith = async (colour: boolean) => {
    const lines: string[] = []
    const log = await createLog({ level: 'info', write: (line) => lines.push(line), pretty: true, colour })
    log.info({ window: 3 }, 'Hello')
    return lines
  }
  expect(await linesWith(false)).toEqual([expect.stringMatching(/^\[\d\d:\d\d:\d\d\] INFO: Hello \{"window":3\}\n$/)])
  expect((await linesWith(true))[0]).toContain('\u001b[')
})

test('an error whose log cannot be loaded is told in words, and not in place of it that the log is missing', async () => {
  const missing = () => {
    throw Object.assign(new Error("Cannot find module 'pino'"), { code: 'MODULE_NOT_FOUND' })
  }
  const said: string[] = []
  tellError(
    new MirrorError('too-many-files', 'No more files', { hint: 'Raise it.' }),
    { debug: missing, info: missing, warn: missing, error: missing },
    { isTTY: false, env: {}, write: (text) => said.push(text) },
  )
  expect(said.join('')).toBe('task-mirror: No more files\n  Raise it.\n')
})

test.each([
  [{}, '`task-mirror sync`'],
  [{ npm_command: 'exec' }, '`npx task-mirror sync`'],
])('with %j a hint on a terminal is what can be typed there', (env, command) => {
  const said: string[] = []
  const error = new MirrorError('mirror-missing', 'None', { hint: 'Run `task-mirror sync` first.' })
  tellError(error, null, { isTTY: true, env, write: (text) => said.push(text) })
  expect(said.join('')).toBe(`task-mirror: None\n  Run ${command} first.\n`)
})
