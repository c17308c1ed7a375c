// Asks for single tasks by id: open ones, owed details, candidates. Several are in flight; answers are committed in
// small batches as they come.
import type { OwedReason } from '../../mirror/tables/owed.ts'
import { type Answer, ageOfAnswer, type Failed, type Ok } from '../../service/service.ts'
import { forEachConcurrently } from '../concurrently.ts'
import type { Run } from '../context.ts'
import type { DetailStep, ParsedDetail } from '../writer/details-intake.ts'

/** What asking for one id brought, before it is known what "not found" looks like. */
export interface DetailAnswer {
  taskId: string
  readAt: number
  answer: Answer<ParsedDetail>
}

interface FoundDetail extends DetailAnswer {
  answer: Ok<ParsedDetail>
}

const BATCH = 50
/** So many random tasks are asked for after some in a row were not answered: is it the tasks, or the service? */
const OTHERS = 3

/** Stands for an answer where the run has given up asking. */
const NOT_ASKED: Failed = {
  kind: 'failed',
  reason: 'status',
  httpStatus: null,
  message: 'not asked for, as the service answers no look-ups by id',
}

/** Every look-up of a run goes through here, so that all of its steps give up together. */
export async function askForTask(run: Run, taskId: string): Promise<DetailAnswer> {
  if (await isOver(run)) return { taskId, readAt: run.now(), answer: NOT_ASKED }
  return sendLookUp(run, taskId)
}

async function sendLookUp(run: Run, taskId: string): Promise<DetailAnswer> {
  const readAt = run.now()
  const answer = await run.service.get(taskId)
  run.lookUps.note(answer.kind === 'failed')
  return { taskId, readAt: readAt - ageOfAnswer(answer), answer }
}

/** Whether the run has given up asking for single tasks. */
async function isOver(run: Run): Promise<boolean> {
  const { lookUps } = run
  if (lookUps.isInDoubt) {
    // Look-ups that go on side by side wait for one decision.
    lookUps.deciding ??= askForOthers(run).finally(() => {
      lookUps.deciding = null
    })
    await lookUps.deciding
  }
  return lookUps.isOver
}

/** Asks for random tasks, which ends the doubt one way or the other. Says so once if the run gives up. */
async function askForOthers(run: Run): Promise<void> {
  const { lookUps, writer, log } = run
  for (const id of await writer.liveIdsAt(Array.from({ length: OTHERS }, run.random))) {
    const { answer } = await sendLookUp(run, id)
    if (answer.kind === 'ok') await writer.dropDetail(answer.value.handle)
    if (!lookUps.isInDoubt) return
  }
  lookUps.decide()
  if (lookUps.isOver)
    log.warn(
      { code: 'service-failing' },
      'The service answers no look-ups by id: this run asks for no more tasks, and what is owed stays so; `task-mirror verify --service --sample 5` shows what it answers',
    )
}

/** Whether the answer brought a task. */
export function isFound(detail: DetailAnswer): detail is FoundDetail {
  return detail.answer.kind === 'ok' && detail.answer.value.hasPayload
}

/** Throws `other-account` where the task is another account's. */
export async function checkAccount(run: Run, { taskId, answer }: FoundDetail): Promise<void> {
  await run.account.saw(await run.writer.signsOfDetail(answer.value.handle, taskId))
}

/** Whether the answer is what the service holds now, as far as anything shows. */
export function isFresh({ answer }: DetailAnswer): boolean {
  return ageOfAnswer(answer) === 0
}

/** The step that takes a found task in; `byHand`: see `takeDetail`. */
export function foundStep({ taskId, readAt, answer }: FoundDetail, byHand = false): DetailStep {
  return { kind: 'found', taskId, handle: answer.value.handle, readAt, byHand }
}

/** The step that keeps the task owed, or makes it so, as nothing is known of it. */
export function failedStep(detail: DetailAnswer, reason: OwedReason, isOwedFromNow = false): DetailStep {
  const { taskId, answer } = detail
  const isAnswered = answer.kind !== 'failed'
  return { kind: 'failed', taskId, reason, error: describe(answer), isOwedFromNow, isAnswered }
}

/** Until when owed work counts as due: all of it does where a full walk was asked for by hand. */
export function dueBy(run: Run): number {
  return run.request.full === true ? Number.MAX_SAFE_INTEGER : run.now()
}

function describe(answer: Answer<unknown>): string {
  if (answer.kind === 'ok') return 'answered without a task'
  const status = answer.httpStatus === null ? '' : ` (status ${answer.httpStatus})`
  return `${answer.message}${status}`.slice(0, 200)
}

interface DetailsResult {
  /** How many were asked for: not all, where the service answers no look-ups any more or time ran out. */
  asked: number
  /** How many were not asked for, as time ran out. */
  late: number
  /** Ids whose answer brought no task, with that answer: whether it means "not found" is another question. */
  missing: DetailAnswer[]
  /** Ids of tasks whose details show another state than the list did. */
  unsettled: string[]
  /** Ids whose answers brought a task that was not taken in: set aside, or behind what the list has shown. */
  untaken: string[]
  /** How many tombstones were found. */
  restored: number
}

/** Reports so many more as done; `total` replaces the number there is to do. */
type Tell = (more: number, total?: number) => void

/** For progress: reports how many of `total` are done, of several things that go on side by side. */
export function countedAs(run: Run, phase: string, total: number): Tell {
  let done = 0
  return (more, all) => {
    done += more
    total = all ?? total
    const { requests, inFlight } = run.service.traffic()
    run.progress.set({ phase, done: Math.round(done), total, requests, inFlight })
  }
}

interface WantedTasks {
  ids: string[]
  /** Tasks that are not found stay owed for this reason. */
  reason: OwedReason
  /** See `takeDetail`. */
  byHand?: boolean
  /** Epoch ms. Tasks that were not asked for by then are as due as before. */
  until?: number
}

/** Asks for all of them and takes in what is found, unless the service answers no look-ups any more. */
export async function askForAll(
  run: Run,
  { ids, reason, byHand = false, until = Number.POSITIVE_INFINITY }: WantedTasks,
  tell: Tell,
): Promise<DetailsResult> {
  const result: DetailsResult = { asked: 0, late: 0, missing: [], unsettled: [], untaken: [], restored: 0 }
  let ready: DetailStep[] = []
  const flush = async (): Promise<void> => {
    const steps = ready
    ready = []
    if (steps.length === 0) return
    for (const { taskId, outcome } of await run.writer.takeDetails(steps, run.now())) {
      if (outcome === 'unsettled') result.unsettled.push(taskId)
      if (outcome === 'set-aside' || outcome === 'behind') result.untaken.push(taskId)
      if (outcome === 'restored') result.restored += 1
    }
  }
  const ask = async (id: string): Promise<void> => {
    if (run.now() >= until) {
      result.late += 1
      return
    }
    const detail = await askForTask(run, id)
    // The task is as due as before: only what was asked for is asked for more rarely.
    if (detail.answer === NOT_ASKED) return
    result.asked += 1
    if (isFound(detail)) {
      // A run that is given ids may see nothing else of the account; any other has seen windows of it.
      if (byHand) await checkAccount(run, detail)
      ready.push(foundStep(detail, byHand))
    } else {
      result.missing.push(detail)
      ready.push(failedStep(detail, reason))
    }
    if (ready.length >= BATCH) await flush()
    tell(1)
  }
  try {
    await forEachConcurrently(ids, run.config.service.concurrency, ask)
  } finally {
    // What was answered is kept, even if another request has ended the run.
    await flush()
  }
  return result
}
