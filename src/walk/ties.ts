// A walk in the middle of equal createdAt, whose items may come in another order at every read: windows that show only
// ties of the chain's last run, and runs that are owed (docs/proof.md, "counted"), which are read again until the
// kernel has all of their ids.
import { LARGEST_RUN } from '../proof/judge.ts'
import type { Moment } from '../task.ts'
import { seenAgain } from './chain.ts'
import { TRIES } from './moving-end.ts'
import type { OngoingWalk, Steps } from './ongoing-walk.ts'
import { readUpTo } from './read-window.ts'
import { lookAt } from './reader.ts'
import { Search } from './search.ts'
import type { ItemsWindow, WalkStep } from './source.ts'

const ROUNDS = 3 * TRIES
/** Fewer rounds, where the walk is partial already, so that only the items matter; or where all show the same. */
const ROUNDS_IN_DOUBT = 3

/**
 * The overlap shows only ties of the chain's last item: the walk reaches back to before their run, and counts the run
 * where that is too far. False where the window was dropped, to be read anew from further back.
 */
export function acceptTied(ongoing: OngoingWalk, window: ItemsWindow): boolean {
  const { reader, kernel } = ongoing
  if (kernel.owed !== undefined) return true
  const chain = seenAgain(ongoing.chain, window)
  if (chain.tie === null) return true
  const reach = chain.end - chain.tie.start + 2 ** ongoing.tiedTries
  const wanted = Math.max(chain.notBelow, chain.end - reach)
  if (ongoing.tiedTries < TRIES && wanted < ongoing.skip && reach < ongoing.capacity) {
    reader.drop(window)
    ongoing.fruitless += 1
    ongoing.retry(wanted)
    ongoing.tiedTries += 1
    return false
  }
  return true
}

/**
 * Reads the owed run again, round after round, until it is counted; where it cannot be, the walk is in doubt. The
 * windows are taken in without being met, because the list may have moved under them; the run is marked in the end.
 * `limit`: where the list ends, for a service that does not show it.
 */
export async function* payOwed(ongoing: OngoingWalk, limit: number | null = null): Steps<void> {
  const { reader, kernel } = ongoing
  if (ongoing.request.lap === 'is-one') {
    // No proof rests on a lap: it goes on without its ties.
    ongoing.isUnpaid = true
    return
  }
  const stride = reader.largest
  let search = new Search(Math.max(0, startOfOwed(ongoing) - 1), { stride })
  const most = ongoing.isUnpaid ? ROUNDS_IN_DOUBT : ROUNDS
  // A list that stands still shows the same again: then one reading is enough.
  let { shown, same } = ongoing.owedRead
  same = Math.min(same, ROUNDS_IN_DOUBT - 1)
  for (let round = 0; round < most && same < ROUNDS_IN_DOUBT; round += 1) {
    if (kernel.owed === undefined || kernel.state.spoiled !== null) break
    const found: RunRead = yield* readRun(ongoing, kernel.owed, search.place, limit)
    const { count } = kernel.state
    const before = shown
    shown = found.lies === 'here' && found.isStill ? `${found.start} ${found.ids}` : null
    same = shown !== null && shown === before ? same + 1 : 1
    // A run that begins behind the counted one's end is another run of the same createdAt.
    const isIt = found.lies === 'here' && (count === null || found.start < count.end)
    const other = found.lies === 'here' && same > 1 ? found.otherUntil : null
    if (other !== null) search = new Search(other, { stride })
    else if (isIt) search = new Search(Math.max(0, found.start - 1), { stride })
    else if (found.lies === 'further') search.tooNear(found.read)
    else if (!search.tooFar()) break
  }
  ongoing.isUnpaid = kernel.owed !== undefined
  ongoing.owedRead = { shown, same }
  yield* markCounted(ongoing)
}

/** What seems to be the end of the list may lie within a run: counts that, unless answers leave items out. */
export async function* payAtEnd(ongoing: OngoingWalk, limit: number | null = null): Steps<void> {
  const { kernel } = ongoing
  yield* markCounted(ongoing)
  if (kernel.missing() !== null && !ongoing.isFiltered) kernel.owe()
  if (kernel.owed !== undefined) yield* payOwed(ongoing, limit)
}

/** Where the owed run begins: the chain may end with it, with another run of its createdAt, or with neither. */
function startOfOwed({ kernel, chain: { tie, tail, end }, owedFrom }: OngoingWalk): number {
  const { owed, count } = kernel.state
  if (tie === null || tie.moment !== owed?.moment) return owedFrom
  // The chain's tail, where it holds all of the chain's last run, shows whether the owed run's member is among it.
  const inTail = tie.start - (end - tail.length)
  const isOther = inTail >= 0 && !tail.includes(owed.member, inTail)
  return isOther || (count !== null && tie.start >= count.end) ? owedFrom : tie.start
}

/** Marks the ids of a run that was counted: they are met from now on. */
export function* markCounted({ reader, kernel }: OngoingWalk): Generator<WalkStep, void> {
  const ids = kernel.takeCounted()
  for (const id of ids) reader.unmet.delete(id)
  if (ids.length > 0) yield { kind: 'mark', ids }
}

/**
 * Where the run's first item lies: at `start`, with all `ids` seen (`isStill`: each once); behind the `read` items; or
 * before. `otherUntil`: the index behind it, if it was read whole and without the owed run's member; else null.
 */
type RunRead =
  | { lies: 'here'; start: number; ids: string; isStill: boolean; otherUntil: number | null }
  | { lies: 'further'; read: number }
  | { lies: 'before' }

/** Reads the run once, from `from` on to its end, or until it is counted. */
async function* readRun(ongoing: OngoingWalk, moment: Moment, from: number, limit: number | null): Steps<RunRead> {
  let skip = from
  let start = -1
  const { reader, kernel } = ongoing
  const member = kernel.state.owed?.member ?? ''
  const seen = new Set<string>()
  let items = 0
  let behind: number | null = null
  const here = (): RunRead => ({
    ...{ lies: 'here', start, ids: [...seen].join(), isStill: seen.size === items },
    otherUntil: seen.has(member) ? null : behind,
  })
  // Bounded: a service may give its last window again and again behind the end of the list, with nothing new in it.
  for (let windows = 0; windows < 20 + (4 * seen.size) / reader.largest; windows += 1) {
    if (seen.size > LARGEST_RUN || ongoing.requestsLeft < 0) break
    const { take: asked } = reader
    const answer = await readUpTo(reader, skip)
    if (typeof answer === 'number') {
      // The run's beginning is seen only from in front of what cannot be read.
      if (start < 0 && answer === from && from > 0) return { lies: 'before' }
      skip = answer + 1
      continue
    }
    if (answer === 'nothing') {
      if (start < 0) return { lies: 'before' }
      if (kernel.owed === undefined) return here()
      // A refusal may be about the window: it says that nothing stands there only behind an answer that reached
      // further. And if fewer are asked for than answers hold, all that stands there may be left out.
      const isReached = (kernel.state.within?.reach ?? 0) > skip
      if (!isReached) await lookAt(reader, skip - 1)
      if (!isReached || Math.min(asked, reader.take) < reader.largest) await lookAt(reader, skip)
      return here()
    }
    const first = answer.moments.indexOf(moment)
    // The answer was cut before the run, which may begin with the next answer, directly behind this one.
    if (start < 0 && first < 0 && windows < TRIES) {
      reader.drop(answer)
      skip += answer.ids.length
      continue
    }
    if (start < 0 && (first < 0 || (first === 0 && windows === 0 && skip > 0))) {
      reader.drop(answer)
      // Items that were met and are not of the run stand before it, for the walk has come no further.
      const isFurther = first < 0 && !answer.met.includes(0)
      return isFurther ? { lies: 'further', read: skip + answer.ids.length - from } : { lies: 'before' }
    }
    const within = start < 0 ? first : 0
    if (start < 0) start = skip + first
    for (const id of answer.ids) seen.add(id)
    items += answer.ids.length
    ongoing.seeOrder(answer)
    reader.noteUnmet(answer, ongoing.chain.end)
    yield { kind: 'keep', window: answer }
    const end = answer.moments.findIndex((other, index) => index >= within && other !== moment)
    if (end >= 0) behind = skip + end
    skip += answer.ids.length
    if (kernel.owed === undefined || end >= 0) break
    if (limit !== null && skip >= limit) {
      // No answer from behind the end of the list will show that the run ends: one with room for more does.
      await lookAt(reader, skip - 1)
      break
    }
  }
  return start < 0 ? { lies: 'before' } : here()
}
