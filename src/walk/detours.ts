// Readings that do not join the chain: positions that cannot be read, answers without items, windows without an anchor
// (design.md 6.1, "Seams" and "Guards").
import { goOnBehind, type Onward } from './behind.ts'
import type { ChainState } from './chain.ts'
import { endIfSpent, readAgain } from './further.ts'
import { isListEmpty } from './guards.ts'
import type { OngoingWalk, Steps } from './ongoing-walk.ts'
import type { Reading } from './read-window.ts'
import { glanceAt, isNothing } from './reader.ts'
import { firstBeyond } from './search.ts'
import type { ItemsWindow } from './source.ts'

export async function* onUnreadable(ongoing: OngoingWalk, reading: Reading & { kind: 'unreadable' }): Steps<Onward> {
  const { chain } = ongoing
  if (chain.last !== null && reading.skip < chain.end - 1) {
    // The position lies within the overlap, so it was met before: the next windows begin behind it.
    ongoing.chain = { ...chain, notBelow: reading.skip + 1 }
    return readAgain(ongoing)
  }
  const onward = reading.skip === chain.end ? yield* goOnBehind(ongoing, { first: reading, byPlace: true }) : 'moved'
  return onward === 'moved' ? await readInFront(ongoing, reading.skip) : onward
}

/** The list has moved: a few items in front of the position that cannot be read show where its last item stands. */
async function readInFront(ongoing: OngoingWalk, position: number): Promise<Onward> {
  const { reader, kernel, chain } = ongoing
  const from = Math.max(chain.notBelow, Math.min(ongoing.forward(), position - 2))
  const ended = await readAgain(ongoing)
  if (ended !== null || from >= position) return ended
  const window = await reader.read(from, position - from, { fresh: true })
  if (window.kind === 'items' && kernel.seam(window.handle) === 'shown')
    return { kind: 'window', window, follows: false }
  reader.drop(window)
  return null
}

export async function* onNothing(ongoing: OngoingWalk, reading: Reading & { kind: 'nothing' }): Steps<Onward> {
  const { chain, reader, skip } = ongoing
  ongoing.fruitless += 1
  if (skip === 0 && (await isListEmpty(reader))) return ongoing.endsAt(-1)
  const isBehind = chain.last === null ? skip === 0 : ongoing.isFiltered || (skip >= chain.end && !ongoing.isLooking())
  if (isBehind) {
    const first = skip === chain.end && !ongoing.isFiltered ? reading : null
    const onward = yield* goOnBehind(ongoing, { first, byPlace: true })
    // Else more may lie behind the chain, nearer than this position.
    if (onward !== 'moved' && (onward !== null || skip <= ongoing.chain.end)) return onward
  }
  if (skip < chain.end && skip > chain.lastSeen.skip) return toLimit(ongoing)
  ongoing.lookOn('before', chain.returned)
  return endIfSpent(ongoing)
}

/** Nothing came where something stood: reads from the last index that gives anything, and stops if that was in vain. */
async function toLimit(ongoing: OngoingWalk): Promise<Onward> {
  const { chain, reader, skip } = ongoing
  const givesNothing = async (place: number) => isNothing(await glanceAt(reader, place))
  const limit = (await firstBeyond(chain.lastSeen.skip + 1, skip, givesNothing)) - 1
  if (limit === chain.lastSeen.skip && limit === ongoing.givesUntil) return { kind: 'stop', reason: 'skip-limit' }
  ongoing.givesUntil = limit
  ongoing.retry(limit)
  return endIfSpent(ongoing)
}

export function onGap(ongoing: OngoingWalk, window: ItemsWindow): void {
  ongoing.fruitless += 1
  ongoing.lookOn(isAllNew(ongoing.chain, window) ? 'behind' : 'before', window.ids.length)
}

/** Whether the window holds only what came in since: newest first, all as new as the newest of the first window. */
function isAllNew({ order, newestInFirst }: ChainState, { moments }: ItemsWindow): boolean {
  if (newestInFirst === null || order.rising >= order.falling) return false
  return moments.every((moment) => moment !== null && moment >= newestInFirst)
}
