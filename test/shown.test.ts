// Text of third parties on a terminal: nothing in it is obeyed, and JSON stays equal.
import { execFileSync } from 'node:child_process'
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { printableStream } from '../src/commands/shared/printed.ts'
import { createLog } from '../src/log.ts'
import { printable, shellWord, withoutPasswords } from '../src/shown.ts'
import { createStatusLine } from '../src/terminal.ts'
import fc from './support/fc.ts'
import { allowedMs, processorMs } from './support/processor.ts'
import { SOAK } from './support/soak.ts'

/** As of the standards: ECMA-48 for C0 and C1, UAX #9 for the bidirectional controls. */
const OBEYED = /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u2028\u2029\ufeff]/u
const HOSTILE = [
  ['an OSC title', '\u001b]0;owned\u0007'],
  ['a cleared screen', '\u001b[2J\u001bc'],
  ['C1', '\u009b2J\u0085\u0090'],
  ['a carriage return', 'all is well\rnothing is'],
  ['a turned text', 'exe.\u202egnp \u2066x\u2069 \u200f \u061c'],
] as const

test.each(HOSTILE)('%s is shown, not obeyed', (_, text) => {
  expect(printable(text)).not.toMatch(OBEYED)
  expect(JSON.parse(printable(JSON.stringify({ [text]: text })))).toEqual({ [text]: text })
})

test('whatever the text, nothing in it is obeyed, and JSON stays equal', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.string({ unit: 'binary' }), (value, text) => {
      expect(printable(text)).not.toMatch(OBEYED)
      const json = printable(JSON.stringify(value))
      expect(json).not.toMatch(OBEYED)
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
    { numRuns: SOAK ? 2000 : 700 },
  )
})

test.each([
  ['"s3://KEY:SEC/RET@bucket/x" is not one', '"s3://[masked]@bucket/x" is not one'],
  ['S3:KEY:SECRET@bucket', 'S3://[masked]@bucket'],
  ['of http://a/ and https://me:p@ss@host/x.', 'of http://a/ and https://[masked]@host/x.'],
  ['at (file:///app/node_modules/@aws-sdk/a.js:1)', 'at (file:///app/node_modules/@aws-sdk/a.js:1)'],
  ['me@example.com, 10:30@noon and s3://bucket/x', 'me@example.com, 10:30@noon and s3://bucket/x'],
])('of %s the password is masked, and nothing else', (text, shown) => {
  expect(withoutPasswords(text)).toBe(shown)
})

test('ordinary text of any language stays', () => {
  const text = 'Grüße 日本語 עברית 🔑 a\tb\nc'
  expect(printable(text)).toBe(text)
})

test('a megabyte of escapes is done in less than a second', () => {
  const escapes = '\u001b'.repeat(1e6)
  let text = ''
  const took = processorMs(() => {
    text = printable(escapes)
  })
  expect(text).toHaveLength(6e6)
  expect(took).toBeLessThan(allowedMs(1000))
})

test.each([true, false])('lines of the log, for people: %s', async (pretty) => {
  const written: string[] = []
  const log = await createLog({ level: 'info', write: (line) => written.push(line), pretty, colour: false })
  for (const [name, text] of HOSTILE) log.warn({ [text]: text, name }, `${text}\nfaked line "\\n"`)
  expect(written).toHaveLength(HOSTILE.length)
  for (const line of written) {
    expect(line).not.toMatch(OBEYED)
    expect(line.trimEnd()).not.toContain('\n')
  }
  if (!pretty) expect(JSON.parse(written[0] as string).msg).toBe(`${HOSTILE[0][1]}\nfaked line "\\n"`)
})

test('the status line obeys nothing but what draws it', () => {
  const written: string[] = []
  createStatusLine((text) => written.push(text)).show(HOSTILE[1][1])
  expect(written).toEqual(['\r\u001b[2K\\u001b[2J\\u001bc'])
})

test('data on a terminal is shown, whatever pieces it comes in', async () => {
  const written: string[] = []
  const terminal = new Writable({
    write(chunk, _, done) {
      written.push(String(chunk))
      done()
    },
  })
  const stream = printableStream(terminal)
  for (const byte of Buffer.from('é\u001b]0;x\u0007\u202eü\n')) stream.write(Buffer.from([byte]))
  await new Promise<void>((resolve) => stream.end(resolve))
  expect(written.join('')).toBe('é\\u001b]0;x\\u0007\\u202eü\n')
})

test.each([
  ['demo/a-b_1.sqlite', 'demo/a-b_1.sqlite'],
  ['de mo', "'de mo'"],
  ["it's", '"it\'s"'],
  ["it's $HOME", "'it'\\''s $HOME'"],
  ['', "''"],
  ['~/mine', "'~/mine'"],
  ['=ls', "'=ls'"],
  ['a\n"b"\\', '\'a\n"b"\\\''],
])('%j is one word of a shell, with no more quotes than it needs', (text, word) => {
  expect(shellWord(text)).toBe(word)
  expect(execFileSync('sh', ['-c', `printf %s ${word}`], { encoding: 'utf8' })).toBe(text)
})
