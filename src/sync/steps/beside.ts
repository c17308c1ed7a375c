// Windows that are read beside a walk, for their items alone: they join no chain, and prove nothing of the list.
import type { Answer, Window } from '../../service/service.ts'
import { forEachConcurrently } from '../concurrently.ts'
import type { Run } from '../context.ts'
import type { ParsedList } from '../writer/writing.ts'

/** The walk beside which a window is read: with its number, what was looked up ahead for that walk stays valid. */
export interface WalkBeside {
  walkId: number
  /** Called with every answer before any of it is taken in. */
  onParsed?: ((parsed: ParsedList) => Promise<void>) | undefined
}

/** Asks for the window, and takes in what it shows. */
export async function readBeside(run: Run, { skip, take }: Window, beside?: WalkBeside): Promise<Answer<ParsedList>> {
  const { service, writer, account, now } = run
  const answer = await service.list({ skip, take }, (raw) => writer.parseList(raw))
  if (answer.kind !== 'ok') return answer
  const { handle, ids } = answer.value
  await beside?.onParsed?.(answer.value)
  const viewed = await writer.view(handle, beside?.walkId ?? 0)
  // An empty window does not tell whose it is.
  if (ids.length > 0) await account.saw(viewed)
  await writer.takeIn({ handle, walkId: null, skip, readAt: answer.startedAt, now: now() })
  return answer
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
