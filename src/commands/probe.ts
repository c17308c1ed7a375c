// `probe`: asks the service what its documentation leaves open, prints the answers and stores them.
import { EXIT, MirrorError } from '../errors.ts'
import type { CommandSpec } from './shared/command.ts'

export const probe: CommandSpec = {
  name: 'probe',
  summary:
    'ask the service the questions its interface leaves open; at most 60 requests, which change nothing there; the mirror keeps the answers',
  examples: ['task-mirror probe --base-url https://tasks.example.com', 'task-mirror probe --json | jq .answers.order'],
  flags: [],
  async run(context) {
    const { serviceContext } = await import('./shared/service-context.ts')
    const { probeService } = await import('../sync/probe/probe.ts')
    const { probeText } = await import('./text/probe.ts')
    const { result, exitCode } = await probeService(await serviceContext(context))
    await context.print(context.json ? result : probeText(result, context.columns))
    if (exitCode === EXIT.done) return exitCode
    throw new MirrorError('key-refused', 'The service lists tasks, but refuses the key for single ones', {
      hint: 'Check the key, and how it is sent: service.auth.placement, name, prefix and on.',
    })
  },
}
