// Wraps the work of a command so that log, metrics file and monitor learn how it ended (notify/run-notice.ts).
import type { Config } from '../../config/schema.ts'
import type { ExportResult } from '../../export/export.ts'
import type { Log } from '../../log.ts'
import { describeExport, describeRun } from '../../notify/fields.ts'
import { withNotice } from '../../notify/run-notice.ts'
import type { RunResult } from '../../sync/summary.ts'
import { toolVersion } from '../../version.ts'
import type { CommandContext } from './command.ts'

interface Notice {
  ofRun(command: string, work: (log: Log) => Promise<RunResult>): Promise<RunResult>
  /** `exitCodeOf` says what the result stands for. */
  ofExport(work: () => Promise<ExportResult>, exitCodeOf: (result: ExportResult) => number): Promise<ExportResult>
}

export async function noticeOf(context: CommandContext, config: Config): Promise<Notice> {
  const { signal, now } = context
  // A person reads the summary; the line in the log would say it twice.
  const log = context.attended ? { ...context.log, info: context.log.debug } : context.log
  const told = { config, log, signal, now, toolVersion: toolVersion(), inUse: await context.filesInUse() }
  return {
    ofRun: (command, work) => withNotice(told, command, work, describeRun),
    ofExport: (work, exitCodeOf) =>
      withNotice(told, 'export', work, (result) => describeExport(result, exitCodeOf(result))),
  }
}
