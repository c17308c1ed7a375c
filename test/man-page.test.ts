// The man page of the Debian package.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { namedCommands } from '../build/commands-document.ts'
import { manPage } from '../build/man-page.ts'
import { EXIT } from '../src/errors.ts'
import { SHARED_FLAGS } from '../src/flags.ts'
import { makeScratch } from './support/scratch.ts'

const page = await manPage('1.2.3', new Date(0))
const isManThere = spawnSync('man', ['--version']).status === 0

test.skipIf(!isManThere)('man reads it without a complaint, and shows every command, flag and exit code', async () => {
  using scratch = makeScratch()
  const file = scratch.path('task-mirror.1')
  writeFileSync(file, page)
  const args = ['--warnings', '--local-file', file]
  const { stdout, stderr } = spawnSync('man', args, { encoding: 'utf8', env: { ...process.env, MANWIDTH: '200' } })
  expect(stderr).toBe('')
  const shown = stdout.replaceAll(/.\u0008/g, '')
  expect(shown).toContain('task-mirror 1.2.3')
  for (const { name, flags, spec } of await namedCommands()) {
    expect(shown).toMatch(new RegExp(`^ +${name}\\b`, 'm'))
    for (const flag of [...SHARED_FLAGS, ...flags]) expect(shown).toContain(flag.flags)
    for (const example of spec.examples) expect(shown).toContain(example)
  }
  for (const code of Object.values(EXIT)) expect(shown).toMatch(new RegExp(`^ +${code} `, 'm'))
})

test('no line of it is taken for a request that it is not', () => {
  const requests = new Set([...page.matchAll(/^([.'][^ \n]*)/gm)].map(([, request]) => request))
  expect([...requests].sort()).toEqual(['.EE', '.EX', '.PP', '.SH', '.SS', '.TH', '.TP'])
})
