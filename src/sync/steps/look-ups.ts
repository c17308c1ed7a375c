// Looks up tasks that may be gone, and says if "not found" can be believed: between every few it asks for witnesses,
// tasks that the list just showed. A look-up that does not know those, or contradicts itself, proves nothing.
import type { Run } from '../context.ts'
import type { DetailStep } from '../writer/details-intake.ts'
import { askForTask, type DetailAnswer, failedStep, foundStep, isFound, isFresh } from './details.ts'

/** So many ids are asked for between witnesses. */
const BETWEEN_WITNESSES = 10
/** So many witnesses are asked for in a row: of two servers that take turns, both have to answer. */
const IN_A_ROW = 2
/** A witness may be deleted the very moment it is asked for; more than one lost in so many is no chance. */
const LOST_ONE_IN = 20

/** Whether so many witnesses that were not found, out of those asked for, may have been deleted just now. Pure. */
export function isLossByChance(asked: number, lost: number): boolean {
  return lost * LOST_ONE_IN <= asked
}

/** `ids` in a random sequence; `random` gives 0 to 1. */
export function inAnySequence<T>(ids: readonly T[], random: () => number): T[] {
  const shuffled = [...ids]
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    ;[shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T]
  }
  return shuffled
}

export interface Witnesses {
  /** Asks for some witnesses: true where the look-up knows them all. What is found goes to `found`. */
  areKnown(found: DetailStep[]): Promise<boolean>
  /** Whether the look-up has known, all in all, what the list shows; asks once more for those it did not know. */
  canBeBelieved(found: DetailStep[]): Promise<boolean>
}

/** `ids`: tasks that this run has just met. Without any, the empty list stands for them: the caller asks for that. */
export function callWitnesses(run: Run, ids: readonly string[]): Witnesses {
  const queue = inAnySequence(ids, run.random)
  const lost = new Set<string>()
  let asked = 0
  let next = 0

  async function ask(id: string, found: DetailStep[]): Promise<boolean> {
    const detail = await askForTask(run, id)
    if (!isFound(detail)) return false
    found.push(foundStep(detail))
    return isFresh(detail)
  }

  async function areKnown(found: DetailStep[]): Promise<boolean> {
    for (let turn = 0; turn < Math.min(IN_A_ROW, queue.length); turn += 1) {
      const id = queue[next % queue.length] as string
      next += 1
      asked += 1
      if (await ask(id, found)) continue
      lost.add(id)
      return false
    }
    return true
  }

  return {
    areKnown,
    async canBeBelieved(found) {
      for (const id of lost) if (await ask(id, found)) return false
      // Too few were asked for to tell a task that was just deleted from a look-up that does not know some tasks.
      while (lost.size > 0 && asked < LOST_ONE_IN && asked < queue.length) await areKnown(found)
      return isLossByChance(asked, lost.size)
    },
  }
}

interface LookedUp {
  /** Steps for answers that settle nothing: the task is taken in, or asked for again later. */
  steps: DetailStep[]
  /** Tasks not found, between witnesses that were. */
  absent: DetailAnswer[]
  /** It ended early, as the look-up did not know what the list shows. */
  isSilent: boolean
}

/**
 * Looks `ids` up once, a few at a time side by side; ends early where the look-up knows no witness twice in a row.
 * `isNotFound`: whether an answer says that there is no such task.
 */
export async function lookUp(
  run: Run,
  ids: readonly string[],
  isNotFound: (answer: DetailAnswer['answer']) => boolean,
  witnesses: Witnesses,
): Promise<LookedUp> {
  const steps: DetailStep[] = []
  const absent: DetailAnswer[] = []
  let before = await witnesses.areKnown(steps)
  for (let from = 0; from < ids.length; from += BETWEEN_WITNESSES) {
    if (!before && !(await witnesses.areKnown(steps))) return { steps, absent, isSilent: true }
    const answers = await Promise.all(ids.slice(from, from + BETWEEN_WITNESSES).map((id) => askForTask(run, id)))
    const after = await witnesses.areKnown(steps)
    for (const detail of answers) {
      if (isFound(detail)) steps.push(foundStep(detail))
      else if (after && isFresh(detail) && isNotFound(detail.answer)) absent.push(detail)
      else steps.push(failedStep(detail, 'candidate'))
    }
    before = after
  }
  return { steps, absent, isSilent: false }
}
