// The questions of `probe` about single tasks: the key, what the list leaves out, what errors look like.
import type { Run } from '../context.ts'
import { askForUnknown, USUAL_ID } from '../steps/deletions.ts'
import type { ParsedList } from '../writer/writing.ts'
import { describeReply, detailKeyFinding, type Finding, untold, wholeFinding } from './answers.ts'
import type { Asker } from './asker.ts'

export interface DetailFindings {
  detailNeedsKey: Finding
  listWhole: Finding
  notFound: Finding
  badId: Finding
  /** The service refuses the configured key for single tasks. */
  isKeyRefused: boolean
}

/** `page` is the start of the list, held by the writer. Throws `OutOfRequests`. */
export async function askAboutDetails(
  run: Run,
  asker: Asker,
  page: ParsedList,
  hasKey: boolean,
): Promise<DetailFindings> {
  const listed = await run.writer.compareListed(page.handle)
  const madeUp = await askForUnknown(listed[0] ?? USUAL_ID, run.random, (id) => asker.get(id))
  if (madeUp.kind === 'key-refused') {
    const seen = `${madeUp.httpStatus === null ? 'refused' : `HTTP ${madeUp.httpStatus}`} ${hasKey ? 'even with' : 'without'} the key`
    const closed = untold('single tasks are not given: see detailNeedsKey')
    const detailNeedsKey: Finding = { value: true, seen }
    return { detailNeedsKey, listWhole: closed, notFound: closed, badId: closed, isKeyRefused: hasKey }
  }
  const found = describeReply(madeUp)
  const notFound = found.value === 'answered' ? untold('every id that was made up was answered with a task') : found
  const badId = describeReply(await asker.get('not-an-id'))
  const given: string[] = []
  const differing: string[] = []
  for (const id of listed) {
    const differs = await asker.compare(id)
    if (differs !== null) given.push(id)
    if (differs === true) differing.push(id)
  }
  // What differs is read a second time, in the list and by id: a task may have changed in between.
  if (differing.length > 0) for (const id of await asker.compareAgain(differing, page.count)) await asker.compare(id)
  const shown = await run.writer.endSample(false, run.now())
  Object.assign(run.facts, shown.learned)
  return {
    detailNeedsKey: await askDetailKey(asker, given[0], hasKey),
    listWhole: wholeFinding(shown),
    notFound,
    badId,
    isKeyRefused: false,
  }
}

async function askDetailKey(asker: Asker, id: string | undefined, hasKey: boolean): Promise<Finding> {
  if (id === undefined) return untold('no listed task could be asked for by id')
  if (!hasKey) return { value: false, seen: 'a listed task answers without a key' }
  return detailKeyFinding(await asker.get(id, { withoutKey: true }))
}
