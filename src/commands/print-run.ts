// Prints the result of a run and hands its exit code on.
import type { RunResult } from '../sync/summary.ts'
import type { CommandContext } from './command.ts'

export async function printRun(context: CommandContext, result: RunResult): Promise<number> {
  context.progress.finish()
  if (context.json) {
    await context.print(result.summary)
  } else if (!context.quiet) {
    const { runText } = await import('./run-text.ts')
    await context.print(runText(result))
  }
  return result.exitCode
}
