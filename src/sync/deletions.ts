// Deletions on proof (design.md 6.5): candidates are asked for by id, in batches between two witnesses, against what the
// service answers to an id that cannot exist.
import type { Answer } from '../service/service.ts'
import type { Run } from './context.ts'
import { askForTask, type DetailAnswer, dueBy, failedStep, foundStep, isFound } from './details.ts'
import type { DetailStep } from './details-intake.ts'
import type { ParsedAnswer } from './writing.ts'

const BATCH = 100

export interface DeletionsResult {
  /** Candidates that were not decided because there are more than may go without being asked. */
  refused: number
  /** Candidates that stay owed. */
  undecided: number
}

/** What an answer without a task looks like; null where it says nothing (a failure after its retries). */
export function notFoundShape(answer: Answer<ParsedAnswer>): string | null {
  if (answer.kind === 'failed') return null
  // A 403 is that task's error, and 5xx is never an answer to the question.
  if (answer.kind === 'refused') return `http ${answer.httpStatus}, envelope ${answer.statusCode}`
  return answer.value.hasPayload ? null : `http 200, envelope ${answer.value.statusCode}, no item`
}

/**
 * An id of the same form that cannot be in use: every letter and digit replaced at random within its own kind.
 * `random` gives 0 to 1.
 */
export function madeUpId(like: string, random: () => number): string {
  const pick = (from: string): string => from[Math.floor(random() * from.length)] as string
  const hexOnly = /^[0-9a-fA-F-]+$/.test(like)
  return [...like]
    .map((sign) => {
      if (/[0-9]/.test(sign)) return pick('0123456789')
      if (/[a-z]/.test(sign)) return pick(hexOnly ? 'abcdef' : 'abcdefghijklmnopqrstuvwxyz')
      if (/[A-Z]/.test(sign)) return pick(hexOnly ? 'ABCDEF' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
      return sign
    })
    .join('')
}

/** Whether so many deletions need to be allowed. Pure. */
export function isMassDelete(candidates: number, live: number, fraction: number, minimum: number): boolean {
  return candidates > minimum && candidates > live * fraction
}

/**
 * Decides the candidates that are owed. `witnesses` gives tasks that this run has just met; there is none where the list
 * is empty, and then only `allowMassDelete` together with `listIsEmpty` (asked a second time) lets anything be buried.
 */
export async function decideDeletions(
  run: Run,
  witnesses: string[],
  liveTasks: number,
  listIsEmpty: () => Promise<boolean>,
): Promise<DeletionsResult> {
  const { writer, now } = run
  await writer.dropMetCandidates()
  const owed = await writer.owedCount('candidate')
  if (owed === 0) return { refused: 0, undecided: 0 }
  const { massDeleteFraction, massDeleteMinimum } = run.config.sync
  const allowed = run.request.allowMassDelete === true
  if (!allowed && isMassDelete(owed, liveTasks, massDeleteFraction, massDeleteMinimum))
    return { refused: owed, undecided: owed }
  if (witnesses.length === 0 && !(allowed && (await listIsEmpty()))) return { refused: owed, undecided: owed }

  const due = await writer.due('candidate', dueBy(run), Number.MAX_SAFE_INTEGER)
  const shape = due.length === 0 ? null : await learnNotFound(run, (due[0] as { taskId: string }).taskId)
  if (shape === null) return { refused: 0, undecided: owed }

  for (let from = 0; from < due.length; from += BATCH) {
    const batch = due.slice(from, from + BATCH).map(({ taskId }) => taskId)
    const steps = await decideBatch(run, batch, shape, witnesses)
    await writer.takeDetails(steps, now())
    run.progress.set({ phase: 'deletions', done: Math.min(from + BATCH, due.length), total: due.length })
  }
  return { refused: 0, undecided: await writer.owedCount('candidate') }
}

/** What the service answers to an id of the same form that it cannot hold; null where that answer cannot be told apart. */
async function learnNotFound(run: Run, like: string): Promise<string | null> {
  const madeUp = await askForTask(run, madeUpId(like, run.random))
  if (isFound(madeUp)) {
    await run.writer.dropDetail((madeUp.answer as { value: ParsedAnswer }).value.handle)
    return null
  }
  return notFoundShape(madeUp.answer)
}

/** Asks for a batch between two witnesses; an absence counts only where both were found. */
async function decideBatch(run: Run, ids: string[], shape: string, witnesses: string[]): Promise<DetailStep[]> {
  const found: DetailStep[] = []
  const before = await askWitness(run, witnesses, found)
  const answers: DetailAnswer[] = []
  let next = 0
  const ask = async (): Promise<void> => {
    while (next < ids.length) answers.push(await askForTask(run, ids[next++] as string))
  }
  await Promise.all(Array.from({ length: Math.min(ids.length, run.config.service.concurrency) }, ask))
  const after = await askWitness(run, witnesses, found)
  const proven = before && after
  return [
    ...found,
    ...answers.map((detail): DetailStep => {
      if (isFound(detail)) return foundStep(detail)
      if (proven && notFoundShape(detail.answer) === shape)
        return { kind: 'absent', taskId: detail.taskId, readAt: detail.readAt }
      return failedStep(detail, 'candidate')
    }),
  ]
}

/** True where a task that was just met is found by id; with no witness to call, the empty list stands for one. */
async function askWitness(run: Run, witnesses: string[], found: DetailStep[]): Promise<boolean> {
  if (witnesses.length === 0) return true
  // A witness may have been deleted this very moment, so a second and a third may speak.
  for (let attempt = 0; attempt < Math.min(3, witnesses.length); attempt += 1) {
    const detail = await askForTask(run, witnesses[Math.floor(run.random() * witnesses.length)] as string)
    if (!isFound(detail)) continue
    found.push(foundStep(detail))
    return true
  }
  return false
}
