// What is owed besides open tasks: details, candidates for deletion, tombstones that are asked for again.
import type { Owed, OwedReason } from '../../mirror/tables/owed.ts'
import type { Writing } from './writing.ts'

export function owedWork(writing: Writing) {
  const { seen } = writing
  const { owed } = writing.tables
  const tombstonesAsked = new Set<string>()

  return {
    /** Ids of details and candidates that are due, oldest check first; without candidates that this run has met. */
    due(reason: 'detail' | 'candidate', now: number): string[] {
      const isDue = ({ seq }: Owed) => reason === 'detail' || !seen.has(seq)
      return owed.due(reason, now, isDue).map(({ taskId }) => taskId)
    },
    /** Tombstones to ask for again, each once in a run. */
    dueTombstones(dueBy: number, now: number, limit: number): string[] {
      const due: string[] = []
      for (const id of owed.dueTombstones(dueBy)) {
        if (due.length >= limit) break
        if (!tombstonesAsked.has(id)) due.push(id)
      }
      for (const id of due) tombstonesAsked.add(id)
      if (due.length > 0) {
        writing.commit(() => {
          for (const id of due) owed.owe(id, 'deleted', now)
        })
      }
      return due
    },
    /** Whether the detail of one of `ids` came to be owed at `since`, epoch ms, or later. */
    areOwedSince: (ids: string[], since: number): boolean =>
      ids.some((id) => (owed.find(id, 'detail')?.owedAt ?? 0) >= since),
    owedCount: (reason: OwedReason): number => owed.count(reason),
    /** How many owed details are not expected any moment. */
    unexpectedCount: (now: number): number => owed.unexpectedCount(now),
    /** Drops the candidates that this run has met. */
    dropMetCandidates(): void {
      const met = owed.due('candidate', Number.MAX_SAFE_INTEGER, ({ seq }) => seen.has(seq))
      if (met.length === 0) return
      writing.commit(() => {
        for (const { taskId } of met) owed.settle(taskId, 'candidate')
      })
    },
    oweAllDetails: (now: number, { since, until }: { since: number | null; until: number | null }): void =>
      writing.commit(() => owed.oweAllDetails(now, since, until)),
  }
}
