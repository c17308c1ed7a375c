// `doctor`: checks in one go what operators often get wrong, and says what to do about each.
import { EXIT } from '../errors.ts'
import { calledAs } from '../shown.ts'
import type { CommandSpec } from './shared/command.ts'

export const doctor: CommandSpec = {
  name: 'doctor',
  summary:
    'check Node, key, rights, disk, service, clock and the last runs, and say what to do; exit 3 where something is wrong',
  examples: ['task-mirror doctor', 'task-mirror doctor --json | jq \'.checks[] | select(.state == "wrong")\''],
  flags: [],
  async run(context) {
    const { examine } = await import('../doctor/examine.ts')
    const { doctorText } = await import('./text/doctor.ts')
    const checks = await examine({ env: context.env, config: context.config, context })
    const isWell = checks.every(({ state }) => state !== 'wrong')
    const text = () => doctorText(checks, context.columns, calledAs(context.env))
    await context.print(context.json ? { schemaVersion: 1, ok: isWell, checks } : text())
    return isWell ? EXIT.done : EXIT.partial
  },
}
