// One run of `sync` or `backfill`: opens the mirror, plans, does the steps, closes it, whatever happens.
import { exitCodeOf, isMirrorError, MirrorError, worstExitCode } from '../errors.ts'
import type { Gathering } from '../mirror/commits.ts'
import { LARGE_WAL, LARGE_WAL_BYTES } from '../mirror/wal.ts'
import { CHECK_REACH } from '../service/attempt-failure.ts'
import type { Service } from '../service/service.ts'
import { countText, severalText } from '../shown.ts'
import { seeAccount } from './account.ts'
import { bindRun, loadClient, newRun, openClient, openWriterThread } from './begin.ts'
import { concludeRun, type RunResult, type RunTally } from './conclude.ts'
import { learn, type Run, type RunContext } from './context.ts'
import { mayBringForward, type PlanStep, planRun, resumesWalk, type SyncRequest } from './plan.ts'
import { readBeside } from './steps/beside.ts'
import { beginComparison, compareWithDetails } from './steps/compare-forms.ts'
import { askForTombstones, decideDeletions } from './steps/deletions.ts'
import { askForAll, countedAs } from './steps/details.ts'
import { partialNote, runFull } from './steps/full.ts'
import { runIncremental } from './steps/incremental.ts'
import { limitBeforeAWalk, NO_LIMIT } from './steps/open-plan.ts'
import { askOpenTasks } from './steps/open-tasks.ts'
import { askOwedDetails } from './steps/owed-details.ts'
import { runRange } from './steps/range.ts'
import type { WalkVerdict } from './steps/walking.ts'
import type { Writer } from './writer/thread.ts'

/** At most so many ids are named in a sentence. */
const MOST_NAMED = 5
/** At most so many tasks are witnesses for the look-ups by id that decide deletions. */
const MOST_WITNESSES = 50
/**
 * More than eight windows gain hardly anything (docs/decisions/performance-diary.md); a reader waits for news no longer
 * than this.
 */
const GATHERING: Gathering = { pieces: 8, ms: 100 }

/** What stands in for the HTTP client and the writer thread in simulations. */
interface RunParts {
  service?: Service
  writer?: Writer
}

/**
 * Throws only where no run could begin, such as `mirror-locked` or `config-invalid`, and where the mirror cannot be
 * read at the end; all else is in the result.
 */
export async function runSync(context: RunContext, request: SyncRequest, parts: RunParts = {}): Promise<RunResult> {
  const startedAt = context.now()
  const tally: RunTally = {
    request,
    startedAt,
    plan: [],
    walks: [],
    drift: 0,
    short: new Map(),
    codes: [],
    error: null,
  }
  const opening = parts.writer ?? openWriterThread(context, request, GATHERING)
  // If that fails, the error is told where the client is made.
  if (parts.service === undefined) loadClient().catch(() => undefined)
  const writer = await opening
  let result: RunResult | null = null
  try {
    result = await runWith(writer, parts.service ?? null, context, tally)
  } finally {
    context.progress.finish()
    await closeWriter(writer, context.log).catch((failure: unknown) => {
      if (result === null) return
      result.error ??= failure
      result.exitCode = worstExitCode(result.exitCode, exitCodeOf(failure))
      if (result.exitCode === exitCodeOf(failure)) result.summary.outcome = 'failed'
    })
  }
  return result
}

/** The run on an open mirror; `given` stands in for the client. */
async function runWith(
  writer: Writer,
  given: Service | null,
  stoppable: RunContext,
  tally: RunTally,
): Promise<RunResult> {
  const { maxDurationMs } = stoppable.config.sync
  const late = maxDurationMs === null ? null : AbortSignal.timeout(maxDurationMs)
  const context = late === null ? stoppable : { ...stoppable, signal: AbortSignal.any([stoppable.signal, late]) }
  const opened = await writer.opened()
  const earlier = opened.facts.first_answers ?? []
  const first: typeof earlier = []
  const onFirst = (came: (typeof first)[number]) => {
    // An answer that came before is as old as it was.
    const isSame = (one: typeof came) => one.question === came.question && one.serviceDate === came.serviceDate
    first.push(earlier.find(isSame) ?? came)
  }
  const service = given ?? (await openClient(context, { earlier, onFirst }))
  const run = newRun(context, { service, writer, request: tally.request, opened })
  try {
    bindRun(run, context)
    await carryOut(run, tally)
    await writer.drain()
    if (first.length > 0) await learn(run, { first_answers: first })
  } catch (thrown) {
    tally.error = late?.aborted === true && isMirrorError(thrown, 'interrupted') ? durationReached(service) : thrown
    // Windows may still be on their way when something else has ended the run.
    await writer.drain().catch((failure: unknown) => tally.codes.push(exitCodeOf(failure)))
  }
  await service.close()
  return concludeRun(run, tally, stoppable.signal)
}

/** Throws where the WAL cannot be folded back: nothing is lost, but the disk needs somebody's care. */
async function closeWriter(writer: Writer, log: Run['log']): Promise<void> {
  const wal = await writer.close()
  if (wal > LARGE_WAL_BYTES) {
    log.warn({ bytes: wal }, `The WAL is large: ${LARGE_WAL}`)
  }
}

async function carryOut(run: Run, tally: RunTally): Promise<void> {
  const { opened, now, config } = run
  const { request } = tally
  tally.plan = planRun({ ...opened, ...config.sync, facts: run.facts, now: now() }, request)
  await run.writer.setPlan(tally.plan.map(({ kind }) => kind))
  await beginComparison(run)
  run.log.info({ plan: tally.plan.map(({ kind }) => kind).join(' '), run: opened.runId }, 'Run begins')
  for (let at = 0; at < tally.plan.length; at += 1) {
    await carryOutStep(run, tally, tally.plan[at] as PlanStep, at)
  }
  const details = (await run.writer.owedCount('detail')) - (await run.writer.unexpectedCount(now()))
  if (details > 0 && config.sync.details !== 'never') {
    tally.short.set('owed', `${countText(details, 'detail')} still owed; the next run asks again.`)
  }
}

const FULL_AGAIN: PlanStep = { kind: 'full', reason: 'due', resume: null }

/** Adds `steps` directly behind step `at`, which has shown that they are needed. */
async function goOnWith(run: Run, { plan }: RunTally, at: number, steps: PlanStep[]): Promise<void> {
  plan.splice(at + 1, 0, ...steps)
  await run.writer.setPlan(plan.map(({ kind }) => kind))
}

async function carryOutStep(run: Run, tally: RunTally, step: PlanStep, at: number): Promise<void> {
  const { request, writer, now } = run
  const range = { since: request.since ?? null, until: request.until ?? null }
  const walked = (what: string, done: WalkVerdict): void => {
    tally.drift += done.drift
    tally.walks.push({
      verdict: done.verdict,
      note: done.verdict === 'partial' ? partialNote(what, done.reason) : null,
    })
  }
  const { short } = tally
  short.delete(step.kind)
  switch (step.kind) {
    case 'head':
    case 'tail': {
      const incremental = await runIncremental(run, step.kind)
      walked(`${step.kind} walk`, incremental)
      const planned = tally.plan.some(({ kind }) => kind === 'full')
      const isDue =
        incremental.bringForward && mayBringForward(await writer.lastFull(), now(), run.config.sync.settleMs)
      if (!planned && (incremental.isRefuted || isDue)) {
        await goOnWith(run, tally, at, [FULL_AGAIN])
      }
      break
    }
    case 'full': {
      const full = await runFull(run, step)
      // This walk has seen for itself whatever a walk of this run doubted before it began.
      if (full.verdict === 'complete' && step.resume === null) tally.walks.length = 0
      walked('full walk', full)
      break
    }
    case 'range': {
      const done = await runRange(run, range)
      if (done !== null) walked('range walk', done)
      else walked('full walk', await runFull(run, { kind: 'full', reason: 'order', resume: null }))
      break
    }
    case 'ids':
      await askForIds(run, tally, request.ids ?? [])
      break
    case 'refetch':
      await writer.oweAllDetails(now(), range)
      break
    case 'open': {
      const isBeforeAWalk = resumesWalk(tally.plan.slice(at))
      const { service, sync } = run.config
      const limit = isBeforeAWalk ? limitBeforeAWalk(sync.maxDurationMs, service.requestsPerSecond, now()) : NO_LIMIT
      const silent = await askOpenTasks(run, limit)
      if (silent > 0) short.set('open', `${countText(silent, 'open task')} not answered for; the next run asks again.`)
      break
    }
    case 'details': {
      const { isTold, isMore } = await compareWithDetails(run)
      if (!isTold) short.set('details', NOT_COMPARED)
      const absent = await askOwedDetails(run)
      const isAgain = isMore || (await areDeletedPerhaps(run, tally, absent))
      if (isAgain) await goOnWith(run, tally, at, [FULL_AGAIN, { kind: 'deletions' }, step])
      // What that walk shows is compared, too.
      if (tally.plan.slice(at).some(({ kind }) => kind === 'full')) await beginComparison(run)
      break
    }
    case 'deletions':
      await proveDeletions(run, tally)
  }
}

/** Whether a full walk is due: of the tasks not found by id, one was listed since the last full walk began. */
async function areDeletedPerhaps({ writer, now, config }: Run, { plan }: RunTally, ids: string[]): Promise<boolean> {
  const last = await writer.lastFull()
  const isSync = plan.some(({ kind }) => kind === 'head' || kind === 'tail')
  if (!isSync || last === null || !mayBringForward(last, now(), config.sync.settleMs)) return false
  return writer.areOwedSince(ids, last.startedAt)
}

async function proveDeletions(run: Run, tally: RunTally): Promise<void> {
  if (tally.plan.some(({ kind }) => kind === 'full')) await askForTombstones(run)
  const witnesses = await run.writer.witnesses(Array.from({ length: MOST_WITNESSES }, run.random))
  const { refused, undecided } = await decideDeletions(run, witnesses, run.opened.liveTasks, () => isListEmpty(run))
  if (refused > 0) {
    const why = 'so many are not marked deleted without --allow-mass-delete'
    tally.short.set('deletions', `${countText(refused, 'task')} no longer listed; ${why}.`)
  } else if (undecided > 0) {
    const why = 'and the deletion not proven; owed to the next run'
    tally.short.set('deletions', `${countText(undecided, 'task')} no longer listed, ${why}.`)
  }
}

/** Tasks that cannot be compared say nothing of what the list leaves out. */
const NOT_COMPARED =
  'Listed tasks could not be compared with what the service shows of them by id: whether the list shows all of them is unknown; the next run asks again.'

async function askForIds(run: Run, tally: RunTally, ids: string[]): Promise<void> {
  await seeAccount(run)
  const { asked, missing, untaken } = await askForAll(
    run,
    { ids, reason: 'detail', byHand: true },
    countedAs(run, 'details', ids.length),
  )
  const without = [...missing.map(({ taskId }) => taskId), ...untaken]
  const absent = ids.length - asked + without.length
  if (absent === 0) return
  const named = without.slice(0, MOST_NAMED).map((id) => JSON.stringify(id))
  const more = absent > named.length ? ', ...' : ''
  const several = severalText('--id', missing.find(({ taskId }) => taskId.includes(','))?.taskId ?? '')
  // Also where the same was set aside by an earlier run, which is no fault of a run that nobody asked for this id.
  const what = untaken.length === 0 ? 'brought no task' : 'brought no task that could be taken in'
  tally.short.set('ids', `${absent} of ${ids.length} ids ${what}: ${named.join(', ')}${more}.${several}`)
}

async function isListEmpty(run: Run): Promise<boolean> {
  const answer = await readBeside(run, { skip: 0, take: 1 })
  return answer.kind === 'ok' && answer.value.count === 0
}

function durationReached(service: Pick<Service, 'trouble' | 'traffic'>): MirrorError {
  const trouble = service.trouble()
  const { requests, succeeded } = service.traffic()
  if (requests > 0 && succeeded === 0) {
    const why = trouble ?? 'no answer had come'
    return new MirrorError('duration-reached', `No request succeeded before --max-duration was reached: ${why}`, {
      hint: `${CHECK_REACH} If it answers with errors, wait until it is well.`,
    })
  }
  const cause = trouble === null ? '' : `; the service was failing: ${trouble}`
  return new MirrorError('duration-reached', `The run has reached --max-duration; its progress is kept${cause}`, {
    hint: 'The next run goes on from there.',
  })
}
