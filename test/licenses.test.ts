// docs/licenses.md: the licence of everything that the program is made of, bundled or installed. After a change of dependencies
// `npx vitest run test/licenses.test.ts -u` writes it anew: read what changed.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { Package } from '../build/packages.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const packages = JSON.parse(read('dist/packages.json')) as Package[]

/** All of them let anybody use, change and pass on what they cover, without conditions on what it is used in. */
const PERMISSIVE = new Set(['MIT', 'ISC', 'Apache-2.0', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause'])

test('every package has a permissive licence, and the text of those that are bundled goes with them', () => {
  const texts = read('dist/licenses.txt')
  for (const { name, version, license, isBundled } of packages) {
    expect(PERMISSIVE, `${name}: ${license}`).toContain(license)
    if (isBundled) expect(texts).toContain(`\n${name} ${version} (${license})\n`)
  }
  expect(texts.match(/Permission is hereby granted|Apache License|Permission to use, copy/g)?.length).toBeGreaterThan(
    40,
  )
})

test('docs/licenses.md lists them all', async () => {
  const row = ({ name, version, license, isBundled }: Package) =>
    `| ${name} | ${version} | ${license} | ${isBundled ? 'bundled' : 'installed'} |`
  const text = [
    '# Licences',
    '',
    'What task-mirror is made of beside its own code, which is MIT: the packages that are bundled into `dist/`, with their texts in',
    '`dist/licenses.txt`, and those that are installed beside it. Kept true by `test/licenses.test.ts`. `npm run sbom` prints the same',
    'as CycloneDX.',
    '',
    '| package | version | licence | how |',
    '| --- | --- | --- | --- |',
    ...new Set(packages.map(row)),
    '',
  ].join('\n')
  await expect(text).toMatchFileSnapshot('../docs/licenses.md')
})

test('npm run sbom prints a CycloneDX document of them', () => {
  const text = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 })
  const { bomFormat, components } = JSON.parse(text) as {
    bomFormat: string
    components: { name: string; version: string; group?: string; purl: string }[]
  }
  expect(bomFormat).toBe('CycloneDX')
  const names = components.map(({ name, group }) => (group === undefined ? name : `${group}/${name}`))
  const once = new Set(packages.map(({ name, version }) => `${name} ${version}`))
  expect(components.map(({ version }, index) => `${names[index]} ${version}`)).toEqual([
    ...once,
    expect.stringMatching(/^node \d/),
  ])
  for (const name of Object.keys(JSON.parse(read('package.json')).dependencies)) expect(names).toContain(name)
  expect(components.map(({ purl }) => purl)).toContain('pkg:npm/%40aws-sdk/client-s3@3.1169.0')
})
