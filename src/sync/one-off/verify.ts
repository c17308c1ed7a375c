// `verify --service`: random live tasks compared digit for digit, and the number of tasks. Changes nothing.
import { EXIT } from '../../errors.ts'
import { openReader } from '../../mirror/open.ts'
import { sampleLiveIds } from '../../mirror/shown/sample.ts'
import { readStatus } from '../../mirror/shown/status.ts'
import { countText } from '../../shown.ts'
import { findPastEnd, OutOfRequests, readStart } from '../../walk/measure/paging.ts'
import { findTotal } from '../../walk/measure/total.ts'
import { forEachConcurrently } from '../concurrently.ts'
import type { Run, RunContext } from '../context.ts'
import { Asker } from '../probe/asker.ts'
import { askForTask, countedAs } from '../steps/details.ts'
import type { ParsedList } from '../writer/writing.ts'
import { requireMirror, runOneOff } from './one-off-run.ts'
import { shareAtMost } from './sample-bound.ts'

interface Difference {
  id: string
  /** Names such as `systemStatus` or `result.body`. */
  fields: string[]
  /** It was open in the mirror: it may just have changed since. */
  wasOpen: boolean
}

export interface ServiceVerified {
  /** Tasks asked for. */
  sampled: number
  equal: number
  different: Difference[]
  /** Names of fields that differ between list and look-up, or from read to read, while a task stays as it is. */
  notCompared: string[]
  /** The service answers, but with no task. */
  missing: { id: string; answer: string }[]
  /** The service gave no usable answer. */
  unanswered: { id: string; answer: string }[]
  /** At most this share (0 to 1) of all live tasks differs from the service's, at 95 %, as far as the sample tells. */
  differAtMost: number
  total: {
    /** Tasks in the list; null where its end cannot be proven. */
    service: number | null
    /** Live tasks of the mirror. */
    mirror: number
    /** Of these, those that the list no longer shows, but that are found by id. */
    hidden: number
    /** Items of the list that are set aside. */
    setAside: number
    /** How the number was found, or why it was not. */
    why: string
  }
  /** Why the mirror is not called equal, a sentence each. */
  problems: string[]
}

const MOST_FOR_TOTAL = 60

type Compared =
  | { kind: 'equal' }
  | { kind: 'different'; fields: string[]; wasOpen: boolean }
  | { kind: 'missing' | 'unanswered'; answer: string }

/** `sample`: live tasks, chosen at random; infinity for all. Throws `mirror-missing` and what `runOneOff` throws. */
export async function verifyService(context: RunContext, sample: number): Promise<ServiceVerified> {
  requireMirror(context)
  return runOneOff(context, 'verify', async (run) => {
    const value = await compare(run, sample)
    const isEqual = value.problems.length === 0
    return { value, exitCode: isEqual ? EXIT.done : EXIT.partial, verdict: isEqual ? 'complete' : 'partial' }
  })
}

async function compare(run: Run, sample: number): Promise<ServiceVerified> {
  // The lock is held, so what is read here stands still.
  const db = openReader(run.config.mirror.path)
  try {
    const { tasks, forms } = readStatus(db)
    const { unread, atLeast, ...total } = await countTasks(run)
    const ids = sampleLiveIds(db, sample, run.random)
    const found = await askAll(run, ids)
    const { hidden, setAside } = tasks
    const differAtMost = shareAtMost(found.sampled, found.sampled - found.equal, tasks.live)
    const notCompared = forms.uneven.map(({ field }) => field)
    const result = { ...found, notCompared, differAtMost, total: { ...total, mirror: tasks.live, hidden, setAside } }
    return { ...result, problems: [...(unread === undefined ? [] : [unread]), ...problemsOf(result, atLeast)] }
  } finally {
    db.close()
  }
}

function problemsOf(found: Omit<ServiceVerified, 'problems'>, atLeast: number): string[] {
  const { different, missing, unanswered, total } = found
  // Where the end cannot be proven, what was seen of the list may still be more than the mirror holds.
  const listed = total.service ?? Math.max(atLeast, total.mirror)
  const all = [
    different.length > 0 && `${countText(different.length, 'task differs', 'tasks differ')} from the service's`,
    missing.length > 0 && `the service does not have ${countText(missing.length, 'task')} of the mirror`,
    unanswered.length > 0 && `the service gave no usable answer for ${countText(unanswered.length, 'task')}`,
    listed > total.mirror + total.setAside &&
      `the service lists ${total.service === null ? 'at least ' : ''}${countText(listed - total.mirror - total.setAside, 'item')} more than the mirror holds or has set aside`,
    listed < total.mirror - total.hidden &&
      `the service lists ${countText(total.mirror - total.hidden - listed, 'task')} fewer than the mirror holds`,
  ]
  return all.filter((problem) => problem !== false)
}

interface Counted {
  service: number | null
  /** The list holds at least so many, also where its end cannot be proven. */
  atLeast: number
  why: string
  /** Why the list cannot be read at all. */
  unread?: string
}

/** Counts the tasks, and checks the account by the first window. */
async function countTasks(run: Run): Promise<Counted> {
  const asker = new Asker(run, MOST_FOR_TOTAL)
  try {
    const start = await readStart(asker)
    if ('kind' in start) {
      const unread = `the list cannot be read: ${start.message}`
      return { service: null, atLeast: 0, why: unread, unread }
    }
    const { handle } = asker.first() as ParsedList
    await run.account.saw(await run.writer.view(handle, 0))
    await run.writer.dropWindow(handle)
    const past = await findPastEnd(asker, start)
    const { total, atLeast, why } = await findTotal(asker, start, past, run.facts.total ?? null)
    // Where pages are filtered, nothing tells how many there are.
    if (run.facts.filtered_pages === true)
      return { service: null, atLeast: 0, why: 'items are dropped from pages after paging' }
    return { service: total, atLeast, why: total === null ? `at least ${atLeast}: ${why}` : why }
  } catch (error) {
    if (!(error instanceof OutOfRequests)) throw error
    return { service: null, atLeast: 0, why: `its end was not found with ${MOST_FOR_TOTAL} requests` }
  }
}

async function compareOne(run: Run, id: string): Promise<Compared> {
  const { answer } = await askForTask(run, id)
  if (answer.kind === 'failed') return { kind: 'unanswered', answer: answer.message }
  if (answer.kind === 'refused') {
    const text = `HTTP ${answer.httpStatus}: ${answer.message}`
    // 403 on one id is that task's error, and says nothing about whether it exists.
    return { kind: answer.httpStatus === 403 || answer.httpStatus === 0 ? 'unanswered' : 'missing', answer: text }
  }
  const compared = await run.writer.compareDetail(answer.value.handle, id)
  if (compared.kind === 'none') return { kind: 'missing', answer: 'answered without an item' }
  if (compared.kind === 'unfit') return { kind: 'unanswered', answer: compared.message }
  const { fields, wasOpen } = compared
  return fields.length === 0 ? { kind: 'equal' } : { kind: 'different', fields, wasOpen }
}

async function askAll(run: Run, ids: string[]) {
  const found: Pick<ServiceVerified, 'sampled' | 'equal' | 'different' | 'missing' | 'unanswered'> = {
    sampled: ids.length,
    equal: 0,
    different: [],
    missing: [],
    unanswered: [],
  }
  const tell = countedAs(run, 'verify', ids.length)
  await forEachConcurrently(ids, run.config.service.concurrency, async (id) => {
    const { kind, ...more } = await compareOne(run, id)
    if (kind === 'equal') found.equal += 1
    else (found[kind] as object[]).push({ id, ...more })
    tell(1)
  })
  return found
}
