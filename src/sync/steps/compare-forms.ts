// Whether the list is a summary: a few tasks are asked for by id and compared with their listed form. What differs is
// read again both ways, so a task that just changed teaches nothing. mirror/forms/forms.ts judges.
import { ageOf } from '../../clock.ts'
import { isMirrorError } from '../../errors.ts'
import { pathText } from '../../mirror/forms/differences.ts'
import type { Run } from '../context.ts'
import { windowCapacity } from '../window-size.ts'
import { askForTask, type DetailAnswer, failedStep, foundStep, isFound } from './details.ts'

/** At most so many windows are read again. */
const MOST_WINDOWS = 8

type Sampled = Awaited<ReturnType<Run['writer']['sampled']>>

/** Has walks of this run keep what may be compared. */
export async function beginComparison({ facts, request, config, now, random, writer }: Run): Promise<void> {
  if (config.sync.details === 'never') return
  const { fullEveryMs, settleMs } = config.sync
  const age = ageOf(facts.forms_compared?.at, now(), settleMs)
  const isDue = request.full === true || age === null || age >= fullEveryMs
  await writer.beginSample(isDue, Math.floor(random() * 2 ** 32))
}

/**
 * Asks for the chosen tasks by id, learns from them, takes them in, and owes the details that follow.
 *
 * `isTold`: whether it is known by now what the list shows of a task. It is not where the service refuses the key for
 * single tasks; where what differs could not be listed again; where of the final tasks (of open ones, if none is final)
 * at least as many are listed again and not found by id as are found; and where none was ever compared, or only open
 * ones although final ones were chosen.
 * `isMore`: a field that had said nothing of a task's state says something now: earlier walks passed over its changes.
 */
export async function compareWithDetails(run: Run): Promise<{ isTold: boolean; isMore: boolean }> {
  const { writer, now } = run
  const sampled = await writer.sampled()
  const compared = sampled.length === 0 ? { isTold: true, isMore: false } : await compare(run, sampled)
  for (let from = run.facts.summary_sweep ?? null; from !== null; ) {
    from = await writer.sweep(from, now())
    run.facts.summary_sweep = from ?? undefined
  }
  return compared
}

async function compare(run: Run, sampled: Sampled): Promise<{ isTold: boolean; isMore: boolean }> {
  const { writer, now } = run
  const answers: Answers = new Map()
  const { unclear, isKeyRefused } = await askFor(
    run,
    sampled.map(({ id }) => id),
    answers,
  )
  const again = await listAgain(run, isKeyRefused ? [] : sampled.filter(({ id }) => unclear.includes(id)))
  await askFor(run, again.listed, answers)
  // What is not listed again may just have been deleted; what could not be listed again teaches nothing. Some services
  // tell nothing of open tasks by id: the final ones count, where there are any.
  const final = sampled.filter(({ isFinal }) => isFinal)
  const isThere = (id: string): boolean => isFound(answers.get(id) as DetailAnswer)
  const counting = (final.length === 0 ? sampled : final).map(({ id }) => id)
  const silent = again.listed.filter((id) => counting.includes(id) && !isThere(id)).length
  const isAnswered = !isKeyRefused && again.isRead && (silent === 0 || silent < counting.filter(isThere).length)
  const { learned, unfinished, isOver } = await writer.endSample(isAnswered, now())
  Object.assign(run.facts, learned)
  if (learned.summary_fields !== undefined)
    run.log.info(
      { fields: learned.summary_fields.map(({ path }) => pathText(path)).join(', ') },
      'The list is a summary',
    )
  const steps = [...answers.values()].flatMap((detail) => {
    // Only its detail tells of a task that the list no longer shows.
    if (isFound(detail)) return foundStep(detail, again.gone.has(detail.taskId))
    // Where a task could not be compared, what the list shows of it is not taken for the whole.
    return detail.answer.kind === 'failed' ? failedStep(detail, 'detail', true) : []
  })
  if (steps.length > 0) await writer.takeDetails(steps, now())
  const known = run.facts.forms_compared
  const isFinalTold = (known?.final ?? 0) > 0 || final.length <= unfinished
  return { isTold: isAnswered && known !== undefined && isFinalTold, isMore: isOver }
}

/** By id, the last answer that brought the task, or the last one where none did. */
type Answers = Map<string, DetailAnswer>

/**
 * Asks for `ids` and notes their details, later ones in place of earlier ones. `unclear`: the ids without a detail, or
 * with one that differs from the list.
 */
async function askFor(run: Run, ids: string[], answers: Answers) {
  const { writer } = run
  const unclear: string[] = []
  // The key may be good for the list alone: what the list shows is kept.
  const unlessRefused = (error: unknown): null => {
    if (!isMirrorError(error, 'key-refused')) throw error
    return null
  }
  const ask = (id: string) => askForTask(run, id).catch(unlessRefused)
  // One first, to try the key; then side by side, so that a run with little time gets through them.
  const details = await Promise.all(ids.slice(0, 1).map(ask))
  if (!details.includes(null)) details.push(...(await Promise.all(ids.slice(1).map(ask))))
  const isKeyRefused = details.includes(null)
  if (isKeyRefused)
    run.log.warn(
      { code: 'key-refused' },
      'The service refuses this key, or that there is none, for single tasks: see `task-mirror doctor`, or run with --details never',
    )
  for (const detail of details) {
    if (detail === null) continue
    const { taskId } = detail
    const before = answers.get(taskId)
    const wasFound = before !== undefined && isFound(before)
    if (!isFound(detail)) {
      if (!wasFound) answers.set(taskId, detail)
      unclear.push(taskId)
      continue
    }
    if (wasFound) await writer.dropDetail(before.answer.value.handle)
    answers.set(taskId, detail)
    if (await writer.noteDetail(taskId, detail.answer.value.handle)) unclear.push(taskId)
  }
  return { unclear, isKeyRefused }
}

/**
 * Reads again the windows around where `tasks` were met, as many as that is worth. `listed`: the ids that were found
 * there; `gone`: those that were not; `isRead`: false where the service did not give one of the windows.
 */
async function listAgain(run: Run, tasks: Sampled) {
  const { writer, service } = run
  const ids = tasks.map(({ id }) => id)
  let take = windowCapacity(run)
  const listed = new Set<string>()
  const gone = new Set<string>()
  let isRead = true
  for (let reads = 0; reads < MOST_WINDOWS; reads += 1) {
    const next = tasks[0]
    if (next === undefined) break
    const skip = Math.max(0, next.place - Math.floor(take / 2))
    const answer = await service.list({ skip, take })
    // Perhaps refused for its size: some services refuse windows of more than so many items.
    if (answer.kind === 'refused' && take > 1) {
      take = Math.ceil(take / 2)
      continue
    }
    tasks = tasks.slice(1)
    if (answer.kind !== 'ok') {
      isRead = false
      continue
    }
    const { handle } = answer.value
    for (const id of await writer.noteListed(handle, ids)) listed.add(id)
    await writer.dropWindow(handle)
    if (!listed.has(next.id)) gone.add(next.id)
    tasks = tasks.filter(({ id }) => !listed.has(id))
  }
  return { listed: [...listed], gone: gone.difference(listed), isRead }
}
