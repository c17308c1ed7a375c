import { expect, test } from 'vitest'
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
