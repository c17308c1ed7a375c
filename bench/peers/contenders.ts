// Who is compared, each with the settings its users would take and the best we found: what to run, and where the rows
// are afterwards. The settings themselves are the small files in the folders beside this one.
import { fileURLToPath } from 'node:url'
import { type Environment, environmentOf, type Missing } from '../environment.ts'
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
const requirements = (name: string) => `${HERE}${name}/requirements.txt`

/** Every peer whose packages can be had; the others with the reason. */
export async function peers(): Promise<{ there: Peer[]; missing: Record<string, string> }> {
  const there: Peer[] = []
  const missing: Record<string, string> = {}
  const add = (name: string, environment: Environment | Missing, make: (bin: string) => Omit<Peer, 'name'>) => {
    if ('reason' in environment) missing[name] = environment.reason
    else there.push({ name, ...make(environment.bin) })
  }
  const script = (name: string, setting: string, bin: string, run: string[], file: string): Contender => {
    const command = (base: string, folder: string, page: number) => [...run, base, folder, String(page)]
    return { name, setting, first: command, again: command, bin, file, table: 'tasks' }
  }

  add('dlt', await environmentOf('dlt', [requirements('dlt')]), (bin) => ({
    packages: ['dlt', 'duckdb'],
    contenders: ['usual', 'best'].map((setting) =>
      script('dlt', setting, bin, [`${bin}/python`, `${HERE}dlt/${setting}.py`], 'lake.duckdb'),
    ),
  }))
  add('Airbyte', await environmentOf('airbyte', [requirements('airbyte')]), (bin) => ({
    packages: ['airbyte-cdk', 'airbyte', 'duckdb'],
    contenders: ['usual', 'best'].map((setting) =>
      script('Airbyte', setting, bin, [`${bin}/python`, '-W', 'ignore', `${HERE}airbyte/${setting}.py`], 'lake.duckdb'),
    ),
  }))
  const meltano = await environmentOf('meltano', [requirements('meltano'), `${HERE}meltano/target.txt`])
  add('Meltano', meltano, (bin) => ({
    packages: ['singer-sdk'],
    contenders: ['usual', 'best'].map((setting) =>
      script('Meltano', setting, bin, ['sh', `${HERE}meltano/${setting}.sh`], 'tasks.sqlite'),
    ),
  }))
  add('curl, jq, sqlite-utils', await environmentOf('shell', [requirements('shell')]), (bin) => ({
    packages: ['sqlite-utils'],
    contenders: ['usual', 'best'].map((setting) =>
      script('curl, jq, sqlite-utils', setting, bin, ['sh', `${HERE}shell/${setting}.sh`], 'tasks.sqlite'),
    ),
  }))
  return { there, missing }
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
