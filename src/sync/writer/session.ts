// Everything that happens on the writing connection: windows that are ready (prepare.ts) and details are looked up and
// committed, with the walks, the run and what is owed. Synchronous, so that nothing can await inside a transaction. Runs
// in the writer thread (worker.ts), and directly in tests; knows the mirror and the wire format, not the network.
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ageOf } from '../../clock.ts'
import { MirrorError } from '../../errors.ts'
import { commitsTo, type Gathering } from '../../mirror/commits.ts'
import type { Db } from '../../mirror/connect.ts'
import { explaining } from '../../mirror/explain.ts'
import { takeLock } from '../../mirror/lock.ts'
import { beginTrial, closeWriter, endTrial, openWriter } from '../../mirror/open.ts'
import { evidenceTable } from '../../mirror/tables/evidence.ts'
import { believedFacts, type Facts, formsOf, readFacts, writeFacts } from '../../mirror/tables/facts.ts'
import { Bits, type Marks, openMarks } from '../../mirror/tables/marks.ts'
import { type OwedReason, OwedTable } from '../../mirror/tables/owed.ts'
import { type RunCounts, type RunEnd, runTable } from '../../mirror/tables/runs.ts'
import { type SetAside, setAsideTable } from '../../mirror/tables/set-aside.ts'
import { TaskTable } from '../../mirror/tables/tasks.ts'
import { type WalkRow, walkTable } from '../../mirror/tables/walks.ts'
import { walBytes } from '../../mirror/wal.ts'
import type { Detail } from '../../service/decode/wire.ts'
import { detailIntake } from './details-intake.ts'
import { formIntake } from './form-intake.ts'
import { FormSample } from './form-sample.ts'
import { heldTasks } from './held-tasks.ts'
import type { Tables } from './intake.ts'
import { openDue } from './open-due.ts'
import { owedWork } from './owed-work.ts'
import { replayIntake } from './replay-intake.ts'
import { walkIntake } from './walk-intake.ts'
import { windowIntake } from './windows.ts'
import type { Writing } from './writing.ts'

export interface SessionOptions {
  path: string
  command: string
  /** Epoch ms. */
  now: number
  toolVersion: string
  busyTimeoutMs: number
  fileMode: number
  rejectedMaxBytes: number
  finalStatuses: string[]
  /** The longest that an open task waits for its next check, ms. */
  openEveryMs: number
  /** A stored moment later than now by more than this is unknown (clock.ts). */
  settleMs: number
  /** Whether a part the list does not carry owes a detail. */
  oweDetails: boolean
  /** A known id with another `createdAt` or `userId` replaces the task instead of being set aside. */
  acceptOthers: boolean
  /** Everything is rolled back at the end; a mirror that is missing is made elsewhere and removed. */
  dryRun: boolean
  /** Windows that share a transaction. What a kill takes back is asked for again by the next run. */
  gathering: Gathering
}

export interface Opened {
  runId: number
  /** Without moments that lie in the future. */
  facts: Facts
  /** How far in the future the last run ended, ms; null where it did not: this is the first to see that a clock was wrong. */
  future: number | null
  lastFull: WalkRow | null
  lastCompleteFull: WalkRow | null
  interrupted: WalkRow | null
  liveTasks: number
  owed: Record<Exclude<OwedReason, 'deleted'>, number>
}

export type Session = ReturnType<typeof openSession>

/** Takes the lock, opens the mirror and begins the run. Throws what `takeLock` and `openWriter` throw. */
export function openSession(options: SessionOptions) {
  const { path } = options
  const scratch = options.dryRun && !existsSync(path) ? mkdtempSync(join(tmpdir(), 'task-mirror-dry-')) : null
  const lock = scratch === null ? takeLock(path, options.command, options.now) : null
  const release = (): void => {
    lock?.release()
    if (scratch !== null) rmSync(scratch, { recursive: true, force: true })
  }
  let db: Db
  try {
    db = openWriter(scratch === null ? path : join(scratch, 'mirror.sqlite'), options)
  } catch (error) {
    release()
    throw error
  }
  try {
    if (options.dryRun) beginTrial(db)
    return beginSession(db, options, release)
  } catch (error) {
    db.close()
    release()
    throw error
  }
}

/** Begins the run on an open mirror; `release` is called when it is closed. */
export function beginSession(db: Db, options: SessionOptions, release: () => void) {
  const tables: Tables = {
    tasks: new TaskTable(db),
    owed: new OwedTable(db, options.settleMs),
    setAside: setAsideTable(db, options.rejectedMaxBytes),
  }
  const { tasks, owed, setAside } = tables
  const walks = walkTable(db)
  const evidence = evidenceTable(db)
  const runs = runTable(db)
  const seen = new Bits()
  const file = statSync(db.name).ino
  let broken: { error: unknown } | null = null
  let marks: { walkId: number; of: Marks } | null = null

  /** What is kept in memory beside the mirror is read again. */
  function onRollback(error: unknown): void {
    broken ??= { error }
    marks = null
    tasks.reload()
    setAside.reload()
    seen.dropAbove(tasks.highestSeq())
  }

  const { commit, gather, flush, count } = commitsTo(db, options.path, options.gathering, onRollback)

  const future = futureOf(runs.lastMoment(), options)
  const runId = commit(() => {
    writeFacts(db, { final_statuses: options.finalStatuses }, options.now)
    return runs.begin(options.command, options.toolVersion, options.now)
  })

  const writing: Writing = {
    db,
    runId,
    tables,
    rules: {
      finalStatuses: new Set(options.finalStatuses),
      oweDetails: options.oweDetails,
      acceptOthers: options.acceptOthers,
      forms: formsOf(readFacts(db)),
    },
    openEveryMs: options.openEveryMs,
    sample: new FormSample(),
    compared: new Map(),
    walks,
    evidence,
    runs,
    seen,
    unfitMet: new Set(),
    detailReadAt: new Map(),
    marks(walkId) {
      if (marks === null || marks.walkId !== walkId) {
        if (marks !== null) writing.unfitMet.clear()
        marks = { walkId, of: openMarks(db, walkId) }
      }
      return marks.of
    },
    pieces: count,
    commit,
    gather,
    throwBroken() {
      if (broken !== null) throw broken.error
    },
    mend() {
      broken = null
    },
  }

  const details = new Map<number, Detail>()

  return {
    ...walkIntake(writing, options.acceptOthers),
    ...windowIntake(writing),
    ...detailIntake(writing, details),
    ...formIntake(writing, details),
    ...replayIntake(writing),
    ...openDue(writing),
    ...owedWork(writing),
    ...heldTasks(writing),

    opened(): Opened {
      return {
        runId,
        facts: believedFacts(db, options.now, options.settleMs),
        future,
        lastFull: walks.lastEnded('full'),
        lastCompleteFull: walks.lastEnded('full', 'complete'),
        interrupted: walks.interrupted(),
        liveTasks: tasks.liveCount(),
        owed: { open: owed.count('open'), detail: owed.count('detail'), candidate: owed.count('candidate') },
      }
    },

    setFacts(facts: Facts, now: number): void {
      commit(() => writeFacts(db, facts, now))
      writing.rules.forms = formsOf(readFacts(db))
    },

    setAsideItem: (item: SetAside, now: number): boolean =>
      commit(() => {
        const added = setAside.add(item, runId, now)
        if (added) runs.count(runId, { rejected: 1 })
        return added
      }),

    /** Commits the windows that were taken in; throws what they could not be committed for, where no call has. */
    flush,

    counts: (): RunCounts => runs.counts(runId),
    setPlan: (steps: string[]): void => commit(() => runs.setPlan(runId, steps)),
    endRun: (run: RunEnd, now: number): void => commit(() => runs.end(runId, run, now)),

    /**
     * Ends the connection and gives the lock back, whatever happens; windows gathered since the last commit are lost, so
     * `endRun` comes before. Returns the size in bytes of a WAL that readers keep from being folded back. Throws where
     * the disk keeps it (nothing is lost, the next run folds it back), and where somebody has taken the file away, which
     * SQLite does not notice.
     */
    close(): number {
      try {
        endTrial(db)
        explaining(options.path, () => closeWriter(db))
        if (statSync(db.name, { throwIfNoEntry: false })?.ino !== file) throw takenAway(options.path)
      } finally {
        release()
      }
      return walBytes(options.path)
    },
  }
}

function takenAway(path: string): MirrorError {
  return new MirrorError('mirror-unreadable', `${path} was removed or replaced while this run wrote to it`, {
    facts: { path },
    hint: 'What this run took in went with it; run the same command again, and move a mirror only between runs.',
  })
}

function futureOf(moment: number | null, { now, settleMs }: SessionOptions): number | null {
  return moment === null || ageOf(moment, now, settleMs) !== null ? null : moment - now
}
