// Open tasks that stand apart from the final ones: in a list by completion they come behind all others or in front of
// them, as a database sorts what has no value yet. While no task is open, such a list looks like one by createdAt, and
// a walk over the newest tasks alone would miss what is new.
//
// Rule. Unless a task was ever seen that stands otherwise, a walk that does not read the end where open tasks may stand
// first reads one answer that shows that end up to a final task: at that moment every open task that stands there is in
// it. What had been finished before that moment stands among the newest final tasks, which are read later.
import type { Facts } from '../../mirror/tables/facts.ts'
import { Search } from '../../walk/search.ts'
import type { Run } from '../context.ts'
import { windowCapacity, windowSizeOf } from '../window-size.ts'
import { finalsOf } from '../writer/prepare.ts'
import type { ParsedList } from '../writer/writing.ts'
import { readBeside, type WalkBeside } from './beside.ts'
import { knownLength } from './known-length.ts'

/** Room for at most so many deletions or new tasks. */
const ROOM = 50
/** Room at the front, which is read again with a whole window where that is too little. */
const ROOM_IN_FRONT = 10
/** At most so many answers to look for the end: enough for one that is thirty windows further on. */
const LOOKS = 12

export type SidesSeen = Pick<Facts, 'open_in_front' | 'final_in_front'>

/** Adds what one answer shows of where open tasks stand. Items that are no tasks say nothing. */
export function seeSides(seen: SidesSeen, parsed: Pick<ParsedList, 'ids' | 'flags'>): void {
  const finals = finalsOf(parsed)
  let hasOpen = false
  let hasFinal = false
  parsed.ids.forEach((id, index) => {
    if (id.startsWith('\u0000')) return
    const isFinal = finals[index] === 1
    if (isFinal && hasOpen) seen.open_in_front = true
    if (!isFinal && hasFinal) seen.final_in_front = true
    hasOpen ||= !isFinal
    hasFinal ||= isFinal
  })
}

/**
 * For a walk that begins with the newest tasks (`created_desc`) or ends with them: `begun` reads what stands at the
 * other end. `doubt`: why a walk whose oldest answer shows the list as of `oldestReadAt`, epoch ms, may have missed
 * something there; null where it has not. `atLeast`: the list was seen to hold so many items.
 */
export function watchOpenApart(run: Run, order: 'created_desc' | 'created_asc') {
  const { open_in_front: openInFront, final_in_front: finalInFront } = run.facts
  let shownAt = (order === 'created_desc' ? openInFront : finalInFront) === true ? 0 : null
  let atLeast = 0
  return {
    async begun(beside: WalkBeside): Promise<void> {
      if (shownAt !== null) return
      const end = new OtherEnd(run, beside)
      if (order === 'created_desc' ? await end.showBehind() : await end.showFront()) shownAt = end.shownAt
      atLeast = end.atLeast
    },
    doubt(oldestReadAt: number): 'open-behind' | 'open-in-front' | null {
      if (shownAt !== null && shownAt <= oldestReadAt) return null
      return order === 'created_desc' ? 'open-behind' : 'open-in-front'
    },
    atLeast: (): number => atLeast,
  }
}

/** The end of the list that the walk does not read. Takes in what it shows. */
class OtherEnd {
  readonly #run: Run
  readonly #beside: WalkBeside
  /** No answer shows a later moment than this, epoch ms: when the last one had come, less its age. */
  shownAt = 0
  atLeast = 0

  constructor(run: Run, beside: WalkBeside) {
    this.#run = run
    this.#beside = beside
  }

  /** Whether one answer showed all open tasks that stand in front of the final ones. */
  async showFront(): Promise<boolean> {
    const { window } = windowSizeOf(this.#run)
    const open = await this.#run.writer.owedCount('open')
    for (const take of new Set([Math.min(window, open + ROOM_IN_FRONT), window])) {
      const shown = await this.#read(0, take)
      if (shown === null) return false
      const { finals } = shown
      if (finals.at(-1) === 1) return true
    }
    return false
  }

  /** Whether one answer showed all open tasks that stand behind the final ones. */
  async showBehind(): Promise<boolean> {
    const { writer, facts } = this.#run
    const { window: take } = windowSizeOf(this.#run)
    const capacity = windowCapacity(this.#run)
    const room = Math.min(ROOM, Math.floor(capacity / 4))
    const open = await writer.owedCount('open')
    if (facts.total === undefined || open + room >= capacity) return false

    const search = new Search(Math.max(0, (await knownLength(this.#run)) - open - room), { stride: capacity - room })
    for (let looks = 0; looks < LOOKS; looks += 1) {
      const { place } = search
      const shown = await this.#read(place, take)
      if (shown === null) return false
      const { length } = shown.ids
      if (length === 0 || (place > 0 && shown.finals[0] !== 1)) {
        if (!search.tooFar()) return true
      } else if (length >= capacity) search.tooNear(length - room)
      // The answer may have been cut by size.
      else {
        const isNothingNew = await this.#isNothingNew(place + length, shown.ids)
        if (isNothingNew !== false) return isNothingNew === true
        search.tooNear(Math.max(1, Math.floor(length / 2)))
      }
    }
    return false
  }

  async #read(skip: number, take: number) {
    const { now } = this.#run
    const askedAt = now()
    const answer = await readBeside(this.#run, { skip, take }, this.#beside)
    if (answer.kind !== 'ok') return null
    this.shownAt = now() - Math.max(0, askedAt - answer.startedAt)
    const { ids } = answer.value
    if (ids.length > 0) this.atLeast = Math.max(this.atLeast, skip + ids.length)
    return { ids, finals: finalsOf(answer.value) }
  }

  /** Whether nothing but items of `before` stands from `skip` on; null where no answer ever comes to nothing. */
  async #isNothingNew(skip: number, before: readonly string[]): Promise<boolean | null> {
    const isFiltered = this.#run.facts.filtered_pages === true
    const take = isFiltered ? windowSizeOf(this.#run).window : 1
    const seen = new Set(before)
    for (let looks = 0, place = skip; looks < LOOKS; looks += 1) {
      const answer = await readBeside(this.#run, { skip: place, take }, this.#beside)
      // Some services refuse what lies behind the end, or give the last item again.
      if (answer.kind !== 'ok') return answer.kind === 'refused'
      const { ids } = answer.value
      if (!ids.every((id) => seen.has(id))) return false
      // Where items are left out, the last of `before` stand further down than their number says.
      if (ids.length === 0 || !isFiltered) return true
      place += ids.length
    }
    return null
  }
}
