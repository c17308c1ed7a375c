// The package as it is published: what it needs, brings along and contains.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')
const manifest = JSON.parse(read('package.json'))

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.ts'),
)

test('the command is the built entry, executable and with a shebang', () => {
  expect(manifest.bin).toEqual({ 'task-mirror': 'dist/cli.js' })
  expect(read('dist/cli.js').startsWith('#!/usr/bin/env node\n')).toBe(true)
})

test('the entry asks for the same version of Node as the package', () => {
  const [, major, minor] = /^>=(\d+)\.(\d+)\.0$/.exec(manifest.engines.node)!
  expect(read('src/cli.ts')).toContain(`const NEEDED = [${major}, ${minor}]`)
  expect(read('README.md')).toContain(`Node ${major}.${minor} or newer`)
})

test('every package that is imported is declared, and all are pinned to one version', () => {
  const imported = new Set(
    sources.flatMap((name) =>
      [...read(join('src', name)).matchAll(/(?:\bfrom|\bimport\()\s*'((?:@[^/'\s]+\/)?[^./'\s][^/'\s]*)[^'\s]*'/g)]
        .map(([, found]) => found!)
        .filter((found) => !found.startsWith('node:')),
    ),
  )
  const declared = { ...manifest.dependencies, ...manifest.devDependencies }
  for (const name of imported) expect(declared, name).toHaveProperty([name])
  for (const version of Object.values(declared)) expect(version).toMatch(/^\d/)
})

test('what is built asks for its dependencies and nothing else; the rest is bundled', () => {
  const built = readdirSync(join(ROOT, 'dist'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  )
  expect(built.length).toBeGreaterThan(20)
  const asked = built.flatMap((name) =>
    [...read(join('dist', name)).matchAll(/^(?:import|export) [^'"\n]*from ["']([^"'\n]+)["'];?$/gm)].map(
      ([, from]) => from!,
    ),
  )
  const packages = asked.filter((from) => !from.startsWith('.') && !isBuiltin(from))
  expect(packages).toContain('better-sqlite3')
  for (const name of packages) expect(manifest.dependencies, name).toHaveProperty([name])
  // An import of one would load all that hangs on it, in every thread (build/bundle.ts).
  expect(asked.filter(isBuiltin)).toEqual([])
  expect(manifest).not.toHaveProperty('optionalDependencies')
})

test('every thread and process that the program starts is built as a file of its own', () => {
  // As the sources name them.
  const started = sources.flatMap((name) =>
    [...read(join('src', name)).matchAll(/entryBeside\(import\.meta\.url, '([a-z-]+)'/g)].map(([, entry]) =>
      join(name, '..', `${entry}.js`),
    ),
  )
  expect(started.length).toBeGreaterThan(4)
  for (const name of started) expect(existsSync(join(ROOT, 'dist', name)), name).toBe(true)
})

test('every migration is built', () => {
  const migrations = (folder: string) => readdirSync(join(ROOT, folder, 'mirror/migrations')).sort()
  expect(migrations('dist')).toEqual(migrations('src'))
})

test('what the package lists is there', () => {
  for (const name of manifest.files) expect(existsSync(join(ROOT, name)), name).toBe(true)
})

test('the change log has the form of Keep a Changelog', () => {
  const headings = [...read('CHANGELOG.md').matchAll(/^##+ .*$/gm)].map(([heading]) => heading)
  expect(headings[0]).toBe('## [Unreleased]')
  for (const heading of headings.slice(1)) {
    expect(heading).toMatch(
      /^## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$|^### (Added|Changed|Deprecated|Removed|Fixed|Security)$/,
    )
  }
})

test('package.json and the Debian package name the same home', () => {
  const [, home] = /^Homepage: (.*)$/m.exec(read('deploy/debian/control'))!
  expect(manifest.repository.url).toBe(`git+${home}.git`)
  expect(manifest.homepage).toContain(home)
  expect(manifest.bugs).toContain(home)
})
