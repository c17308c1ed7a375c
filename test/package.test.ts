// The package as it is published: what it needs, brings along and contains.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

test('every package that runs is a dependency, and all are pinned to one version', () => {
  const imported = new Set(
    sources.flatMap((name) =>
      // Types are gone when it runs.
      [
        ...read(join('src', name))
          .replace(/^import type .*$/gm, '')
          .matchAll(/(?:\bfrom|\bimport\()\s*'((?:@[^/'\s]+\/)?[^./'\s][^/'\s]*)[^'\s]*'/g),
      ]
        .map(([, found]) => found!)
        .filter((found) => !found.startsWith('node:')),
    ),
  )
  for (const name of imported) expect(manifest.dependencies, name).toHaveProperty([name])
  for (const version of Object.values({ ...manifest.dependencies, ...manifest.devDependencies })) {
    expect(version).toMatch(/^\d/)
  }
})

test('every migration is built', () => {
  const migrations = (folder: string) => readdirSync(join(ROOT, folder, 'mirror/migrations')).sort()
  expect(migrations('dist')).toEqual(migrations('src'))
})

test('what the package lists is there', () => {
  for (const name of manifest.files) expect(existsSync(join(ROOT, name)), name).toBe(true)
})
