// Prints the result of a run, tells what ended it early, and hands its exit code on.
import { MirrorError } from '../../errors.ts'
import type { RunResult } from '../../sync/summary.ts'
import { calledAs } from './called-as.ts'
import type { CommandContext } from './command.ts'

/** `path`: the mirror; null for a dry run. */
export async function printRun(context: CommandContext, result: RunResult, path: string | null): Promise<number> {
  context.progress.finish()
  const { summary, notes, error, exitCode } = result
  const { runId } = summary
  const isText = !context.json && !context.quiet
  const isDryRun = path === null
  if (context.json) await context.print(isDryRun ? { ...summary, dryRun: true } : summary)
  // A run that was refused before it asked anything has nothing to sum up.
  if (isText && (summary.requests > 0 || error === null)) {
    const { runText } = await import('../text/run.ts')
    await context.print(runText(result, { path, isDryRun, width: context.columns, command: calledAs(context.env) }))
  } else {
    for (const note of notes) context.log.warn({ runId }, note)
  }
  if (error !== null) context.tell(await inWords(context, result, path), { runId })
  return exitCode
}

/** Of a run that was stopped, what was kept counts, not what it was waiting for. */
async function inWords({ signal }: CommandContext, { summary, error }: RunResult, path: string | null) {
  if (summary.outcome !== 'interrupted' || !(signal.reason instanceof MirrorError)) return error
  const { stoppedText } = await import('../text/run.ts')
  return new MirrorError('interrupted', stoppedText(signal.reason.message, summary, path), { cause: error })
}
