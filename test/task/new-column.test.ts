// The recipe of docs/architecture.md for a new column, followed in a scratch copy of the source: a mirror made before keeps
// its hashes, the next full walk fills the column, and every format carries it.
import { execFile } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parquetReadObjects } from 'hyparquet'
import { expect, test } from 'vitest'
import { TASK_COLUMNS } from '../../src/task/columns.ts'
import { makeStage } from '../acceptance/stage.ts'
import { IN_TURN } from '../support/cli.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** The source with a column `added`, which must be none of those that there are, by the recipe. */
async function withColumn(folder: string): Promise<string> {
  for (const part of ['src', 'build']) cpSync(`${ROOT}${part}`, `${folder}/${part}`, { recursive: true })
  cpSync(`${ROOT}package.json`, `${folder}/package.json`)
  symlinkSync(`${ROOT}node_modules`, `${folder}/node_modules`)
  const table = `${folder}/src/task/columns.ts`
  const line = `  { number: ${TASK_COLUMNS.length}, name: 'added', path: ['added'], kind: 'integer' },\n`
  writeFileSync(table, readFileSync(table, 'utf8').replace(/(?= {2}\{ number: 15)/, line))
  const comment = '-- Made up.\nALTER TABLE tasks ADD COLUMN added INTEGER; -- 1 to 9\n'
  writeFileSync(`${folder}/src/mirror/migrations/9999_added.sql`, comment)
  await run(process.execPath, [`${folder}/build/publish-columns.ts`])
  return `${folder}/src/program.ts`
}

test('a column added by the recipe: old hashes hold, the next full walk fills it, exports carry it', async () => {
  await using stage = await makeStage({ tasks: 40, openFraction: 0 })
  const { account } = stage.simulator
  for (const [index, id] of account.ids().entries()) {
    const task = JSON.parse(account.get(id) as string)
    account.replaceText(id, JSON.stringify({ ...task, own: true, added: 1 + (index % 9) }))
  }
  expect((await stage.sync()).code).toBe(0)
  const tasksOf = (lines: string) => JSON.parse(`[${lines.trim().replaceAll('\n', ',')}]`)
  const before = tasksOf((await stage.runHere(['export', '--out', '-'])).stdout)
  expect((await stage.runHere(['export', '--out', `${stage.dir}/lake/`, '--format', 'ndjson'])).code).toBe(0)
  const csvHead = (csv: string) => csv.split('\r\n')[0]
  const headBefore = csvHead((await stage.runHere(['export', '--out', '-', '--format', 'csv'])).stdout)

  const program = await withColumn(`${stage.dir}/source`)
  // The second process on finds the source without its types.
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: `${stage.dir}/compiled`,
    TASK_MIRROR_BASE_URL: stage.simulator.url,
  }
  /** What each command prints. To read the source takes one process longer than all of them. */
  const later = async (...lines: string[]): Promise<string[]> =>
    JSON.parse((await run(process.execPath, [IN_TURN, program, ...lines], { cwd: stage.dir, env })).stdout)
  // Readers, before any run has migrated the mirror. In a task's text the new column stands before other members.
  const [, unmigrated] = await later('verify', 'export --out -', 'verify --snapshot lake/ --deep')
  expect(tasksOf(unmigrated!)).toEqual(before)
  const [, , exported, csv] = await later(
    'sync --full',
    'verify',
    'export --out -',
    'export --out - --format csv',
    'export --out tasks.parquet --compression none',
  )
  expect(stage.value(`SELECT count(*) FROM tasks WHERE added BETWEEN 1 AND 9 AND extra = '{"own":true}'`)).toBe(40)
  expect(tasksOf(exported!)).toEqual(before)
  expect(csvHead(csv!)).toBe(`${headBefore},added`)
  const bytes = readFileSync(`${stage.dir}/tasks.parquet`)
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
  const rows = await parquetReadObjects({ file, columns: ['added'] })
  expect(rows.reduce((sum, { added }) => sum + Number(added), 0)).toBe(4 * 45 + 10)
})
