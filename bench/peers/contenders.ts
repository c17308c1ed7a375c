// Who is compared, each with the settings its users would take and the best we found: what to run, and where the rows
// are afterwards. The settings themselves are the small files in the folders beside this one.
import { fileURLToPath } from 'node:url'
import { environmentOf, type Missing } from '../environment.ts'
import { programPath } from '../stage.ts'

export interface Contender {
  /** Such as `dlt`; two settings of one peer have the same name. */
  name: string
  setting: string
  /** The command of the first and of every later run. `folder` is its own; `page` the most tasks a window holds. */
  first(base: string, folder: string, page: number): string[]
  again(base: string, folder: string, page: number): string[]
  /** Folder of programs it finds first. */
  bin: string | null
  /** Name of the file in its folder, and of the table in it. */
  file: string
  table: string
}

export interface Peer {
  name: string
  /** Programs and packages with their versions, for the reader. */
  packages: readonly string[]
  contenders: readonly Contender[]
}

const HERE = fileURLToPath(new URL('.', import.meta.url))

interface Tool {
  name: string
  /** Its folder beside this file: requirements, and a script for each setting. */
  folder: string
  packages: readonly string[]
  /** What runs a script of its environment. */
  run: (bin: string, script: string) => string[]
  ending: 'py' | 'sh'
  file: string
  /** Requirements that are installed after the others. */
  more?: string
}

const python = (bin: string, script: string) => [`${bin}/python`, '-W', 'ignore', script]
const shell = (_bin: string, script: string) => ['sh', script]

const TOOLS: readonly Tool[] = [
  { name: 'dlt', folder: 'dlt', packages: ['dlt', 'duckdb'], run: python, ending: 'py', file: 'lake.duckdb' },
  {
    name: 'Airbyte',
    folder: 'airbyte',
    packages: ['airbyte-cdk', 'airbyte', 'duckdb'],
    run: python,
    ending: 'py',
    file: 'lake.duckdb',
  },
  {
    name: 'Meltano',
    folder: 'meltano',
    packages: ['singer-sdk'],
    run: shell,
    ending: 'sh',
    file: 'tasks.sqlite',
    more: 'target.txt',
  },
  {
    name: 'curl, jq, sqlite-utils',
    folder: 'shell',
    packages: ['sqlite-utils'],
    run: shell,
    ending: 'sh',
    file: 'tasks.sqlite',
  },
]

/** Every peer in its usual and its best settings; where the packages of one cannot be had, the reason instead. */
export async function peers(): Promise<Peer[] | Missing> {
  const all: Peer[] = []
  for (const { name, folder, packages, run, ending, file, more } of TOOLS) {
    const files = ['requirements.txt', ...(more === undefined ? [] : [more])].map((text) => `${HERE}${folder}/${text}`)
    const environment = await environmentOf(folder, files)
    if ('reason' in environment) return environment
    const { bin } = environment
    const contenders = ['usual', 'best'].map((setting): Contender => {
      const command = (base: string, own: string, page: number) => [
        ...run(bin, `${HERE}${folder}/${setting}.${ending}`),
        base,
        own,
        String(page),
      ]
      return { name, setting, first: command, again: command, bin, file, table: 'tasks' }
    })
    all.push({ name, packages, contenders })
  }
  return all
}

/** task-mirror and the plain loop, which need nothing from PyPI. */
export function ours(): Contender[] {
  const mirror = (setting: string, ...later: string[]): Contender => {
    const sync = (base: string, folder: string, ...more: string[]) => [
      process.execPath,
      programPath(),
      'sync',
      ...more,
      '--base-url',
      base,
      '--db',
      `${folder}/mirror.sqlite`,
      '--quiet',
    ]
    return {
      name: 'task-mirror',
      setting,
      first: (base, folder) => sync(base, folder),
      again: (base, folder) => sync(base, folder, ...later),
      bin: null,
      file: 'mirror.sqlite',
      table: 'live_tasks',
    }
  }
  const loop = (base: string, folder: string) => [
    process.execPath,
    fileURLToPath(new URL('../plain/loop.ts', import.meta.url)),
    base,
    `${folder}/tasks.sqlite`,
  ]
  return [
    mirror('sync'),
    mirror('sync --full', '--full'),
    {
      name: 'a plain loop in JavaScript',
      setting: 'usual',
      first: loop,
      again: loop,
      bin: null,
      file: 'tasks.sqlite',
      table: 'tasks',
    },
  ]
}
