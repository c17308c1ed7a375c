// The text of `rejected`. Pure.
import type { SetAsideList } from '../../mirror/tables/set-aside.ts'
import { countText, grouped, moment } from '../../shown.ts'
import type { ReplayResult } from '../../sync/one-off/replay.ts'
import { jsonPieceTexts } from './json-pieces.ts'
import { table } from './layout.ts'

export function* setAsideText({ total, items }: SetAsideList, width?: number): Generator<string> {
  if (total === 0) return yield 'Nothing is set aside.'
  const rows = items.map((item) => [
    item.id,
    moment(item.seenAt),
    item.skip === null ? item.source : `${item.source} at ${item.skip}`,
    item.taskId ?? '-',
    item.reason,
    item.bytes,
  ])
  const head = ['item', 'seen', 'where', 'task', 'reason', 'bytes']
  const shown = items.length < total ? `\n${countText(total, 'item')} in all; --limit shows more.` : ''
  yield `${table(head, rows, { width })}${shown}`
  for (const item of items) {
    const { raw } = item
    if (raw === undefined) continue
    yield `\nitem ${item.id}: `
    yield* jsonPieceTexts(raw)
  }
}

export function replayText({ tried, taken, settled, left }: ReplayResult): string {
  if (tried === 0) return 'Nothing is set aside.'
  const byWalk = settled === 0 ? '' : `, ${grouped(settled)} settled by a later full walk`
  return `${countText(tried, 'item')} tried: ${grouped(taken)} taken in${byWalk}, ${grouped(left)} left.`
}
