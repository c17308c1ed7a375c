// The questions of `probe` about single tasks: the key, what the list leaves out, what errors look like.
import { isObject } from '../json.ts'
import { compareForms } from '../mirror/differences.ts'
import type { SampledForms } from '../mirror/forms.ts'
import type { Page } from '../service/wire.ts'
import type { Task } from '../task.ts'
import type { Run } from './context.ts'
import { madeUpId } from './deletions.ts'
import { isFinal } from './intake.ts'
import { describeReply, detailKeyFinding, type Finding, untold, wholeFinding } from './probe-answers.ts'
import type { Asker } from './probe-asker.ts'

export interface DetailFindings {
  detailNeedsKey: Finding
  listWhole: Finding
  /** What the comparison has shown, for `judgeSample`. */
  compared: SampledForms[]
  notFound: Finding
  badId: Finding
  /** The service refuses the configured key for single tasks. */
  isKeyRefused: boolean
}

/** The form of most ids, where no other is known. */
const UUID = '00000000-0000-4000-8000-000000000000'

/** `page` is the start of the list. Throws `OutOfRequests`. */
export async function askAboutDetails(run: Run, asker: Asker, page: Page, hasKey: boolean): Promise<DetailFindings> {
  const listed = chosen(page, new Set(run.config.sync.finalStatuses))
  const like = listed[0]?.task.id ?? UUID
  const madeUp = await asker.get(madeUpId(like, run.random))
  if (madeUp.kind === 'key-refused') {
    const seen = `${madeUp.httpStatus === null ? 'refused' : `HTTP ${madeUp.httpStatus}`} ${hasKey ? 'even with' : 'without'} the key`
    const closed = untold('single tasks are not given: see detailNeedsKey')
    const detailNeedsKey: Finding = { value: true, seen }
    return { detailNeedsKey, listWhole: closed, compared: [], notFound: closed, badId: closed, isKeyRefused: hasKey }
  }
  const found = describeReply(madeUp)
  const notFound = found.value === 'answered' ? untold('an id that cannot exist was answered with a task') : found
  const badId = describeReply(await asker.get('not-an-id'))
  const compared: SampledForms[] = []
  for (const { task, isFinal: final } of listed) {
    const detail = await askFor(asker, task.id)
    if (detail !== null) compared.push({ listed: [task], details: [detail], isFinal: final })
  }
  await readAgain(asker, page, compared)
  return {
    detailNeedsKey: await askDetailKey(asker, compared[0]?.listed[0]?.id, hasKey),
    listWhole: wholeFinding(compared),
    compared,
    notFound,
    badId,
    isKeyRefused: false,
  }
}

async function askFor(asker: Asker, id: string): Promise<Task | null> {
  const reply = await asker.get(id)
  const item = reply.kind === 'ok' ? reply.value.item : null
  return item?.kind === 'task' && item.task.id === id ? item.task : null
}

/** What differs is read a second time both ways: a task may have changed in between. */
async function readAgain(asker: Asker, page: Page, compared: SampledForms[]): Promise<void> {
  const differing = compared.filter(({ listed, details }) => compareForms(listed[0]!, details[0]!).length > 0)
  if (differing.length === 0) return
  const again = await asker.list(0, page.items.length)
  if (again.kind !== 'ok') return
  for (const { listed, details } of differing) {
    const id = listed[0]!.id
    const item = again.value.items.find((each) => each.kind === 'task' && each.task.id === id)
    const detail = item === undefined ? null : await askFor(asker, id)
    if (item?.kind !== 'task' || detail === null) continue
    listed.push(item.task)
    details.push(detail)
  }
}

async function askDetailKey(asker: Asker, id: string | undefined, hasKey: boolean): Promise<Finding> {
  if (id === undefined) return untold('no listed task could be asked for by id')
  if (!hasKey) return { value: false, seen: 'a listed task answers without a key' }
  return detailKeyFinding(await asker.get(id, { withoutKey: true }))
}

/** Five tasks of the page at most: final ones from its start, middle and end, and one that is open. */
function chosen(page: Page, finalStatuses: ReadonlySet<string>): { task: Task; isFinal: boolean }[] {
  const tasks = page.items.flatMap((item) => (item.kind === 'task' ? [item.task] : []))
  const finals = tasks.filter((task) => isFinal(task, finalStatuses))
  const open = tasks.find((task) => !isFinal(task, finalStatuses))
  const places = [0, Math.floor(finals.length / 2), finals.length - 1]
  const picked = new Set(places.flatMap((place) => finals[place] ?? []))
  // With a result that is an object there is more to leave out.
  const rich = finals.find((task) => Object.hasOwn(task, 'result') && isObject(task.result))
  if (rich !== undefined) picked.add(rich)
  if (open !== undefined) picked.add(open)
  return [...picked].map((task) => ({ task, isFinal: isFinal(task, finalStatuses) }))
}
