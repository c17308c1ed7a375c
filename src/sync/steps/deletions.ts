// Deletions on proof (design.md 6.5): candidates are asked for by id twice, between witnesses (look-ups.ts), and
// compared with the answer to a made-up id. Tombstones are asked for again, in case there was no deletion.
import { setTimeout as delay } from 'node:timers/promises'
import { MirrorError } from '../../errors.ts'
import { worseStatus } from '../../service/retry-policy.ts'
import type { Answer, Decoded } from '../../service/service.ts'
import type { Run } from '../context.ts'
import type { DetailStep } from '../writer/details-intake.ts'
import type { ParsedAnswer } from '../writer/writing.ts'
import { askForAll, askForTask, countedAs, dueBy, failedStep, isFound } from './details.ts'
import { callWitnesses, inAnySequence, lookUp, type Witnesses } from './look-ups.ts'

/** Candidates that are decided together: where a run is killed, as many look-ups are lost. */
const ROUND = 500
/** If more than this are not found, there is a pause before they are asked for again. */
const MANY = 10
/** Tombstones asked for at once; more are only where one of them was found. */
const TOMBSTONES = 100

export interface DeletionsResult {
  /** Candidates that were not decided, because there are more than may be deleted without permission. */
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

/** Whether an answer says of this very task that it is gone (RFC 9110, 410), however unknown ids are refused. */
function isGone(answer: Answer<ParsedAnswer>): boolean {
  return answer.kind === 'refused' && worseStatus(answer.httpStatus, answer.statusCode) === 410
}

/** The form of most ids, used where no other is known. */
export const USUAL_ID = '00000000-0000-4000-8000-000000000000'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Where a UUID tells its version and variant: with others there, services that check them refuse it as malformed. */
const KEPT_IN_UUID = [14, 19]

/** An id of the same form: letters and digits replaced at random within their own kind. `random` gives 0 to 1. */
export function madeUpId(like: string, random: () => number): string {
  const pick = (from: string): string => from[Math.floor(random() * from.length)] as string
  const hexOnly = /^[0-9a-fA-F-]+$/.test(like)
  const kept = UUID.test(like) ? KEPT_IN_UUID : []
  return [...like]
    .map((sign, at) => {
      if (kept.includes(at)) return sign
      if (/[0-9]/.test(sign)) return pick('0123456789')
      if (/[a-z]/.test(sign)) return pick(hexOnly ? 'abcdef' : 'abcdefghijklmnopqrstuvwxyz')
      if (/[A-Z]/.test(sign)) return pick(hexOnly ? 'ABCDEF' : 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')
      return sign
    })
    .join('')
}

/** Whether so many deletions need permission. Pure. */
export function isMassDelete(candidates: number, live: number, fraction: number, minimum: number): boolean {
  return candidates > minimum && candidates > live * fraction
}

/**
 * Decides the candidates that are owed. `witnesses`: tasks that this run has just met. There are none where the list is
 * empty; then only `allowMassDelete` with `listIsEmpty`, which asks again, lets anything be marked deleted.
 */
export async function decideDeletions(
  run: Run,
  witnesses: string[],
  liveTasks: number,
  listIsEmpty: () => Promise<boolean>,
): Promise<DeletionsResult> {
  const { writer } = run
  await writer.dropListed()
  const { massDeleteFraction, massDeleteMinimum } = run.config.sync
  const allowed = run.request.allowMassDelete === true
  const isMass = async () =>
    !allowed && isMassDelete(await writer.owedCount('candidate'), liveTasks, massDeleteFraction, massDeleteMinimum)
  await findHidden(run, isMass)
  const owed = await writer.owedCount('candidate')
  if (await isMass()) return { refused: owed, undecided: owed }
  if (witnesses.length === 0 && !(allowed && (await listIsEmpty()))) return { refused: owed, undecided: owed }

  const ids = await writer.due('candidate', dueBy(run))
  const shape = ids.length === 0 ? null : await learnNotFound(run, ids[0] as string)
  if (shape === null) return { refused: 0, undecided: owed }

  const called = callWitnesses(run, witnesses)
  const isBelieved = witnesses.length > 0 ? called.canBeBelieved : listIsEmpty
  for (let from = 0; from < ids.length; from += ROUND) {
    const isOver = !(await decideRound(run, ids.slice(from, from + ROUND), shape, {
      ...called,
      canBeBelieved: isBelieved,
    }))
    run.progress.set({ phase: 'deletions', done: Math.min(from + ROUND, ids.length), total: ids.length })
    if (isOver) break
  }
  return { refused: 0, undecided: await writer.owedCount('candidate') }
}

/**
 * Where so many would be refused, the list may just show other tasks than it did: what is found by id is no candidate.
 * Asks for twice as many each time while most are found: where they are really deleted, few look-ups tell.
 */
async function findHidden(run: Run, isMass: () => Promise<boolean>): Promise<void> {
  const ids = await run.writer.due('candidate', dueBy(run))
  let from = 0
  for (let size = MANY; from < ids.length && (await isMass()); size *= 2) {
    const some = ids.slice(from, from + size)
    from += size
    const tell = countedAs(run, 'deletions', some.length)
    const { asked, missing } = await askForAll(run, { ids: some, reason: 'candidate' }, tell)
    if (2 * (asked - missing.length) < some.length) return
  }
}

/**
 * Looks `ids` up twice, the second time in another sequence and, where many were not found, at least
 * `sync.deletionPauseMs` later: what is found neither time is gone. False where the look-ups cannot be believed: then
 * everything stays owed.
 */
async function decideRound(run: Run, ids: string[], shape: string, witnesses: Witnesses): Promise<boolean> {
  const { writer, now, random, config, signal } = run
  const isNotFound = (answer: Answer<ParsedAnswer>) => isGone(answer) || notFoundShape(answer) === shape
  const first = await lookUp(run, ids, isNotFound, witnesses)
  await writer.takeDetails(first.steps, now())
  if (first.absent.length === 0) return !first.isSilent
  if (first.absent.length > MANY) await pause(config.sync.deletionPauseMs, signal)
  const again = inAnySequence(
    first.absent.map(({ taskId }) => taskId),
    random,
  )
  const second = await lookUp(run, again, isNotFound, witnesses)
  const absent = new Set(again)
  // A task was not found a moment ago and is there now; or it was found earlier in this run, and is not now.
  const isContradicted =
    second.steps.some((step) => step.kind === 'found' && absent.has(step.taskId)) ||
    again.some((id) => run.account.found.has(id))
  const isBelieved = !isContradicted && (await witnesses.canBeBelieved(second.steps))
  const decided = second.absent.map(
    (detail): DetailStep =>
      isBelieved ? { kind: 'absent', taskId: detail.taskId, readAt: detail.readAt } : failedStep(detail, 'candidate'),
  )
  await writer.takeDetails([...second.steps, ...decided], now())
  return isBelieved
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {
    throw new MirrorError('interrupted', 'Stopped before deletions were decided')
  })
}

/** Digits added to made-up ids, one after another: where ids count from 1, any id of the usual length is in use. */
const LONGER = ['', '00', '0000', '00000000']

/** Asks for made-up ids of the form of `like` until one brings no task. Returns the last answer. */
export async function askForUnknown<T extends Answer<Decoded> | { kind: 'key-refused' }>(
  like: string,
  random: () => number,
  ask: (id: string) => Promise<T>,
): Promise<T> {
  let answer = await ask(madeUpId(like, random))
  for (const more of /[0-9]$/.test(like) ? LONGER : []) {
    if (answer.kind !== 'ok' || !answer.value.hasPayload) break
    answer = await ask(madeUpId(like + more, random))
  }
  return answer
}

/** How the service answers to an id of that form that it cannot hold; null where that answer cannot be told apart. */
async function learnNotFound(run: Run, like: string): Promise<string | null> {
  const answer = await askForUnknown(like, run.random, async (id) => {
    const madeUp = await askForTask(run, id)
    if (isFound(madeUp)) await run.writer.dropDetail(madeUp.answer.value.handle)
    return madeUp.answer
  })
  return notFoundShape(answer)
}

/**
 * After a full walk: asks for tombstones again, first for those that were never asked for and then the youngest, as the
 * look-up may have been wrong for longer than anybody waits. What is found is restored, whether listed or not.
 */
export async function askForTombstones(run: Run): Promise<void> {
  for (;;) {
    const due = await run.writer.dueTombstones(dueBy(run), run.now(), TOMBSTONES)
    if (due.length === 0) return
    const { restored } = await askForAll(run, { ids: due, reason: 'deleted' }, countedAs(run, 'tombstones', due.length))
    if (restored === 0) return
  }
}
