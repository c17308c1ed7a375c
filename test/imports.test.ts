// The import table of docs/architecture.md: which folder may import which. Static and dynamic imports, types included.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SRC = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .sort()

/** The rows of the map: places, and what they import, each a folder, a file, "each other", "everything" or "nothing". */
const MAP = readFileSync(new URL('../docs/architecture.md', import.meta.url), 'utf8')
  .split(/^## /m)[1]!
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [, places, , imports] = line.split('|').map((cell) => cell.trim())
    const named = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.replace(/\/$/, ''))
    return { places: named(places!), kind: imports!, imports: named(imports!) }
  })
const WORDS = MAP.filter(({ kind }) => kind === 'each other').flatMap(({ places }) => places)

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8')
  const found = text.matchAll(/(?:\bfrom|\bimport\(|\bimport)\s*'(\.{1,2}\/[^']+\.ts)'/g)
  return [...found].map(([, target]) => normalize(join(dirname(file), target!)))
}

/** A folder, or the name of a file at the root. */
const placeOf = (file: string) => file.split('/')[0]!

test('docs/architecture.md says what each place imports, no more and no less', () => {
  const table = MAP.flatMap(({ places, kind, imports }) => places.map((place) => [place, kind, imports] as const))
  const offences: string[] = []
  const unused: string[] = []
  for (const [place, kind, imports] of table) {
    if (kind === 'everything') continue
    const isWord = WORDS.includes(place)
    const outside = files
      .filter((file) => placeOf(file) === place)
      .flatMap((file) => importsOf(file).map((target) => ({ file, target, of: placeOf(target) })))
      .filter(({ of }) => of !== place && !WORDS.includes(of))
    const isNamed = ({ target, of }: { target: string; of: string }) =>
      !isWord && (imports.includes(of) || imports.includes(target))
    offences.push(...outside.filter((one) => !isNamed(one)).map(({ file, target }) => `${file} -> ${target}`))
    unused.push(
      ...imports
        .filter((name) => !outside.some(({ of, target }) => name === of || name === target))
        .map((name) => `${place}: ${name}`),
    )
  }
  expect(offences, 'say it in the table, or import something else').toEqual([])
  expect(unused, 'take it out of the table').toEqual([])
  expect(table.length).toBeGreaterThan(30)
})

test('no folder holds more files than can be looked through: beyond that it gets rooms', () => {
  const folders = Map.groupBy(files, (file) => dirname(file))
  expect([...folders].filter(([, all]) => all.length > 24).map(([folder]) => folder)).toEqual([])
})

test('the entry file loads nothing before it has checked the version of Node', () => {
  const text = readFileSync(join(SRC, 'cli.ts'), 'utf8')
  expect(text).not.toMatch(/^import\b(?!\()/m)
})

test('help and version load no package but commander', () => {
  const seen = new Set<string>()
  const packages = new Set<string>()
  const visit = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    const text = readFileSync(join(SRC, file), 'utf8')
    // Loaded with the file itself: static imports of values.
    for (const [, target] of text.matchAll(/^import (?!type\b)[^;]*?'([^']+)'/gm)) {
      if (target!.startsWith('.')) visit(normalize(join(dirname(file), target!)))
      else if (!target!.startsWith('node:')) packages.add(target!)
    }
  }
  visit('program.ts')
  expect([...packages]).toEqual(['commander'])
})

test('no file imports itself by way of others', () => {
  const graph = new Map(files.map((file) => [file, importsOf(file)]))
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (file: string, path: readonly string[]) => {
    const at = path.indexOf(file)
    if (at !== -1) cycles.push([...path.slice(at), file].join(' -> '))
    if (at !== -1 || done.has(file)) return
    for (const target of graph.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  expect(cycles).toEqual([])
})

/** Packages that only one place may know, so that HTTP, SQL and the command line stay where they belong. */
test.each([
  ['undici', /^service\//],
  ['better-sqlite3', /^mirror\//],
  ['commander', /^(program|flags|help)\.ts$/],
  ['pino', /^log\.ts$/],
  ['hyparquet-writer', /^export\/encode\/parquet\//],
  ['parquetjs-lite', /^export\/encode\/parquet\//],
  ['@aws-sdk/client-s3', /^export\/publish\/s3\//],
])('%s is imported only where it belongs', (name, place) => {
  const users = files.filter((file) => readFileSync(join(SRC, file), 'utf8').includes(`'${name}'`))
  expect(users.filter((file) => !place.test(file))).toEqual([])
})

test('SQL stands only in mirror/, and in export/read/rows.ts which reads a cut', () => {
  const users = files.filter((file) =>
    /\.prepare\(|\b(db|database)\.(exec|pragma)\(/i.test(readFileSync(join(SRC, file), 'utf8')),
  )
  expect(users.filter((file) => !file.startsWith('mirror/') && file !== 'export/read/rows.ts')).toEqual([])
})

test('only the entry file reaches for the process', () => {
  const users = files.filter((file) => /\bprocess\.(exit|on|argv|env)\b/.test(readFileSync(join(SRC, file), 'utf8')))
  // The other one takes away from what it hands on to a child.
  expect(users).toEqual(['cli.ts', 'mirror/maintenance/statement-process.ts'])
})

test('property tests draw by the seed of test/support/fc.ts', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && /^import .* from 'fast-check'$/m.test(readFileSync(join(folder, name), 'utf8')),
  )
  expect(own).toEqual([join('support', 'fc.ts')])
})
