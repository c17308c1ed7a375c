// The steps of `demo`. Prints while it works, and writes only its own files in the given folder.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { configSchema } from '../config/schema.ts'
import { EXIT, isMirrorError, MirrorError } from '../errors.ts'
import { exportSnapshot } from '../export/export.ts'
import { makeParents } from '../export/publish/folder.ts'
import { filesInUse, refuseInUse } from '../export/publish/in-use.ts'
import { explainSnapshot } from '../export/publish/publish.ts'
import { parseExact } from '../json.ts'
import type { Db } from '../mirror/connect.ts'
import { inspect } from '../mirror/inspect.ts'
import { withReader } from '../mirror/open.ts'
import { sameContent, shapeTask } from '../mirror/shape.ts'
import { runQuery, SAMPLE_QUERIES } from '../mirror/shown/sample-queries.ts'
import { readStatus } from '../mirror/shown/status.ts'
import { readTask } from '../mirror/tables/tasks.ts'
import { calledAs, countText } from '../shown.ts'
import type { Account } from '../simulator/account.ts'
import { startSimulator } from '../simulator/server.ts'
import type { RunResult } from '../sync/conclude.ts'
import type { RunContext } from '../sync/context.ts'
import { runSync } from '../sync/run.ts'
import type { Task } from '../task.ts'
import { toolVersion } from '../version.ts'
import type { CommandContext } from './shared/command.ts'
import { farewell } from './text/demo.ts'
import { exportText } from './text/export.ts'
import { table } from './text/layout.ts'
import { runText } from './text/run.ts'

interface DemoResult {
  schemaVersion: 1
  exitCode: number
  /** Whether the mirror, at the end, holds every task of the account and nothing else. */
  equal: boolean
  tasks: number
  files: string[]
}

type Say = (text: string) => Promise<void>

const TASKS = 5_000
const KEY = 'demo-key'
const NAMES = { mirror: 'demo-mirror.sqlite', parquet: 'demo-tasks.parquet', ndjson: 'demo-tasks.ndjson' }

/** Throws `usage-invalid` where the folder holds other files or the configured mirror; `snapshot-unwritable`. */
export async function runDemo(context: CommandContext, folder: string): Promise<DemoResult> {
  const inUse = filesInUse((await context.config()).config.mirror.path, await context.filesInUse())
  for (const name of Object.values(NAMES)) refuseInUse(join(folder, name), inUse)
  try {
    clearFolder(folder)
    await makeParents(join(folder, NAMES.mirror))
  } catch (error) {
    throw explainSnapshot(join(folder, NAMES.mirror), error)
  }
  const files = {
    mirror: join(folder, NAMES.mirror),
    parquet: join(folder, NAMES.parquet),
    ndjson: join(folder, NAMES.ndjson),
  }
  const say = async (text: string) => {
    if (!context.json) await context.print(text)
  }
  const simulator = await startSimulator({ tasks: TASKS, key: KEY, latencyMs: 5, oddities: 0.02 })
  try {
    const { account } = simulator
    await say(`1. A simulated account of ${countText(account.listed, 'task')} at ${simulator.url}\n`)
    const runContext = demoContext(context, simulator.url, files.mirror)

    await say('2. First sync: everything')
    const first = await step(runContext, false, say, context.columns)
    const changes = changeAccount(account)
    await say(`3. Meanwhile on the service: ${changes}\n`)
    await say('4. Second sync: only what is new or open')
    const second = await step(runContext, false, say, context.columns)
    await say('5. Full sync: also finds what was deleted')
    const third = await step(runContext, true, say, context.columns)

    await say('6. Snapshots')
    for (const out of [files.parquet, files.ndjson]) {
      const { redactHeaders } = runContext.config.export
      const { signal, now } = context
      const result = await exportSnapshot({
        dbPath: files.mirror,
        out,
        redact: redactHeaders,
        toolVersion: toolVersion(),
        signal,
        now,
      })
      await say(`${exportText(result, context.columns)}\n`)
    }
    const equal = await compare(files.mirror, account, say)
    await askQueries(files.mirror, say, context.columns)
    const exitCode = equal ? Math.max(first.exitCode, second.exitCode, third.exitCode) : EXIT.partial
    await say(farewell(files, calledAs(context.env)))
    return { schemaVersion: 1, exitCode, equal, tasks: account.listed, files: Object.values(files) }
  } finally {
    await simulator.close()
  }
}

/** Removes only files that a demo made. A folder that holds anything else is left as it is. */
function clearFolder(folder: string): void {
  const present = existsSync(folder) ? readdirSync(folder) : []
  const isOurs = (name: string) =>
    Object.values(NAMES).some((own) => name.replace(/^\./, '').startsWith(own)) &&
    (name !== NAMES.mirror || isMirror(join(folder, name)))
  const foreign = present.find((name) => !isOurs(name))
  if (foreign !== undefined) {
    throw new MirrorError('usage-invalid', `${folder} holds other files, such as ${foreign}`, {
      hint: 'Name an empty or a new folder with --out.',
    })
  }
  for (const name of present) rmSync(join(folder, name), { force: true })
}

function isMirror(path: string): boolean {
  try {
    return inspect(path) !== 'missing'
  } catch (error) {
    if (isMirrorError(error, 'mirror-foreign')) return false
    throw error
  }
}

function demoContext(context: CommandContext, baseUrl: string, path: string): RunContext {
  const { $schema: _, ...config } = configSchema.parse({ service: { baseUrl }, mirror: { path } })
  const { log, progress, signal, now, random } = context
  // The steps are printed on stdout; info lines in the log would repeat them.
  const calm = { ...log, info: log.debug }
  return { config, apiKey: KEY, log: calm, progress, signal, now, random }
}

async function step(context: RunContext, full: boolean, say: Say, width: number | undefined): Promise<RunResult> {
  const result = await runSync(context, { command: 'sync', full })
  await say(`${runText(result, { width })}\n`)
  if (result.error !== null) throw result.error
  return result
}

function changeAccount(account: Account): string {
  const created = account.insert(40).length
  const finished = account.finish(60).length
  const removed = account.remove(10).length
  return `${created} tasks created, ${finished} finished, ${removed} deleted`
}

/** Whether the mirror holds exactly the tasks of the account, each with the same content. */
async function compare(path: string, account: Account, say: Say): Promise<boolean> {
  const isEqual = (db: Db) =>
    readStatus(db).tasks.live === account.listed &&
    account.ids().every((id) => {
      const stored = readTask(db, id)
      const sent = shapeTask(parseExact(account.get(id)!) as Task)
      return stored !== null && stored.deletedAt === null && sameContent(stored.row, sent)
    })
  const equal = withReader(path, isEqual)
  const answer = equal ? `Yes: all ${countText(account.listed, 'task')}, digit for digit.` : 'No.'
  await say(`7. Is the mirror equal to the account?\n${answer}\n`)
  return equal
}

async function askQueries(path: string, say: Say, width: number | undefined): Promise<void> {
  await say('8. Questions in SQL, asked of the mirror\n')
  for (const { question, sql } of SAMPLE_QUERIES) {
    const { columns, rows } = withReader(path, (db) => runQuery(db, sql))
    await say(`${question}\n\n${sql.replace(/^/gm, '    ')}\n\n${table(columns, rows, { width })}\n`)
  }
}
