// The import table of docs/architecture.md: which folder may import which. Static and dynamic imports, types included.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SRC = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .sort()

/** The words everybody may use; they import nothing but each other. */
const WORDS = [
  'task.ts',
  'task/columns.ts',
  'task/row.ts',
  'task/id-hash.ts',
  'errors.ts',
  'json.ts',
  'clock.ts',
  'host.ts',
  'http-policy.ts',
  'shown.ts',
  'small-file.ts',
  'trust.ts',
  'bounded.ts',
]

/** What each folder may import beside itself and the words: folders, or single files. */
const ALLOWED: Record<string, readonly string[]> = {
  task: [],
  // What snapshots there can be is told in one place.
  config: ['export/formats.ts', 'export/encode/compression.ts'],
  service: ['config'],
  proof: [],
  threads: [],
  walk: ['proof', 'service', 'config'],
  mirror: ['proof', 'threads'],
  export: ['mirror', 'threads'],
  simulator: [],
  sync: ['config', 'service', 'proof', 'walk', 'mirror', 'threads', 'log.ts', 'progress.ts', 'version.ts'],
  report: ['mirror', 'notify'],
  notify: ['config', 'mirror', 'export', 'sync', 'log.ts', 'version.ts'],
  schedule: [
    'config',
    'mirror',
    'export',
    'sync',
    'notify',
    'report',
    'threads',
    'log.ts',
    'progress.ts',
    'version.ts',
  ],
  doctor: ['config', 'mirror', 'sync', 'schedule'],
  commands: [
    ...['config', 'mirror', 'export', 'simulator', 'sync', 'notify', 'report', 'schedule', 'doctor', 'threads'],
    ...['log.ts', 'progress.ts', 'version.ts', 'flags.ts'],
  ],
}

/** Files at the root that are no words: the frame around the commands. */
const FRAME = [
  'cli.ts',
  'program.ts',
  'context.ts',
  'failure.ts',
  'flags.ts',
  'help.ts',
  'log.ts',
  'progress.ts',
  'terminal.ts',
  'version.ts',
]

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8')
  const found = text.matchAll(/(?:\bfrom|\bimport\(|\bimport)\s*'(\.{1,2}\/[^']+\.ts)'/g)
  return [...found].map(([, target]) => normalize(join(dirname(file), target!)))
}

const folderOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '')
/** A folder, or the name of a file at the root. */
const placeOf = (file: string) => folderOf(file) || file

test('every file stands in a folder of the table or belongs to the words or the frame', () => {
  const strays = files.filter((file) => !(placeOf(file) in ALLOWED) && !WORDS.includes(file) && !FRAME.includes(file))
  expect(strays).toEqual([])
})

test('every import is allowed by the table', () => {
  const offences: string[] = []
  for (const file of files) {
    const folder = folderOf(file)
    for (const target of importsOf(file)) {
      if (WORDS.includes(target)) continue
      const place = placeOf(target)
      const isAllowed = WORDS.includes(file)
        ? false
        : folder === '' ||
          place === folder ||
          [place, target].some((allowed) => (ALLOWED[folder] ?? []).includes(allowed))
      if (!isAllowed) offences.push(`${file} -> ${target}`)
    }
  }
  expect(offences).toEqual([])
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
