import { openSession } from '../../src/sync/writer/session.ts'

interface RunOptions {
  asksDetails: boolean
  /** `--rebind`. */
  acceptOthers?: boolean
  dryRun?: boolean
}

/** The writer of one run of `sync` that begins at `now`, epoch ms, on a mirror at `path`; `DONE` is final. The caller closes it. */
export function openRun(path: string, now: number, { asksDetails, acceptOthers = false, dryRun = false }: RunOptions) {
  return openSession({
    path,
    command: 'sync',
    now,
    toolVersion: '0',
    busyTimeoutMs: 0,
    fileMode: 0o600,
    rejectedMaxBytes: 1_000_000,
    finalStatuses: ['DONE'],
    settleMs: 60_000,
    openEveryMs: 86_400_000,
    asksDetails,
    acceptOthers,
    dryRun,
    gathering: { pieces: 1, ms: 0 },
  })
}
