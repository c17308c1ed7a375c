// Whether the list is a summary: a few tasks are asked for by id and compared with their listed form. What differs is
// read again both ways, so a task that just changed teaches nothing. mirror/forms/forms.ts judges.
import { ageOf } from '../../clock.ts'
import { isMirrorError } from '../../errors.ts'
import { pathText } from '../../mirror/forms/differences.ts'
import type { SummaryField } from '../../mirror/forms/forms.ts'
import type { Run } from '../context.ts'
import { askForTask, type DetailAnswer, type FoundDetail, failedStep, foundStep, isFound } from './details.ts'

/** So many tasks of a full walk are compared, and one more for every ten windows. */
const SAMPLE = 6
/** Until so many were compared, new or changed tasks of any walk are; until one final task was, known ones, too. */
const EVIDENCE = { final: 4, open: 2 }
/** So many are compared of those that show less than the mirror holds, and of those that a summary replaces. */
const DOUBTED = 3
/** At most so many windows are read again. */
const MOST_WINDOWS = 8

/** Chooses what walks of this run are to keep for the comparison. */
export async function beginComparison(run: Run): Promise<void> {
  const { facts, request, config, now, random } = run
  if (config.sync.details === 'never') return
  const compared = facts.forms_compared
  const { fullEveryMs, settleMs } = config.sync
  const age = ageOf(compared?.at, now(), settleMs)
  const isDue = request.full === true || age === null || age >= fullEveryMs
  await run.writer.beginSample({
    full: isDue ? SAMPLE : 0,
    newFinal: Math.max(0, EVIDENCE.final - (compared?.final ?? 0)),
    newOpen: Math.max(0, EVIDENCE.open - (compared?.open ?? 0)),
    longest: compared?.longest ?? { result: 0, data: 0 },
    signs: compared?.signs ?? [],
    known: (compared?.final ?? 0) === 0,
    doubted: DOUBTED,
    otherwise: otherwiseOf(facts.summary_fields ?? []),
    seed: Math.floor(random() * 2 ** 32),
  })
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
  const before = differingPaths(run)
  const sampled = await writer.sampled()
  let isTold = true
  if (sampled.length > 0) {
    const latest = new Map<string, FoundDetail>()
    const failed = new Map<string, DetailAnswer>()
    let gone: ReadonlySet<string> = new Set()
    const { unclear, isKeyRefused } = await askFor(
      run,
      sampled.map(({ id }) => id),
      { latest, failed },
    )
    if (isKeyRefused) isTold = false
    else if (unclear.length > 0) {
      const again = await listAgain(
        run,
        sampled.filter(({ id }) => unclear.includes(id)),
      )
      gone = again.gone
      await askFor(run, again.listed, { latest, failed })
      // What is not listed again may just have been deleted; what could not be listed again teaches nothing. Some
      // services tell nothing of open tasks by id: the final ones count, where there are any.
      const finals = new Set(sampled.flatMap(({ id, isFinal }) => (isFinal ? [id] : [])))
      const counts = (id: string): boolean => finals.size === 0 || finals.has(id)
      const silent = again.listed.filter((id) => counts(id) && !latest.has(id)).length
      isTold = again.isRead && (silent === 0 || silent < [...latest.keys()].filter(counts).length)
    }
    const { learned, unfinished } = await writer.endSample(isTold, now())
    Object.assign(run.facts, learned)
    const compared = run.facts.forms_compared
    const final = sampled.filter(({ isFinal }) => isFinal)
    const isFinalTold = (compared?.final ?? 0) > 0 || final.length <= unfinished
    isTold &&= compared !== undefined && isFinalTold
    if (learned.summary_fields !== undefined)
      run.log.info(
        { fields: learned.summary_fields.map(({ path }) => pathText(path)).join(', ') },
        'The list is a summary',
      )
    // Only its detail tells of a task that the list no longer shows.
    const steps = [...latest.values()].map((detail) => foundStep(detail, gone.has(detail.taskId)))
    // Where a task could not be compared, what the list shows of it is not taken for the whole.
    for (const detail of failed.values()) if (!latest.has(detail.taskId)) steps.push(failedStep(detail, 'detail', true))
    if (steps.length > 0) await writer.takeDetails(steps, now())
  }
  for (let from = run.facts.summary_sweep ?? null; from !== null; ) {
    from = await writer.sweep(from, now())
    run.facts.summary_sweep = from ?? undefined
  }
  return { isTold, isMore: !before.isSubsetOf(differingPaths(run)) }
}

/** With a summary most tasks are held otherwise than listed: one of them is enough, in the place of another task. */
function otherwiseOf(summary: SummaryField[]): number {
  return summary.some(({ how }) => how === 'replaced') ? DOUBTED : Math.min(1, summary.length)
}

/** Fields that list and detail are known to show differently. */
function differingPaths({ facts }: Run): Set<string> {
  const fields = [...(facts.uneven_fields ?? []), ...(facts.summary_fields ?? [])]
  return new Set(fields.map(({ path }) => pathText(path)))
}

/** By id, the last answer that brought the task; and the last answer, if that failed. */
interface Compared {
  latest: Map<string, FoundDetail>
  failed: Map<string, DetailAnswer>
}

/**
 * Asks for `ids` and notes their details, later ones in place of earlier ones. `unclear`: the ids without a detail, or
 * with one that differs from the list.
 */
async function askFor(run: Run, ids: string[], { latest, failed }: Compared) {
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
  for (const [index, id] of ids.entries()) {
    const detail = details[index] ?? null
    failed.delete(id)
    if (detail?.answer.kind === 'failed') failed.set(id, detail)
    if (detail === null || !isFound(detail)) {
      unclear.push(id)
      continue
    }
    const before = latest.get(id)
    if (before !== undefined) await writer.dropDetail(before.answer.value.handle)
    latest.set(id, detail)
    if (await writer.noteDetail(id, detail.answer.value.handle)) unclear.push(id)
  }
  return { unclear, isKeyRefused }
}

/**
 * Reads again the windows around where `tasks` were met, as many as that is worth. `listed`: the ids that were found
 * there; `gone`: those that were not; `isRead`: false where the service did not give one of the windows.
 */
async function listAgain(run: Run, tasks: { id: string; place: number }[]) {
  const { writer, service, config } = run
  let take = Math.min(config.sync.window, run.facts.page_cap ?? config.sync.window)
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
    for (const id of await writer.noteListed(handle)) listed.add(id)
    await writer.dropWindow(handle)
    if (!listed.has(next.id)) gone.add(next.id)
    tasks = tasks.filter(({ id }) => !listed.has(id))
  }
  return { listed: [...listed], gone: gone.difference(listed), isRead }
}
