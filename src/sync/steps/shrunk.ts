// A list that is empty, or suddenly much shorter than it was, is more often a fault of the service than the truth: no
// walk over it is complete, whatever the plan, until --allow-mass-delete accepts it.
import type { WalkKind } from '../../mirror/tables/walks.ts'
import type { WalkResult } from '../../walk/request.ts'
import { learn, type Run } from '../context.ts'
import { readBeside } from './beside.ts'
import { isMassDelete } from './deletions.ts'

interface ShrinkLimits {
  massDeleteFraction: number
  massDeleteMinimum: number
}

/** Whether a list of `listed` items is too short to be believed where there were `before`. Pure. */
export function isMuchShorter(listed: number, before: number, limits: ShrinkLimits): boolean {
  if (before <= 0) return false
  const gone = before - listed
  return listed === 0 || isMassDelete(gone, before, limits.massDeleteFraction, limits.massDeleteMinimum)
}

/** The last index at which a list has to have an item if it is to be believed. Pure. */
export function lastBelieved(before: number, { massDeleteFraction, massDeleteMinimum }: ShrinkLimits): number {
  return Math.max(1, Math.ceil(before - Math.max(massDeleteMinimum, before * massDeleteFraction))) - 1
}

/** What a walk saw: how many tasks it met, and how many items stand at the beginning of the list at least. */
type Seen = { met: number; atLeast: number }

/** Asks once if the walk did not see the end; twice if nothing stands at an index where something should. */
async function isShrunk(run: Run, total: number | null, { met, atLeast }: Seen): Promise<boolean> {
  const { request, facts, opened, config } = run
  if (request.allowMassDelete === true || request.rebind === true) return false
  if (total === 0 && opened.liveTasks + met > 0) return true
  // The mirror keeps what the list hides or drops: the list is no longer than when its end was last proven.
  const before = Math.min(opened.liveTasks, facts.total ?? 0)
  if (before === 0) return false
  if (total !== null) return isMuchShorter(total, before, config.sync)
  const place = lastBelieved(before, config.sync)
  return place >= atLeast && (await isNothingAt(run, place)) && (await isNothingAt(run, place))
}

async function isNothingAt(run: Run, skip: number): Promise<boolean> {
  const { window } = run.config.sync
  // Small pages may well be empty where pages are filtered.
  const take = run.facts.filtered_pages === true ? window : Math.min(2, window)
  const answer = await readBeside(run, { skip, take })
  if (answer.kind === 'ok') return answer.value.count === 0
  // A refusal may be about the size.
  return answer.kind === 'refused' && (await readBeside(run, { skip, take: 1 })).kind === 'refused'
}

/**
 * The walk's result as far as it is believed: a complete walk over such a list is partial, and teaches nothing of its
 * length. Keeps in mind (`shrunk_to`) that the list was so short, for --allow-mass-delete to walk it in full.
 */
export async function believed(run: Run, kind: WalkKind, result: WalkResult, seen: Seen): Promise<WalkResult> {
  if (result.verdict !== 'complete') return result
  const { total } = result
  const { met } = seen
  // Only a head walk begins at the list's beginning and ends before its end.
  const atLeast = kind === 'head' ? seen.atLeast : Infinity
  if (!(await isShrunk(run, total, { met, atLeast }))) {
    if (run.facts.shrunk_to !== undefined && kind !== 'range') await learn(run, { shrunk_to: undefined })
    return result
  }
  await learn(run, { shrunk_to: total ?? met })
  return { ...result, verdict: 'partial', reason: 'list-shrunk', total: null, lastId: null }
}
