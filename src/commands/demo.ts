// `demo`: the whole job against the simulator in one process, with the real client over loopback HTTP and real files.
import { MirrorError } from '../errors.ts'
import type { CommandSpec } from './shared/command.ts'

export const demo: CommandSpec<{ out?: string }> = {
  name: 'demo',
  summary: 'show the whole job on a simulated account: sync, changes, sync, export, queries',
  examples: ['task-mirror demo', 'task-mirror demo --out /tmp/task-mirror-demo'],
  flags: [{ flags: '--out <folder>', description: 'where the files go (default: demo)' }],
  async run(context, { out = 'demo' }) {
    if (out === '') throw new MirrorError('usage-invalid', '--out is empty', { hint: 'Name an empty or a new folder.' })
    const { runDemo } = await import('./demo-steps.ts')
    const result = await runDemo(context, out)
    if (context.json) await context.print(result)
    return result.exitCode
  },
}
