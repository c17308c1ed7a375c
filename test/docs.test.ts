// The documents name only what exists, and name all of it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { commandsDocument } from '../build/commands-document.ts'
import { withColumns } from '../build/scale-document.ts'
import { COMMANDS } from '../src/commands/index.ts'
import type { AnyCommand, CommandGroup, Flag } from '../src/commands/shared/command.ts'
import { environmentName, KEYS } from '../src/config/keys.ts'
import { FORMAT_NAMES, formatEntry, titlesOf } from '../src/export/formats.ts'
import { longName, SHARED_FLAGS, twinName } from '../src/flags.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const documents = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> }

interface Named {
  name: string
  spec: AnyCommand
}

function named(entries: readonly (AnyCommand | CommandGroup)[], prefix = ''): Named[] {
  return entries.flatMap((entry) =>
    'commands' in entry
      ? named(entry.commands, `${prefix}${entry.name} `)
      : [{ name: `${prefix}${entry.name}`, spec: entry }],
  )
}

const commands = named(COMMANDS)
const flagsOf = async ({ flags }: AnyCommand): Promise<Flag[]> => (Array.isArray(flags) ? flags : flags())
const allFlags = [...SHARED_FLAGS, ...(await Promise.all(commands.map(({ spec }) => flagsOf(spec)))).flat()]

test('docs/commands.md is what `npm run docs` writes: every command, every flag, every exit code', async () => {
  expect(readFileSync(join(ROOT, 'docs/commands.md'), 'utf8')).toBe(await commandsDocument())
})

test('docs/scale.md spells out the columns that a snapshot has: npm run docs writes them', () => {
  const text = readFileSync(join(ROOT, 'docs/scale.md'), 'utf8')
  expect(text).toBe(withColumns(text))
  expect(() => withColumns('')).toThrow('docs/scale.md has no CREATE TABLE')
})

test('the README is short', () => {
  expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(7_000)
})

test.each(['README.md', 'package.json', 'deploy/debian/control'])('%s says as what snapshots are published', (name) => {
  const text = readFileSync(join(ROOT, name), 'utf8').replaceAll(/\s+/g, ' ')
  // Not the whole file.
  const [said] = /publishes snapshots as [^.]*/.exec(text) ?? []
  const formats = titlesOf(FORMAT_NAMES, 'or')
  expect(said, `${name} has to say "publishes snapshots as ${formats}"`).toMatch(
    new RegExp(`^publishes snapshots as ${formats}\\b`),
  )
})

test('git ignores what is exported in a clone, whatever the format', () => {
  const ignored = new Set(readFileSync(join(ROOT, '.gitignore'), 'utf8').split('\n'))
  const wanted = FORMAT_NAMES.flatMap((name) => {
    const { endings, isStream } = formatEntry(name)
    return [`*${endings[0]}`, ...(isStream ? [`*${endings[0]}.*`] : [])]
  })
  expect(
    wanted.filter((line) => !ignored.has(line)),
    'add them to .gitignore',
  ).toEqual([])
})

test('the README names what a file can end in, for every format', () => {
  const missing = FORMAT_NAMES.flatMap((name) => formatEntry(name).endings).filter((ending) => !readme.includes(ending))
  expect(missing, 'add them to the sentence of README.md on what `export` also writes').toEqual([])
})

/** Flags of other programs, scripts of this project among them. */
const OF_OTHERS: Record<string, string[]> = {
  'docs/architecture.md': ['--compare'],
  'docs/operations.md': ['--rm', '--health-cmd'],
  'docs/tools.md': ['--with', '--db-path', '--setting'],
  'docs/scale.md': ['--packages', '--conf', '--lake', '--table', '--tombstones'],
}

test.each(documents)('%s names only flags that exist', (name) => {
  const known = new Set([...allFlags.map(longName), '--help', '--version', ...(OF_OTHERS[name] ?? [])])
  const text = readFileSync(join(ROOT, name), 'utf8')
  const mentioned = [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag)
  const unknown = mentioned.filter((flag) => !known.has(flag))
  expect(unknown, 'flags of another program belong in OF_OTHERS of this test').toEqual([])
})

test('every command line in the README uses only flags of its own command', async () => {
  for (const [, name, rest] of readme.matchAll(/task-mirror ((?:config )?[a-z]+)([^`#&\n]*)/g)) {
    const command = commands.find((other) => other.name === name)
    if (command === undefined) continue
    const own = new Set([...SHARED_FLAGS, ...(await flagsOf(command.spec))].map(longName))
    for (const [flag] of rest!.matchAll(/--[a-z][a-z-]*/g)) expect(own, `${name} ${flag}`).toContain(flag)
  }
})

test.each(documents)('%s names only configuration keys and environment variables that exist', (name) => {
  const text = readFileSync(join(ROOT, name), 'utf8')
  const sections = new Set(KEYS.map((key) => key.split('.')[0]))
  const keys = [...text.matchAll(/`([a-z]+(?:\.[a-z][A-Za-z]+)+)`/g)]
    .map(([, key]) => key!)
    .filter((key) => sections.has(key.split('.')[0]!) && !/\.(ts|md|json|sql)$/.test(key))
  // Fields of objects, such as `service.equal`, are written as keys are.
  if (name !== 'docs/json.md') expect(keys.filter((key) => !KEYS.includes(key))).toEqual([])
  const variables = new Set([
    ...KEYS.map(environmentName),
    ...allFlags.map(twinName),
    'TASK_MIRROR_API_KEY',
    'TASK_MIRROR_API_KEY_FILE',
  ])
  expect(
    [...text.matchAll(/TASK_MIRROR_[A-Z0-9_]+/g)].map(([found]) => found).filter((found) => !variables.has(found)),
  ).toEqual([])
})

const pages = [
  ...documents,
  ...['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/peers/README.md'],
  ...readdirSync(join(ROOT, 'docs/decisions')).map((name) => `docs/decisions/${name}`),
]

test.each(pages)('%s links only to files that exist and names only scripts that exist', (name) => {
  const text = readFileSync(join(ROOT, name), 'utf8')
  const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link!)
  expect(links.filter((link) => !existsSync(join(ROOT, name, '..', link)))).toEqual([])
  const used = [...text.matchAll(/npm run ([a-z0-9:-]+)/g)].map(([, script]) => script!)
  expect(used.filter((script) => !(script in scripts))).toEqual([])
})

/** How GitHub makes the anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

test.each(pages)('%s links only to chapters that exist', (name) => {
  const text = readFileSync(join(ROOT, name), 'utf8')
  const links = [...text.replace(/\n\s*/g, ' ').matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)]
  const missing = links.filter(([, file, anchor]) => {
    const target = readFileSync(file === '' ? join(ROOT, name) : join(ROOT, name, '..', file!), 'utf8')
    return ![...target.matchAll(/^#+ (.*)$/gm)].some(([, heading]) => anchorOf(heading!) === anchor)
  })
  expect(missing.map(([link]) => link)).toEqual([])
})

test('documents name only environment variables of tests and benchmarks that one of them reads', () => {
  const sources = ['test', 'bench']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((name) => /\.(ts|sh|py)$/.test(name) && name !== 'test/docs.test.ts' && !name.includes('node_modules'))
    .map((name) => readFileSync(join(ROOT, name), 'utf8'))
    .join('\n')
  const named = pages.flatMap((name) =>
    [...readFileSync(join(ROOT, name), 'utf8').matchAll(/\b(?:SOAK|BENCH|ENGINES)_[A-Z_]+\b/g)].map(([found]) => found),
  )
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((variable) => !sources.includes(variable))).toEqual([])
})

test.each([...documents, 'CONTRIBUTING.md'])(
  '%s runs no file of TypeScript by a Node that may be too old: npx finds that of the clone',
  (name) => {
    expect(readFileSync(join(ROOT, name), 'utf8')).not.toMatch(/(?<!npx )node \S+\.ts\b/)
  },
)

test('docs/architecture.md names only files that exist', () => {
  const text = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')
  const paths = [...text.matchAll(/`((?:[a-z]+\/)*[a-z-]+(?:\.[a-z]+)*\.(?:ts|sql)|(?:[a-z]+\/)+)`/g)].map(
    ([, path]) => path!,
  )
  expect(paths.length).toBeGreaterThan(15)
  expect(paths.filter((path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, 'src', path)))).toEqual([])
})

/** What stands in code in the first column of the tables of a section. */
function placesNamed(section: number): string[] {
  const text = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8').split(/^## /m)[section] ?? ''
  return [...text.matchAll(/^\|([^|]+)\|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!),
  )
}

test('docs/architecture.md has a row for every room', () => {
  const rooms = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.parentPath !== join(ROOT, 'src'))
    .map((entry) => `${join(entry.parentPath, entry.name).slice(join(ROOT, 'src/').length)}/`)
  expect(placesNamed(2).sort()).toEqual(rooms.sort())
})

test('docs/architecture.md has a row for every folder and every file at the root of src/', () => {
  const named = placesNamed(1)
  const places = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
  expect(named.sort()).toEqual(places.map((place) => (place.isDirectory() ? `${place.name}/` : place.name)).sort())
})

test('no two flags of one command share an environment twin with different meaning', () => {
  for (const { spec } of commands) {
    if (!Array.isArray(spec.flags)) continue
    const names = [...SHARED_FLAGS, ...spec.flags].map(twinName)
    expect(new Set(names).size, spec.name).toBe(names.length)
  }
})

test('no environment variable is both the twin of a flag and a key of the configuration', () => {
  const keys = new Set(KEYS.map(environmentName))
  expect(allFlags.map(twinName).filter((name) => keys.has(name))).toEqual([])
})

test('every document that code and tests name is there', () => {
  const named = ['src', 'test', 'build', 'bench'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
      .flatMap((name) =>
        [...readFileSync(join(ROOT, folder, name), 'utf8').matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([file]) => file),
      ),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})

test('every section of design.md that code and tests cite is there', () => {
  const sections = new Set(
    [...readFileSync(join(ROOT, 'docs/design.md'), 'utf8').matchAll(/^#{2,3} (\d(?:\.\d)?)\.? /gm)].map(
      ([, number]) => number,
    ),
  )
  const cited = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => {
        const text = readFileSync(join(ROOT, folder, name), 'utf8').replaceAll(/\n\s*(?:\/\/|\*)\s*/g, ' ')
        return [...text.matchAll(/design\.md,? (?:section )?(\d(?:\.\d)?)(?: and (\d\.\d))?/g)].flatMap(
          ([, one, two]) => [[name, one], ...(two === undefined ? [] : [[name, two]])],
        )
      }),
  )
  expect(cited.length).toBeGreaterThan(10)
  expect(cited.filter(([, number]) => !sections.has(number!))).toEqual([])
})
