// Every check of `doctor`, in order. Writes nothing, takes no lock, and sends at most two requests to the service.
import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { readApiKey } from '../config/api-key.ts'
import type { LoadedConfig } from '../config/load.ts'
import { checkTarget, plainBaseUrl } from '../config/target.ts'
import { isMirrorError } from '../errors.ts'
import { danglingTarget, filesOfMirror, realMirrorPath, refusePlantedMirror } from '../mirror/files.ts'
import { refuseDangling } from '../mirror/inspect.ts'
import { mountHolding, refuseSecondName } from '../mirror/mounts.ts'
import { readFirstRows, withReader } from '../mirror/open.ts'
import { type History, readHistory } from '../mirror/shown/history.ts'
import { walBytes } from '../mirror/wal.ts'
import { makeTimetable } from '../schedule/timetable.ts'
import { moment } from '../shown.ts'
import type { RunContext } from '../sync/context.ts'
import { reachService } from '../sync/one-off/reach.ts'
import { thisCaller } from '../trust.ts'
import { type Check, type CheckName, note, ok, wrong, wrongBy } from './check.ts'
import { lastRunCheck, scheduleCheck, verdictCheck } from './history-checks.ts'
import { fileFacts, holdersOf, roomIn } from './machine.ts'
import { diskCheck, folderCheck, keyFileCheck, mirrorFilesCheck, nodeCheck, walCheck } from './machine-checks.ts'
import { fileSystemCheck } from './mounts.ts'
import { clockCheck, keyCheck, serviceCheck } from './service-checks.ts'

interface Examined {
  env: NodeJS.ProcessEnv
  /** Throws `config-invalid`. */
  config(): Promise<LoadedConfig>
  /** What talking to the service needs beside configuration and key. */
  context: Omit<RunContext, 'config' | 'apiKey'>
}

/** Throws `interrupted` only. */
export async function examine({ env, config, context }: Examined): Promise<Check[]> {
  const node = nodeCheck(process.versions.node, process.execPath)
  let loaded: LoadedConfig
  try {
    loaded = await config()
  } catch (error) {
    if (!isMirrorError(error)) throw error
    const { hint } = error
    return [
      node,
      ...error.message.split('\n').map((message) => wrongBy('configuration', { message, hint })),
      ...notLooked(AFTER_CONFIGURATION, 'the configuration cannot be read'),
    ]
  }
  const now = context.now()
  const { settleMs } = loaded.config.sync
  const key = lookAtKey(env, loaded)
  const mirror = lookAtMirror(loaded, now)
  return [
    node,
    ok(
      'configuration',
      loaded.file === null ? 'no file; flags, environment and defaults' : `from ${resolve(loaded.file)}`,
    ),
    key.check,
    ...mirror.checks,
    ...(await lookAtService(loaded, key.apiKey, mirror.history, context)),
    ...(mirror.history === null
      ? notLooked(['schedule', 'last run', 'verdict'], mirror.why)
      : [
          lookAtSchedule(loaded, mirror.history, now),
          lastRunCheck(mirror.history.lastRun, now, settleMs),
          verdictCheck(mirror.history, now, settleMs),
        ]),
  ]
}

const OF_SERVICE: readonly CheckName[] = ['service', 'key', 'clock']
const AFTER_CONFIGURATION: readonly CheckName[] = [
  ...(['key file', 'folder', 'mirror', 'file system', 'disk', 'WAL'] as const),
  ...OF_SERVICE,
  ...(['schedule', 'last run', 'verdict'] as const),
]

const notLooked = (names: readonly CheckName[], why: string): Check[] =>
  names.map((name) => note(name, `not checked: ${why}`))

/** `apiKey` is undefined where the key cannot be read. */
function lookAtKey(
  env: NodeJS.ProcessEnv,
  { config }: LoadedConfig,
): { check: Check; apiKey: string | null | undefined } {
  try {
    const { key, origin } = readApiKey(env)
    const path = origin === 'TASK_MIRROR_API_KEY_FILE' ? env.TASK_MIRROR_API_KEY_FILE : undefined
    const file = path === undefined ? null : fileFacts(path)
    const isWanted = config.service.auth.placement !== 'none'
    return { check: keyFileCheck({ origin, file, isWanted }, thisCaller()?.uid ?? null), apiKey: key }
  } catch (error) {
    if (!isMirrorError(error)) throw error
    return { check: wrongBy('key file', error), apiKey: undefined }
  }
}

/** `why`: the reason where there is no history. */
function lookAtMirror(
  { config }: LoadedConfig,
  now: number,
): { checks: Check[]; history: History | null; why: string } {
  const path = realMirrorPath(resolve(config.mirror.path))
  const folder = dirname(path)
  const found = fileFacts(folder)
  const opened = openMirror(path, config, now)
  const files = filesOfMirror(path)
    .map(fileFacts)
    .filter((file) => file !== null)
  const mirrorBytes = files[0]?.path === path ? statSync(path).size : 0
  const bytes = walBytes(path)
  const checks = [
    ...(found === null && danglingTarget(config.mirror.path) !== null
      ? notLooked(['folder'], 'the mirror is a link to what is not there')
      : [folderCheck(folder, found)]),
    (opened.isOurs && files[0]?.path === path ? mirrorFilesCheck(files) : null) ?? opened.check,
    fileSystemCheck(mountHolding(folder)),
    ...(found === null ? notLooked(['disk'], 'there is no folder') : [diskCheck(roomIn(folder, mirrorBytes))]),
    walCheck(bytes, holdersOf(path), path),
  ]
  return { checks, history: opened.history, why: opened.why }
}

/** `isOurs`: nothing shows that another program, or a newer version of this one, made the file. */
interface OpenedMirror {
  check: Check
  history: History | null
  why: string
  isOurs: boolean
}

function openMirror(
  path: string,
  { service: { baseUrl }, sync: { settleMs }, mirror }: LoadedConfig['config'],
  now: number,
): OpenedMirror {
  const why = 'the mirror cannot be read'
  try {
    refuseDangling(mirror.path)
    refusePlantedMirror(mirror.path)
    refuseSecondName(mirror.path)
    const history = withReader(path, (db) => {
      readFirstRows(db)
      return readHistory(db, now, settleMs)
    })
    const isOther =
      baseUrl !== null && history.baseUrl !== null && plainBaseUrl(history.baseUrl) !== plainBaseUrl(baseUrl)
    const check = isOther
      ? wrong(
          'mirror',
          `${path} belongs to ${history.baseUrl}, the configuration names ${baseUrl}`,
          'Name another file with --db; if the service has moved, `task-mirror sync --rebind`.',
        )
      : ok('mirror', path)
    return { check, history, why, isOurs: true }
  } catch (error) {
    if (isMirrorError(error, 'mirror-missing')) {
      const none = note(
        'mirror',
        `there is none at ${path}`,
        'The first `task-mirror sync` makes it; --db names another one.',
      )
      return { check: none, history: null, why: 'there is no mirror', isOurs: true }
    }
    if (isMirrorError(error)) {
      const isOurs = isMirrorError(error, 'mirror-unreadable', 'mirror-unwritable')
      return { check: wrongBy('mirror', error), history: null, why, isOurs }
    }
    const { message } = error as Error
    const odd = wrong(
      'mirror',
      `${path} cannot be read: ${message}`,
      'Check it with `task-mirror verify`, or restore a copy.',
    )
    return { check: odd, history: null, why, isOurs: true }
  }
}

async function lookAtService(
  { config }: LoadedConfig,
  apiKey: string | null | undefined,
  history: History | null,
  context: Examined['context'],
): Promise<Check[]> {
  if (apiKey === undefined) return notLooked(OF_SERVICE, 'the key cannot be read')
  const until = history?.notBefore ?? null
  if (until !== null && until > context.now()) {
    return notLooked(OF_SERVICE, `the service asked to be left alone until ${moment(until)}`)
  }
  try {
    checkTarget(config, apiKey)
    const reached = await reachService({ ...context, config, apiKey })
    const { origin } = new URL(config.service.baseUrl as string)
    const hasKey = apiKey !== null && config.service.auth.placement !== 'none'
    return [serviceCheck(origin, reached), keyCheck(hasKey, reached), clockCheck(reached)]
  } catch (error) {
    if (!isMirrorError(error) || error.code === 'interrupted') throw error
    return [wrongBy('service', error), ...notLooked(['key', 'clock'], 'the service was not asked')]
  }
}

function lookAtSchedule({ config, origins }: LoadedConfig, history: History, now: number): Check {
  const { sync, timezone } = config.schedule
  try {
    const isSet = sync !== null && origins['schedule.sync'] !== 'default'
    return scheduleCheck({
      starts: history.syncStarts,
      isUnfinished: history.isSyncUnfinished,
      timetable: isSet ? makeTimetable(sync, timezone, 'schedule.sync') : null,
      now,
      settleMs: config.sync.settleMs,
    })
  } catch (error) {
    if (!isMirrorError(error)) throw error
    return wrongBy('schedule', error)
  }
}
