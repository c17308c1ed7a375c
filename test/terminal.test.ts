import { expect, test } from 'vitest'
import { canRedraw, createStatusLine, knownWidth, wantsColour } from '../src/terminal.ts'

test.each([
  [true, {}, true],
  [false, {}, false],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [false, { FORCE_COLOR: '1' }, true],
  [false, { FORCE_COLOR: '' }, true],
  [true, { FORCE_COLOR: '0' }, false],
  [true, { FORCE_COLOR: 'false' }, false],
  [true, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
])('terminal %s with %j: colours %s', (isTTY, env, expected) => {
  expect(wantsColour(isTTY, env)).toBe(expected)
})

test('a dumb terminal is not redrawn', () => {
  expect(canRedraw(true, { TERM: 'dumb' })).toBe(false)
  expect(canRedraw(true, { TERM: 'xterm' })).toBe(true)
  expect(canRedraw(false, {})).toBe(false)
})

test('log lines go above the status line, which is drawn again', () => {
  const written: string[] = []
  const line = createStatusLine((text) => written.push(text))
  line.write('before\n')
  line.show('one')
  line.show('one')
  line.write('log\n')
  line.clear()
  line.clear()
  expect(written).toEqual(['before\n', '\r\u001b[2Kone', '\r\u001b[2Klog\none', '\r\u001b[2K'])
})

test('a terminal that was never told its size has no known one', () => {
  expect([knownWidth(0), knownWidth(undefined), knownWidth(60)]).toEqual([undefined, undefined, 60])
})
