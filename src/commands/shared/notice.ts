// Wraps the work of a command so that log, metrics file and monitor learn how it ended (notify/run-notice.ts).
import type { Log } from '../../log.ts'
import type { EndedRun } from '../../notify/fields.ts'
import { withNotice } from '../../notify/run-notice.ts'
import { toolVersion } from '../../version.ts'
import type { CommandContext } from './command.ts'

export async function tellingOthers<T>(
  context: CommandContext,
  command: string,
  work: (log: Log) => Promise<T>,
  describe: (result: T) => EndedRun,
): Promise<T> {
  const { config } = await context.config()
  const { signal, now } = context
  // A person at the terminal reads the summary; the line in the log would repeat it.
  const log = context.attended ? { ...context.log, info: context.log.debug } : context.log
  const told = { config, log, signal, now, toolVersion: toolVersion(), inUse: await context.filesInUse() }
  return withNotice(told, command, work, describe)
}
