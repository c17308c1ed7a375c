// The run on the writing side: what it begins with, and what it writes down of itself; and its walks, from beginning to
// verdict: what is recorded of each, by its evidence, and what it did not meet.
import { ageOf } from '../../clock.ts'
import { MirrorError } from '../../errors.ts'
import { Met } from '../../mirror/tables/evidence.ts'
import { believedFacts, type Facts, writeFacts } from '../../mirror/tables/facts.ts'
import type { RunCounts, RunEnd } from '../../mirror/tables/runs.ts'
import { haveUnreadChanged, type ReadAgain, type SetAside } from '../../mirror/tables/set-aside.ts'
import type { WalkEnd, WalkKind, WalkRow } from '../../mirror/tables/walks.ts'
import { Unproven } from '../../proof/judge.ts'
import { settleByWalk } from './replay-intake.ts'
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

/** `begun`: when the run began, epoch ms. */
export function runIntake(writing: Writing, begun: number) {
  const { db, runId, runs, walks, evidence, commit, earlierMoment, settleMs } = writing
  const { tasks, owed } = writing.tables

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
      commit(() => {
        writeFacts(db, facts, now)
        if (facts.base_url === undefined || !writing.rules.acceptOthers) return
        // Bound to what may be another account: no walk over the list of the one before proves anything, or is resumed.
        evidence.disown()
        evidence.forget(null)
      })
      writing.renewRules()
    },

    setAsideItem: (item: SetAside, now: number): void => commit(() => writing.setAside(item, now)),

    haveUnreadChanged: (read: ReadAgain): boolean =>
      haveUnreadChanged(db, { ...read, lastFull: walks.lastFull('complete')?.finishedAt ?? null }),

    counts: (): RunCounts => runs.counts(runId),
    setPlan: (steps: string[]): void => commit(() => runs.setPlan(runId, steps)),
    endRun: (run: RunEnd, now: number): void => commit(() => runs.end(runId, run, now)),
  }
}

export interface WalkEnded extends WalkEnd {
  walkId: number
  /** What the kernel of proof was told since the last step, as JSON text. */
  evidence: string
  facts: Facts
  /** Rows that the walk did not meet become candidates, and set-aside items are settled: complete full walks only. */
  candidates: boolean
  now: number
}

export function walkIntake(writing: Writing) {
  const { runId, walks, evidence } = writing
  const { tasks, owed } = writing.tables

  /** Judges the evidence: no other code is believed where it says `complete`. In words why it is not; null if it is. */
  function seal(walkId: number): string | null {
    try {
      evidence.seal(walkId)
      return null
    } catch (error) {
      if (error instanceof Unproven) return error.message
      throw error
    }
  }

  /**
   * Owes a look-up by id of what the walk did not meet, though it was there when the walk began. What this run has seen
   * is left to a later run: one server may not show yet what another one does.
   */
  function oweMissing(walkId: number, now: number): void {
    const { seen, missed, settleMs } = writing
    missed.clear()
    for (const seq of writing.marks(walkId).missing()) {
      const live = tasks.liveIdOf(seq)
      if (live === undefined) continue
      if (!seen.has(seq)) owed.owe(live, 'candidate', now)
      else {
        missed.add(seq)
        if (owed.find(live, 'candidate') === undefined) owed.hide(live, now, { now, next: now + settleMs })
      }
    }
  }

  return {
    beginWalk(kind: WalkKind, range: { since: number | null; until: number | null }, now: number): number {
      return writing.commit(() => {
        const walkId = walks.begin(
          { runId, kind, rangeSince: range.since, rangeUntil: range.until, maxSeqAtStart: tasks.highestSeq() },
          now,
        )
        // Only a full walk is ever resumed, and only the latest.
        evidence.forget(kind === 'full' ? walkId : (walks.interrupted()?.id ?? null))
        writing.mend()
        return walkId
      })
    },

    /** Ends a walk and owes what it did not meet: its facts. Throws `bug` if complete without evidence. */
    endWalk(ended: WalkEnded): Facts {
      const { walkId, now } = ended
      writing.throwBroken()
      const facts = { ...ended.facts }
      const unproven = writing.commit(() => {
        walks.end(walkId, ended, now)
        evidence.add(walkId, ended.evidence, new Met())
        const why = ended.verdict === 'complete' ? seal(walkId) : null
        if (why !== null) walks.end(walkId, { verdict: 'partial', reason: 'not-proven', ordering: null }, now)
        else {
          if (ended.candidates) {
            settleByWalk(writing, walks.get(walkId) as WalkRow, now, now)
            // Also what it met before it was cut off, which the run that goes on with it may not have seen.
            writing.dropListed(writing.marks(walkId).has)
            oweMissing(walkId, now)
          }
          if (facts.total !== undefined) facts.total_rows = tasks.liveCount() - writing.unlistedCount()
          writeFacts(writing.db, facts, now)
        }
        return why
      })
      if (unproven !== null) throw notProven(walkId, unproven)
      return facts
    },

    walk: (walkId: number): WalkRow | null => walks.get(walkId),
    lastFull: (): WalkRow | null => walks.lastFull(),
  }
}

function notProven(walkId: number, why: string): MirrorError {
  return new MirrorError('bug', `Walk ${walkId} was to be called complete, which its evidence does not show: ${why}`, {
    hint: 'It is written down as partial; the next run walks again. Unless somebody has changed the mirror, please report it.',
  })
}
