// Open tasks that stand behind all others: a list by completion, as a database sorts what has no value yet. What is new
// comes there, not to the front, so that a walk from the front alone would miss it.
//
// Rule. Where no open task was ever seen in front of a final one, a walk that goes down from newer tasks and may not come to the
// end first reads one answer that begins with a final task and reaches the end of the list: at that moment every open task
// that stands behind is in it. Whatever is finished afterwards comes to the front, which is read later. Of answers from a cache
// the moment counts that they show.
import { Search } from '../../walk/search.ts'
import type { Run } from '../context.ts'
import { windowSizeOf } from '../window-size.ts'
import { finalsOf } from '../writer/prepare.ts'

/** Room for so many deletions, at most. */
const ROOM = 50
/** Answers in which the end is looked for: enough for one that is thirty windows further on. */
const LOOKS = 12

/** For a walk: `begun` reads what stands behind; `isShown`: all of that, and before `oldestReadAt`, epoch ms, when the walk read. */
export function watchOpenBehind(run: Run) {
  let shownAt = run.facts.open_in_front === true ? 0 : null
  return {
    async begun(walkId: number): Promise<void> {
      shownAt ??= await readOpenBehind(run, walkId)
    },
    // What was finished since then is in the front only where the front was read later.
    isShown: (oldestReadAt: number): boolean => shownAt !== null && shownAt <= oldestReadAt,
  }
}

/**
 * Takes in what stands behind the last final tasks. The moment, epoch ms, as of which all of that was shown; null where no
 * one answer shows it.
 */
async function readOpenBehind(run: Run, walkId: number): Promise<number | null> {
  const { writer, service, facts, now } = run
  const { total, page_cap: cap, last_id: lastId, filtered_pages: isFiltered } = facts
  const { window: take } = windowSizeOf(run)
  const capacity = Math.min(take, cap ?? take)
  const room = Math.min(ROOM, Math.floor(capacity / 4))
  const open = await writer.owedCount('open')
  if (total === undefined || isFiltered === true || open + room >= capacity) return null

  let shownAt = 0
  async function read(skip: number) {
    const answer = await service.list({ skip, take }, (raw) => writer.parseList(raw))
    if (answer.kind !== 'ok') return null
    const { handle, ids } = answer.value
    const finals = finalsOf(answer.value)
    const { known, others } = await writer.view(handle, walkId)
    if (ids.length > 0) await run.account.saw({ known, others, unknown: ids.length - known })
    await writer.takeIn({ handle, walkId: null, skip, readAt: answer.startedAt, now: now() })
    shownAt = Math.max(shownAt, answer.startedAt)
    return { ids, finals }
  }

  // The total may be an old one: a walk that was killed has counted nothing of what it took in.
  const search = new Search(Math.max(0, total - open - room), { stride: capacity - room })
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const { place } = search
    const shown = await read(place)
    if (shown === null) return null
    const { length } = shown.ids
    if (length === 0 || (place > 0 && shown.finals[0] !== 1)) {
      if (!search.tooFar()) return shownAt
    } else if (length >= capacity) search.tooNear(length - room)
    else {
      const isEnd = shown.ids.at(-1) === lastId || (await read(place + length))?.ids.length === 0
      return isEnd ? shownAt : null
    }
  }
  return null
}
