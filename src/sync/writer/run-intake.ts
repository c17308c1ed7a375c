// The run on the writing side: what it begins with, and what it writes down of itself.
import { ageOf } from '../../clock.ts'
import { believedFacts, type Facts, writeFacts } from '../../mirror/tables/facts.ts'
import type { RunCounts, RunEnd } from '../../mirror/tables/runs.ts'
import { haveUnreadChanged, type SetAside } from '../../mirror/tables/set-aside.ts'
import type { WalkRow } from '../../mirror/tables/walks.ts'
import type { Writing } from './writing.ts'

export interface Opened {
  runId: number
  /** Without moments that lie in the future. */
  facts: Facts
  /** How far in the future the last run ended, ms; else null. This run is the first to see that a clock was wrong. */
  future: number | null
  lastFull: WalkRow | null
  lastCompleteFull: WalkRow | null
  /** A full walk that was cut off. */
  interrupted: WalkRow | null
  liveTasks: number
  openTasks: number
}

/** `now`: when the run began, epoch ms; `settleMs`: see `WritingOptions`. */
export function runIntake(writing: Writing, { now: begun, settleMs }: { now: number; settleMs: number }) {
  const { db, runId, runs, walks, commit, earlierMoment } = writing
  const { tasks, owed, setAside } = writing.tables

  return {
    opened(): Opened {
      const isAhead = earlierMoment !== null && ageOf(earlierMoment, begun, settleMs) === null
      return {
        runId,
        facts: believedFacts(db, begun, settleMs),
        future: isAhead ? earlierMoment - begun : null,
        lastFull: walks.lastFull(),
        lastCompleteFull: walks.lastFull('complete'),
        interrupted: walks.interrupted(),
        liveTasks: tasks.liveCount(),
        openTasks: owed.count('open'),
      }
    },

    setFacts(facts: Facts, now: number): void {
      commit(() => writeFacts(db, facts, now))
      writing.renewRules()
    },

    setAsideItem: (item: SetAside, now: number): void =>
      commit(() => {
        if (setAside.add(item, runId, now)) runs.count(runId, { rejected: 1 })
      }),

    haveUnreadChanged: (from: number, since: number): boolean =>
      haveUnreadChanged(db, { from, since, lastFull: walks.lastFull('complete')?.finishedAt ?? null }),

    counts: (): RunCounts => runs.counts(runId),
    setPlan: (steps: string[]): void => commit(() => runs.setPlan(runId, steps)),
    endRun: (run: RunEnd, now: number): void => commit(() => runs.end(runId, run, now)),
  }
}
