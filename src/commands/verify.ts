// `verify`: the mirror by itself, or the mirror against the service.
import { EXIT, MirrorError } from '../errors.ts'
import type { CommandContext, CommandSpec } from './command.ts'
import { atLeastOne } from './values.ts'

interface VerifyFlags {
  service?: true
  sample?: number
}

const SAMPLE = 100

export const verify: CommandSpec<VerifyFlags> = {
  name: 'verify',
  summary: 'check the mirror itself, or a sample of it against the service',
  examples: ['task-mirror verify', 'task-mirror verify --service --sample 500'],
  flags: [
    {
      flags: '--service',
      description: 'compare random live tasks with the service, digit for digit; exit 3 where they differ',
    },
    { flags: '--sample <number>', description: `how many (default: ${SAMPLE})`, parse: atLeastOne },
  ],
  async run(context, { service, sample }) {
    if (service === true) return verifyAgainstService(context, sample ?? SAMPLE)
    if (sample !== undefined) {
      throw new MirrorError('usage-invalid', '--sample is for --service', { hint: 'Without it every row is checked.' })
    }
    return verifyFile(context)
  },
}

async function verifyFile(context: CommandContext): Promise<number> {
  const { config } = await context.config()
  const { verifyMirror } = await import('../mirror/verify.ts')
  const { mirrorText } = await import('./verify-text.ts')
  const { signal, progress } = context
  const result = await verifyMirror(config.mirror.path, {
    signal,
    onProgress: (phase, done, total) => progress.set({ phase, done, total }),
  })
  progress.finish()
  await context.print(context.json ? { schemaVersion: 1, mirror: result } : mirrorText(result))
  if (result.faults.length === 0) return EXIT.done
  context.tell(
    new MirrorError('mirror-damaged', `The mirror ${result.path} is not as it should be`, {
      facts: { faults: result.faults.map(({ check }) => check).join(' ') },
      hint: 'Restore a copy of the file, or move it away and run `task-mirror sync`, which reads everything again.',
    }),
  )
  return EXIT.mirror
}

async function verifyAgainstService(context: CommandContext, sample: number): Promise<number> {
  const { serviceContext } = await import('./service-context.ts')
  const { verifyService } = await import('../sync/verify.ts')
  const { serviceText } = await import('./verify-text.ts')
  const { exitCode, ...result } = await verifyService(await serviceContext(context), sample)
  await context.print(context.json ? { schemaVersion: 1, service: result } : serviceText(result))
  return exitCode
}
