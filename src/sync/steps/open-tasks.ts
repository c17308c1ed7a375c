// Open tasks that this run has not met: by id, or by the windows they lie in where that takes fewer requests
// (design.md 6.3).
import { isCreatedOrder } from '../../walk/order.ts'
import { seeAccount } from '../account.ts'
import type { Run } from '../context.ts'
import { askForAll } from './details.ts'

/** Windows are worth a thought only from here on. */
const FEW = 20

/**
 * The windows that cover all `places` (indexes in the list), each reaching `margin` further on both sides. Pure.
 * `places` need no order; the result is ascending.
 */
export function coveringWindows(places: number[], window: number, margin: number): number[] {
  const starts: number[] = []
  let covered = -1
  for (const place of [...places].sort((a, b) => a - b)) {
    if (place + margin <= covered) continue
    const start = Math.max(0, place - margin)
    starts.push(start)
    covered = start + window - 1
  }
  return starts
}

/** Asks for at most `limit` of them, those first that were not asked for the longest. */
export async function askOpenTasks(run: Run, limit: number): Promise<void> {
  const { writer, now, request } = run
  if (request.details === 'never') return
  let due = await writer.due('open', now(), limit)
  if (due.length > 0) await seeAccount(run)
  if (due.length > FEW && isCreatedOrder(run.facts.order ?? null)) {
    const windows = await windowsOf(
      run,
      due.map(({ seq }) => seq),
    )
    if (windows.length < due.length) {
      await readWindows(run, windows)
      due = await writer.due('open', now(), limit)
    }
  }
  const { missing } = await askForAll(
    run,
    due.map(({ taskId }) => taskId),
    'open',
    'open tasks',
  )
  run.log.debug({ asked: due.length, missing: missing.length }, 'Open tasks')
}

/** Where the windows begin that rows lie in, in a list in created order, by what the mirror holds. */
export async function windowsOf({ writer, facts, config }: Run, seqs: number[]): Promise<number[]> {
  const places = await writer.placesOf(seqs, facts.order === 'created_desc')
  const size = Math.min(config.sync.window, facts.page_cap ?? config.sync.window)
  return coveringWindows(places, size, Math.min(config.sync.overlap * 5, Math.floor(size / 4)))
}

/** Takes the windows in for their items alone: they join no chain. */
export async function readWindows(run: Run, starts: number[]): Promise<void> {
  const { writer, service, now } = run
  const take = run.config.sync.window
  for (const skip of starts) {
    const answer = await service.list({ skip, take }, (raw) => writer.parseList(raw))
    if (answer.kind !== 'ok') continue
    const { handle } = answer.value
    await writer.view(handle, 0)
    await writer.takeIn({ handle, walkId: null, skip, readAt: answer.startedAt, now: now() })
    run.progress.set({ phase: 'open tasks', requests: service.traffic().requests })
  }
}
