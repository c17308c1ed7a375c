// `simulate`: serves the built-in simulator of the service until it is told to stop.
import { once } from 'node:events'
import type { CommandSpec, Flag } from './shared/command.ts'

/** The longest placeholder shown beside a flag, in characters, such as `<front|middle|behind>`. */
const LONGEST_VALUE = 24

export const simulate: CommandSpec = {
  name: 'simulate',
  summary: 'serve the built-in simulator of the service',
  examples: [
    'task-mirror simulate --port 8090 --tasks 20000',
    'task-mirror sync --base-url http://127.0.0.1:8090',
    'task-mirror simulate --order shuffled --cap-items 100 --fault-rate 0.05',
  ],
  flags: simulatorFlagList,
  untilSignal: true,
  async run(context, given) {
    const { startSimulator } = await import('../simulator/server.ts')
    const { simulatorOptions, simulatorFlags } = await import('../simulator/options.ts')
    const keys = new Set<string>(simulatorFlags().map(({ key }) => key))
    const options = simulatorOptions(Object.fromEntries(Object.entries(given).filter(([name]) => keys.has(name))))
    const simulator = await startSimulator(options)
    try {
      const { url, port } = simulator
      const tasks = simulator.account.listed
      await context.print(
        context.json ? { schemaVersion: 1, url, port, tasks } : `Serving ${tasks} tasks at ${url} until it is stopped.`,
      )
      if (!context.signal.aborted) await once(context.signal, 'abort')
    } finally {
      await simulator.close()
    }
    return 0
  },
}

/** The simulator's own table of options as flags. Loaded only where the command is named. */
async function simulatorFlagList(): Promise<Flag[]> {
  const { simulatorFlags } = await import('../simulator/options.ts')
  return simulatorFlags().map(({ flag, value, about, default: preset }) => {
    // Long lists of choices go into the description: beside the flag they would leave no room for it.
    const isLong = value !== null && value.length > LONGEST_VALUE
    const choices = isLong ? `: ${value.slice(1, -1).split('|').join(', ')}` : ''
    const ending = preset === null || value === null ? '' : ` (default: ${preset})`
    return {
      flags: value === null ? flag : `${flag} ${isLong ? '<name>' : value}`,
      description: `${about}${choices}${ending}`,
    }
  })
}
