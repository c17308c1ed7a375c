// `verify`: checks the mirror by itself, the mirror against the service, or what was published.
import { EXIT, MirrorError } from '../errors.ts'
import type { SnapshotVerified } from '../export/verify/verify.ts'
import type { CommandContext, CommandSpec } from './shared/command.ts'
import { AT_LEAST_ONE, isAtLeastOne } from './shared/values.ts'

interface VerifyFlags {
  service?: true
  sample?: number
  snapshot?: string
  deep?: true
  proof?: true
}

const SAMPLE = 100

export const verify: CommandSpec<VerifyFlags> = {
  name: 'verify',
  summary: 'check the mirror itself, its proof, a sample of it against the service, or a snapshot',
  examples: [
    'task-mirror verify',
    'task-mirror verify --proof',
    'task-mirror verify --service --sample 500',
    'task-mirror verify --snapshot snapshots/ --deep',
  ],
  flags: [
    {
      flags: '--proof',
      description:
        'judge anew the evidence that the last complete full walk, and those since, missed no task; exit 3 where there is none, 7 where it does not hold',
    },
    {
      flags: '--service',
      description:
        'compare random live tasks with the service, digit for digit, and how many it lists; exit 3 where they differ',
    },
    {
      flags: '--sample <number>',
      description: `how many tasks --service compares, or all (default: ${SAMPLE})`,
      parse: parseSample,
    },
    {
      flags: '--snapshot <folder>',
      description:
        'check what was published there: manifest, sizes, checksums, row counts; exit 7 where something is wrong',
    },
    { flags: '--deep', description: 'with --snapshot, compare every row with the mirror' },
  ],
  async run(context, { service, sample, snapshot, deep, proof }) {
    refuseMixed({ service, sample, snapshot, deep, proof })
    if (proof === true) return verifyEvidence(context)
    if (service === true) return verifyAgainstService(context, sample ?? SAMPLE)
    if (snapshot !== undefined) return verifyPublished(context, snapshot, deep === true)
    return verifyFile(context)
  },
}

function refuseMixed({ service, sample, snapshot, deep, proof }: VerifyFlags): void {
  const refuse = (message: string, hint = 'Run verify once for each.') =>
    new MirrorError('usage-invalid', message, { hint })
  const whats = [proof === true && '--proof', service === true && '--service', snapshot !== undefined && '--snapshot']
  const [first, second] = whats.filter((flag) => flag !== false)
  if (second !== undefined) throw refuse(`${first} cannot be combined with ${second}`)
  if (sample !== undefined && service !== true) throw refuse('--sample is for --service', 'Add --service.')
  if (deep === true && snapshot === undefined) throw refuse('--deep is for --snapshot', 'Add --snapshot FOLDER.')
}

function parseSample(text: string, name: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY
  if (isAtLeastOne(text)) return Number(text)
  throw new MirrorError('usage-invalid', `${name}: "${text}" is neither ${AT_LEAST_ONE} nor all`)
}

async function verifyFile(context: CommandContext): Promise<number> {
  const { config } = await context.config()
  const { verifyMirror } = await import('../mirror/maintenance/verify.ts')
  const { mirrorText } = await import('./text/verify.ts')
  const { signal, progress } = context
  const result = await verifyMirror(config.mirror.path, {
    signal,
    onProgress: (phase, done, total) => progress.set({ phase, done, total }),
  })
  await context.print(context.json ? { schemaVersion: 1, mirror: result } : mirrorText(result, context.columns))
  if (result.faults.length === 0) return EXIT.done
  throw new MirrorError('mirror-damaged', `The mirror ${result.path} is not as it should be`, {
    facts: { faults: result.faults.map(({ check }) => check).join(' ') },
    hint: 'Restore a copy of the file, or move it away and run `task-mirror sync`, which reads everything again.',
  })
}

async function verifyEvidence(context: CommandContext): Promise<number> {
  const { config } = await context.config()
  const { verifyProof } = await import('../mirror/maintenance/proof.ts')
  const { proofText } = await import('./text/verify.ts')
  const result = await verifyProof(config.mirror.path, context.signal)
  await context.print(context.json ? { schemaVersion: 1, proof: result } : proofText(result, context.columns))
  if (result.faults.length > 0) {
    throw new MirrorError('mirror-damaged', `The proof in ${result.path} does not hold`, {
      facts: { walks: result.faults.map(({ walkId }) => walkId).join(' ') },
      hint: 'Somebody changed the mirror: run `task-mirror verify`, then `task-mirror sync --full`, which proves it anew.',
    })
  }
  if (result.walks.length > 0) return EXIT.done
  const what = 'holds no proof: no full walk of this version was complete yet'
  throw new MirrorError('mirror-unproven', `The mirror ${result.path} ${what}`, {
    facts: { path: result.path },
    hint: 'Run `task-mirror sync --full`.',
  })
}

async function verifyAgainstService(context: CommandContext, sample: number): Promise<number> {
  const { serviceContext } = await import('./shared/service-context.ts')
  const { verifyService } = await import('../sync/one-off/verify.ts')
  const { serviceText } = await import('./text/verify.ts')
  const result = await verifyService(await serviceContext(context), sample)
  await context.print(context.json ? { schemaVersion: 1, service: result } : serviceText(result, context.columns))
  const { problems, total } = result
  if (problems.length === 0) return EXIT.done
  throw new MirrorError('partial', `The mirror is not equal to the service: ${problems.join('; ')}`, {
    facts: { inTheList: total.service, inTheMirror: total.mirror, setAside: total.setAside },
    hint: 'Tasks that came, changed or went since the last run count too: run `task-mirror sync --full`, then this again.',
  })
}

async function verifyPublished(context: CommandContext, folder: string, deep: boolean): Promise<number> {
  const { config } = await context.config()
  const { read } = await import('./shared/reading.ts')
  const { snapshotText } = await import('./text/verify.ts')
  const asked = { dir: folder, deep, dbPath: config.mirror.path, env: context.env, s3: config.export.s3 }
  const result = await read(context, 'verifySnapshot', asked, { phase: 'verify files' })
  await context.print(context.json ? { schemaVersion: 1, snapshot: result } : snapshotText(result, context.columns))
  if (result.ok) return EXIT.done
  if (result.problems.every(({ check }) => check === 'content' || check === 'absent')) throw otherThanMirror(result)
  throw new MirrorError('snapshot-damaged', `What was published at ${result.place} is not as it should be`, {
    facts: { problems: result.problems.length },
    hint: 'Export once more; snapshots that are damaged can be removed.',
  })
}

/** Every file matches its checksum, so it is what was published: removing files now might lose good data. */
function otherThanMirror({ place, snapshots, problems }: SnapshotVerified): MirrorError {
  const differing = new Set(problems.map(({ snapshotId }) => snapshotId))
  const unknown = snapshots.find(({ snapshotId, deep }) => differing.has(snapshotId) && deep?.known === false)
  const why =
    unknown === undefined
      ? 'Check the mirror with `task-mirror verify`'
      : `The mirror has no row about ${unknown.snapshotId}: it may have been restored or made anew since`
  return new MirrorError('snapshot-damaged', `The files at ${place} are intact, but their rows are not the mirror's`, {
    facts: { problems: problems.length },
    hint: `${why}. Remove nothing for this; \`verify --snapshot\` without --deep checks the files by themselves.`,
  })
}
