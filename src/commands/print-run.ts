// Prints the result of a run, tells what ended it early, and hands its exit code on.
import type { RunResult } from '../sync/summary.ts'
import type { CommandContext } from './command.ts'

export async function printRun(context: CommandContext, result: RunResult): Promise<number> {
  context.progress.finish()
  const { summary, notes, error, exitCode } = result
  const isText = !context.json && !context.quiet
  if (context.json) await context.print(summary)
  // A run that was refused before it asked anything has nothing to sum up.
  if (isText && (summary.requests > 0 || error === null)) {
    const { runText } = await import('./text/run.ts')
    await context.print(runText(result, context.columns))
  } else {
    for (const note of notes) context.log.warn({ runId: summary.runId }, note)
  }
  if (error !== null) context.tell(error)
  return exitCode
}
