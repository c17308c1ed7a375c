// docs/operations.md, CONTRIBUTING.md, SECURITY.md and the issue forms agree with the program.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { COMMANDS } from '../src/commands/index.ts'
import type { Flag } from '../src/commands/shared/command.ts'
import { KEYS } from '../src/config/keys.ts'
import { EXIT } from '../src/errors.ts'
import { longName, SHARED_FLAGS } from '../src/flags.ts'
import { readStatus } from '../src/mirror/shown/status.ts'
import { RUN_FIGURES, type RunMetrics } from '../src/notify/fields.ts'
import { metricsText } from '../src/notify/metrics.ts'
import { REASONS } from '../src/sync/steps/full.ts'
import { makeMirror } from './export/mirror.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const operations = read('docs/operations.md')
const DOCUMENTS = ['docs/operations.md', 'CONTRIBUTING.md', 'SECURITY.md']

test('the runbook has a chapter for every exit code, and no other', () => {
  const codes = [...operations.matchAll(/^### Exit ([\d, ]+):/gm)].flatMap(([, list]) => list!.split(', ').map(Number))
  expect(codes).toEqual(Object.values(EXIT).map(Number))
})

test('the runbook has every reason why a walk is partial, in the words of the program', () => {
  const chapter = operations.split('#### Why a walk is partial')[1]!.split('\n### ')[0]!
  const rows = [...chapter.matchAll(/^\| `([a-z-]+)` \| (.+) \|$/gm)].map(([, code, text]) => [code, text])
  expect(Object.fromEntries(rows)).toEqual(REASONS)
})

test('every metric the documents name is one that is told', async () => {
  const { db } = makeMirror()
  const all = Object.fromEntries(Object.keys(RUN_FIGURES).map((name) => [name, 0])) as RunMetrics
  const jobs = [{ job: 'sync', running: false, skipped: 0, nextAt: 0, ended: new Map() }]
  const walk = { id: 1, verdict: 'complete' as const, reason: null, startedAt: 0, finishedAt: 0 }
  const status = { ...readStatus(db), freshAt: 0, frontier: 0, notBefore: 0, lastFullWalk: walk }
  const text = await metricsText({ toolVersion: '1', status, runs: new Map([['sync', all]]), jobs, now: 0 })
  const named = new Set([...operations.matchAll(/task_mirror_\w+/g)].map(([name]) => name))
  expect(named.size).toBeGreaterThan(5)
  for (const name of named) expect(text).toContain(`# HELP ${name} `)
})

test.each(DOCUMENTS)('the command lines in %s use only commands and flags that exist', async (name) => {
  for (const [, command, rest = ''] of read(name).matchAll(/task-mirror ([a-z]+)([^`#\n|]*)/g)) {
    const spec = COMMANDS.find((entry) => entry.name === command)
    if (spec === undefined) continue
    const flags: Flag[] = 'commands' in spec ? [] : Array.isArray(spec.flags) ? spec.flags : await spec.flags()
    const known = new Set([...SHARED_FLAGS, ...flags].map(longName).concat('--help'))
    for (const [flag] of rest.matchAll(/--[a-z][a-z-]*/g)) expect(known, `${command} ${flag}`).toContain(flag)
  }
})

test.each(DOCUMENTS)('%s names only keys, files and scripts that exist', (name) => {
  const text = read(name)
  const sections = new Set(KEYS.map((key) => key.split('.')[0]))
  const keys = [...text.matchAll(/`([a-z]+(?:\.[a-z][A-Za-z]+)+)`/g)].map(([, key]) => key as string)
  for (const key of keys.filter((key) => sections.has(key.split('.')[0]))) expect(KEYS).toContain(key)
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link as string)
  for (const link of links) expect(existsSync(join(ROOT, name, '..', link)), link).toBe(true)
  const { scripts } = JSON.parse(read('package.json'))
  for (const [, script] of text.matchAll(/npm run ([a-z0-9:-]+)/g)) expect(scripts).toHaveProperty([script as string])
  for (const [, path] of text.matchAll(/`((?:src|test|docs)\/[\w./-]+)`/g)) {
    expect(existsSync(join(ROOT, path as string)), path).toBe(true)
  }
})

test('the issue forms are forms', () => {
  const folder = '.github/ISSUE_TEMPLATE'
  for (const name of readdirSync(join(ROOT, folder)).filter((other) => other !== 'config.yml')) {
    const form = parse(read(join(folder, name)))
    expect(form, name).toMatchObject({ name: expect.any(String), description: expect.any(String) })
    const ids = form.body
      .filter(({ type }: { type: string }) => type !== 'markdown')
      .map(({ id }: { id: string }) => id)
    expect(new Set(ids).size, name).toBe(ids.length)
    for (const { type, attributes } of form.body) {
      expect(['markdown', 'textarea', 'input']).toContain(type)
      expect(type === 'markdown' ? attributes.value : attributes.label).toEqual(expect.any(String))
    }
  }
})
