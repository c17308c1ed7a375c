// Windows that are read for their items alone: they join no chain, and prove nothing of the list.
import type { Window } from '../../service/service.ts'
import { forEachAtOnce } from '../at-once.ts'
import type { Run } from '../context.ts'

export interface WantedWindow extends Window {
  /** Tasks that it is read for. */
  members: number
}

/**
 * Takes the windows in, side by side, as many as `service.concurrency` and `service.maxBytesInFlight` allow for items of
 * `itemBytes`. What is not answered is passed over.
 */
export async function readWindows(
  run: Run,
  windows: readonly WantedWindow[],
  itemBytes: number,
  onRead: (window: WantedWindow) => void = () => undefined,
): Promise<void> {
  const { concurrency, maxBytesInFlight } = run.config.service
  const heaviest = Math.max(1, ...windows.map(({ take }) => take * itemBytes))
  const most = Math.max(1, Math.min(concurrency, Math.floor(maxBytesInFlight / heaviest)))
  await forEachAtOnce(windows, most, async (window) => {
    await readWindow(run, window)
    onRead(window)
  })
}

async function readWindow({ service, writer, account, now }: Run, { skip, take }: Window): Promise<void> {
  const answer = await service.list({ skip, take }, (raw) => writer.parseList(raw))
  if (answer.kind !== 'ok') return
  const { handle } = answer.value
  const { ids, known, others } = await writer.view(handle, 0)
  await account.saw({ known, others, unknown: ids.length - known })
  await writer.takeIn({ handle, walkId: null, skip, readAt: answer.startedAt, now: now() })
}
