// The help of every command on a narrow terminal: commander's own layout is not meant for one.
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { COMMANDS } from '../src/commands/index.ts'
import { run } from '../src/program.ts'

async function help(words: readonly string[], columns: number): Promise<string> {
  let text = ''
  const stdout = new Writable({
    write(chunk, _, done) {
      text += chunk
      done()
    },
  })
  const stderr = { isTTY: true, columns: () => columns, write: () => {} }
  const streams = { stdout: Object.assign(stdout, { isTTY: true, columns }), stderr, env: { NO_COLOR: '1' } }
  const code = await run(
    [...words, '--help'],
    { ...streams, onProgressRequest: () => {} },
    new AbortController().signal,
  )
  expect(code).toBe(0)
  return text
}

const commands = COMMANDS.flatMap((entry) =>
  'commands' in entry
    ? entry.commands.map((inner) => ({ words: [entry.name, inner.name], examples: inner.examples }))
    : [{ words: [entry.name], examples: entry.examples }],
)

test.each([{ words: [], examples: [] }, ...commands])(
  'the help of $words fits into 60 columns',
  async ({ words, examples }) => {
    const text = await help(words, 60)
    expect(text.split('\n').filter((line) => line.length > 60)).toEqual([])
    const shown = text.slice(text.indexOf('\nExamples:\n')).replaceAll(' \\\n    ', ' ')
    for (const example of examples) expect(shown).toContain(`\n  ${example}\n`)
  },
)

test('what stands in quotes, and a flag with its value, are not broken', async () => {
  expect(await help(['schedule'], 60)).toContain(
    "  task-mirror schedule --sync '*/10 * * * *' \\\n    --export '0 3 * * *' --timezone Europe/Berlin\n",
  )
})

test('where there is room, descriptions stand beside their flags', async () => {
  expect(await help(['simulate'], 100)).toMatch(/^ {2}--order <name> {2,}order of the list: created_desc, /m)
})
