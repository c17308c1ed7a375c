// What `--json` prints is what docs/json.md lists: the page is made of lines that the types are held against (build/json-fields.ts);
// here what is printed is held against them, field by field, in many states.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { namedCommands } from '../build/commands-document.ts'
import { COMMANDS_TOLD, jsonDocument, refuseUntold } from '../build/json-document.ts'
import { JSON_CHAPTERS, type JsonFields, LOG_FIELDS } from '../build/json-fields.ts'
import { startSimulator } from '../src/simulator/server.ts'
import { changeMirror } from './support/change-mirror.ts'
import { runHere } from './support/cli.ts'
import { makeScratch } from './support/scratch.ts'

const PAGE = fileURLToPath(new URL('../docs/json.md', import.meta.url))
const SRC = fileURLToPath(new URL('../src', import.meta.url))

const fieldsOf = (title: string): JsonFields => JSON_CHAPTERS.find((chapter) => chapter.title === title)!.fields

/** Fields of a line of the log: those of runs may all be absent. */
const LINE_FIELDS: JsonFields = {
  ...Object.fromEntries(
    Object.entries({ ...fieldsOf('sync, backfill'), ...fieldsOf('export') }).map(([path, line]) => [
      path,
      `absent or ${line}`,
    ]),
  ),
  ...LOG_FIELDS,
}

/** What a line says a value may be: `number`, `null`, `absent`. */
const kindsOf = (line: string): string[] =>
  line
    .slice(0, line.indexOf(': '))
    .replace(/ \((?!share).*?\)/, '')
    .split(' or ')

function isOfKind(value: unknown, kind: string): boolean {
  if (kind === 'any') return true
  if (kind === 'number') return Number.isInteger(value)
  if (kind === 'number (share)') return typeof value === 'number'
  if (Array.isArray(value))
    return kind.startsWith('array of ') && value.every((each) => isOfKind(each, kind.slice('array of '.length)))
  return kind === (value === null ? 'null' : typeof value)
}

/** What is wrong with an object. `paths`: where it stands, as it is and as lines may name it; `seen` takes the lines it needed. */
function problemsOf(value: unknown, fields: JsonFields, seen: Set<string>, paths: readonly string[] = ['']): string[] {
  if (Array.isArray(value))
    return value.flatMap((each) =>
      problemsOf(
        each,
        fields,
        seen,
        paths.map((path) => `${path}[]`),
      ),
    )
  if (typeof value !== 'object' || value === null) return []
  const below = (name: string) => paths.map((path) => (path === '' ? name : `${path}.${name}`))
  const wrong = Object.entries(value).flatMap(([name, member]) => {
    const all = [...below(name), ...below('*')]
    const path = all.find((one) => one in fields)
    if (path === undefined) return [`${all[0]} is printed, and the page does not have it`]
    seen.add(path)
    const kinds = kindsOf(fields[path]!)
    if (!kinds.some((kind) => isOfKind(member, kind))) return [`${all[0]} is ${JSON.stringify(member)}, not ${kinds}`]
    return kinds.includes('any') ? [] : problemsOf(member, fields, seen, all)
  })
  const missing = Object.entries(fields)
    .filter(([path, line]) => {
      const name = path.split('.').at(-1)!
      const isHere = name !== '*' && below(name).includes(path)
      return isHere && !kindsOf(line).includes('absent') && !(name in value)
    })
    .map(([path]) => `${path} is not printed, and the page has it`)
  return [...wrong, ...missing]
}

test('docs/json.md is what `npm run docs` writes', () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(jsonDocument())
})

test('docs/json.md has a chapter for every command, in their order', async () => {
  const names = (await namedCommands()).map(({ name }) => name)
  const remedy = 'chapters stand in build/json-fields.ts, in the order of src/commands/index.ts'
  expect(COMMANDS_TOLD, remedy).toEqual(names)
  expect(() => refuseUntold([...names, 'made-up'])).toThrow('no chapter on made-up: ')
})

test('docs/json.md has every field that a line of the log is given from level info on', () => {
  expect(namesLogged().length).toBeGreaterThan(20)
  expect(namesLogged().filter((name) => !(name in LINE_FIELDS))).toEqual([])
})

test('what is printed has the fields of the page and no others, and each field of the page is printed somewhere', async () => {
  using scratch = makeScratch()
  let refused = ''
  await using simulator = await startSimulator({
    seed: 7,
    tasks: 60,
    key: KEY,
    openFraction: 0.1,
    faults: ({ id }) => (id === refused ? { status: 403 } : null),
  })
  const { account } = simulator
  const env = {
    TASK_MIRROR_BASE_URL: simulator.url,
    TASK_MIRROR_API_KEY: KEY,
    TASK_MIRROR_DB: scratch.path('mirror.sqlite'),
  }
  const seen = new Map(JSON_CHAPTERS.map(({ title }) => [title, new Set<string>()]))
  const problems: string[] = []
  const logged = new Set(namesLogged())
  /** Runs a command, and holds what it prints and logs against the page. */
  async function look(args: string[], code = 0): Promise<void> {
    const staysUp = ['schedule', 'simulate'].includes(args[0]!)
    const { code: ended, stdout, stderr } = await runHere([...args, '--json'], env, undefined, staysUp)
    expect({ args, code: ended }, stderr).toEqual({ args, code })
    const { title, fields } = chapterOf(args)
    const found = problemsOf(JSON.parse(stdout), fields, seen.get(title)!)
    const lines = stderr.split('\n').filter((line) => line !== '')
    problems.push(
      ...[...found, ...lines.flatMap((line) => problemsOfLine(line, logged))].map(
        (problem) => `${args.join(' ')}: ${problem}`,
      ),
    )
  }
  const change = (sql: string): void => {
    changeMirror(env.TASK_MIRROR_DB, sql)
  }

  // Before there is a mirror.
  for (const args of [['doctor'], ['config', 'show'], ['completion', 'zsh'], ['datasette-config']]) await look(args)
  await look(['simulate', '--tasks', '3'])
  await look(['sync', '--dry-run'])

  // The list has an item without an id, which is set aside; it leaves something out, and has a field that no detail has.
  for (const id of account.ids()) {
    const { result, ...task } = JSON.parse(account.get(id)!)
    const listed = { listed: 1, ...task, ...(result && { result: { ...result, body: undefined } }) }
    account.replaceText(id, JSON.stringify(id === account.idAt(30) ? { ...listed, id: '' } : listed), account.get(id)!)
  }
  await look(['sync'], 3)
  await look(['sync', '--full', '--max-duration', '1ms'], 4)
  await look(['rejected', '--raw'])
  await look(['rejected', '--replay'], 3)
  // A position that cannot be read is passed: what its walk proves rests on that.
  account.options.poison.push('50')
  Object.assign(env, { TASK_MIRROR_SERVICE_MAX_RETRIES: '0' })
  await look(['sync', '--full'], 3)
  await look(['verify', '--proof'])
  Object.assign(env, { TASK_MIRROR_SERVICE_MAX_RETRIES: undefined })
  account.options.poison.pop()
  account.remove([account.idAt(40)])
  account.insert(3)
  await look(['sync', '--full'])
  await look(['backfill', '--since', '30d', '--until', '10d'])
  await look(['probe'])
  for (const out of ['lake/', 'tasks.ndjson']) await look(['export', '--out', scratch.path(out)])
  await look(['export', '--out', scratch.path('lake/'), '--changes', '--keep', '1'])
  await look(['copy', '--out', scratch.path('copy.sqlite')])
  await look(['report', '--out', scratch.path('report.html')])
  await look(['schedule', '--listen', '127.0.0.1:0'])
  for (const args of [['status'], ['doctor'], ['verify'], ['verify', '--proof']]) await look(args)
  await look(['verify', '--snapshot', scratch.path('lake'), '--deep'])
  await look(['get', account.idAt(5), '--refresh', '--with-meta'])
  await look(['prune', '--deleted-before', '0d'])

  // Where something is wrong.
  change(`UPDATE tasks SET accuracy = 'another' WHERE id = '${account.idAt(5)}'`)
  account.remove([account.idAt(6)])
  refused = account.idAt(7)
  await look(['verify', '--service', '--sample', 'all'], 3)
  writeFileSync(scratch.path('lake/latest.json'), '{}')
  await look(['verify', '--snapshot', scratch.path('lake')], 7)
  change("UPDATE tasks SET content_hash = x'00' WHERE seq = 1; UPDATE walk_evidence SET lines = '[]'")
  await look(['verify'], 7)
  await look(['verify', '--proof'], 7)
  await look(['restore', scratch.path('copy.sqlite')])

  expect(problems).toEqual([])
  // A demo takes longer than all others together, and test/commands/demo.test.ts runs it.
  const unseen = JSON_CHAPTERS.filter(({ title }) => title !== 'demo').flatMap(({ title, fields }) =>
    Object.keys(fields)
      .filter((path) => !seen.get(title)!.has(path))
      .map((path) => `${title}: ${path}`),
  )
  expect(unseen, 'add a command line above that prints each').toEqual([])
  // These two are told of a run that waits longer than ten seconds.
  const waits = ['waitMs', 'waitingFor']
  expect(Object.keys(LOG_FIELDS).filter((name) => !logged.has(name))).toEqual(waits)
})

const KEY = 'made-up'

/** Names of the fields in calls such as `log.info({ plan, run: 1 }, 'Run begins')`. */
function namesLogged(): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [
      ...readFileSync(join(SRC, name), 'utf8').matchAll(/\blog(?:\.(?:info|warn|error)|\[level\])\(\s*\{([^}]*)\}/g),
    ])
    .flatMap(([, members]) => [...members!.matchAll(/(?:^|,)\s*(\w+)/g)].map(([, name]) => name!))
}

/** The one of most words, flags among them. */
function chapterOf(args: readonly string[]) {
  const words = (title: string) => title.split(' ')
  const fitting = JSON_CHAPTERS.filter(({ title }) =>
    title.split(', ').some((one) => words(one).every((word) => args.includes(word))),
  )
  return fitting.sort((a, b) => words(b.title).length - words(a.title).length)[0]!
}

/** Of a line of the log: it has no field that the page does not have, but for the facts of errors. */
function problemsOfLine(line: string, seen: Set<string>): string[] {
  const told = JSON.parse(line)
  const fields = { ...LINE_FIELDS }
  if (told.level !== 'error') delete fields['*']
  return problemsOf(told, fields, seen).map((problem) => `log: ${problem}`)
}
