// Windows that are read beside a walk or before it: they join no chain, and prove nothing of the list.
import type { Answer, Window } from '../../service/service.ts'
import type { ItemsWindow } from '../../walk/source.ts'
import { forEachConcurrently } from '../concurrently.ts'
import type { Run } from '../context.ts'
import { SMALL_WINDOW, windowSizeOf } from '../window-size.ts'
import type { Viewed } from '../writer/windows.ts'
import type { ParsedList } from '../writer/writing.ts'

/** The walk beside which a window is read: with its number, what was looked up ahead for that walk stays valid. */
export interface WalkBeside {
  walkId: number
  /** Called with every answer before any of it is taken in. */
  onParsed(parsed: ParsedList): Promise<void>
}

/** Asks for the window, and takes in what it shows. */
export async function readBeside(run: Run, { skip, take }: Window, beside?: WalkBeside): Promise<Answer<ParsedList>> {
  const answer = await run.service.list({ skip, take })
  if (answer.kind !== 'ok') return answer
  const { handle } = answer.value
  await beside?.onParsed(answer.value)
  await takeBeside(run, { handle, skip, startedAt: answer.startedAt }, beside?.walkId ?? 0)
  return answer
}

type Shown = Pick<ItemsWindow, 'handle' | 'skip' | 'startedAt'>

/** Takes in what a window shows, once the account was checked. */
export async function takeBeside(
  run: Pick<Run, 'writer' | 'account' | 'now'>,
  window: Shown,
  walkId: number,
): Promise<Viewed> {
  const viewed = await run.writer.view(window.handle, walkId)
  // An empty window does not tell whose it is.
  if (viewed.ids.length > 0) await run.account.saw(viewed)
  await takeItems(run, window)
  return viewed
}

/** As `takeBeside`, of a window that was viewed, and its account checked. */
export async function takeItems(
  { writer, now }: Pick<Run, 'writer' | 'now'>,
  { handle, skip, startedAt }: Shown,
): Promise<void> {
  await writer.takeIn({ handle, walkId: null, skip, readAt: startedAt, now: now() })
}

/**
 * Takes the windows in, side by side, as many as `service.concurrency` and `service.maxBytesInFlight` allow for items
 * of `itemBytes`. Windows that are not answered are passed over.
 */
export async function readWindows<Wanted extends Window>(
  run: Run,
  windows: readonly Wanted[],
  itemBytes: number,
  onRead: (window: Wanted) => void = () => undefined,
): Promise<void> {
  const { concurrency, maxBytesInFlight } = run.config.service
  const heaviest = Math.max(1, ...windows.map(({ take }) => take * itemBytes))
  const most = Math.max(1, Math.min(concurrency, Math.floor(maxBytesInFlight / heaviest)))
  await forEachConcurrently(windows, most, async (window) => {
    await readBeside(run, window)
    onRead(window)
  })
}

/** The first window of the list; takes nothing in, but checks the account. Null where it is not answered. */
export async function viewFirst(run: Run): Promise<Viewed | null> {
  const viewed = await viewAt(run, 0)
  if (viewed !== null) await run.account.saw(viewed)
  return viewed
}

/** A window, a shorter one if it is too heavy; takes nothing in. Null where it is not answered. */
export async function viewAt(run: Run, skip: number): Promise<Viewed | null> {
  const { service, writer, config } = run
  let answer = await service.list({ skip, take: windowSizeOf(run).window })
  if (answer.kind === 'failed' && answer.reason === 'too-large')
    answer = await service.list({ skip, take: Math.min(SMALL_WINDOW, config.sync.window) })
  if (answer.kind !== 'ok') return null
  const { handle } = answer.value
  const viewed = await writer.view(handle, 0)
  await writer.dropWindow(handle)
  return viewed
}
