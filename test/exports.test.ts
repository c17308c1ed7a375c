// Nothing is exported that no other file imports, and no exported name means two things. Read from the text of the files: each
// declares its exports at the beginning of a line.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['src', 'test', 'bench', 'build']

const texts = new Map<string, string>()
for (const folder of FOLDERS) {
  for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (/\.ts$/.test(name) && !name.includes('node_modules')) {
      texts.set(join(folder, name), readFileSync(join(ROOT, folder, name), 'utf8'))
    }
  }
}

/** Names by file, as exported where they are declared. */
function exportsOf(text: string): string[] {
  const declared = text.matchAll(
    /^export (?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type) (\w+)/gm,
  )
  return [...declared].map(([, name]) => name!)
}

/** `file name`, for every name that a file imports from another; `file *` for all of them. */
function importsOf(file: string, text: string): string[] {
  const found: string[] = []
  const add = (path: string, names: string[]) => {
    if (!path.startsWith('.')) return
    const target = relative(ROOT, join(ROOT, dirname(file), path))
    for (const name of names) found.push(`${target} ${name}`)
  }
  const listed = (names: string, as: string) =>
    names.split(',').map((name) =>
      name
        .trim()
        .replace(/^type /, '')
        .split(as)[0]!
        .trim(),
    )
  for (const [, names, path] of text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from '([^']+)'/gm)) {
    add(path!, listed(names!, ' as '))
  }
  for (const [, path] of text.matchAll(/^import (?:type )?\* as \w+ from '([^']+)'/gm)) add(path!, ['*'])
  for (const [, names, path] of text.matchAll(/\{([^{}]*)\}\s*=\s*(?:\()?await import\('([^']+)'\)/g)) {
    add(path!, listed(names!, ':'))
  }
  for (const [, path, name] of text.matchAll(/import\('([^']+)'\)\)?\.(\w+)/g)) add(path!, [name!])
  for (const [, path] of text.matchAll(/typeof import\('([^']+)'\)(?!\.)/g)) add(path!, ['*'])
  return found
}

const imported = new Set([...texts].flatMap(([file, text]) => importsOf(file, text)))
const own = [...texts].filter(([file]) => file.startsWith('src/'))

test('every export is imported by another file', () => {
  const dead = own.flatMap(([file, text]) =>
    exportsOf(text)
      .filter((name) => !imported.has(`${file} ${name}`) && !imported.has(`${file} *`))
      .map((name) => `${file} ${name}`),
  )
  expect(dead).toEqual([])
})

test('no two files export the same name', () => {
  const files = new Map<string, string[]>()
  for (const [file, text] of own) {
    for (const name of exportsOf(text)) files.set(name, [...(files.get(name) ?? []), file])
  }
  expect(
    [...files].filter(([, all]) => all.length > 1),
    'rename one of them',
  ).toEqual([])
})
