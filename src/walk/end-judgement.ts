// What may come of looking at the end of the list, and what one answer from behind the last item says of it.
import type { Moment } from '../task.ts'
import type { Cut } from './paging.ts'
import { isNothing } from './reader.ts'
import type { ItemsWindow, WindowAnswer } from './source.ts'

export type EndJudgement =
  /**
   * Nothing behind item `index`, which is the last item; `tied` where another of its tie run stood there in the end, so
   * that the run has to be counted. `repeats`: behind the end the service gives its last window again. `window`: joins the
   * chain, and is its end.
   */
  | { kind: 'proven'; index: number; tied: boolean; repeats?: boolean; window?: ItemsWindow }
  /**
   * There are items behind that have not been met. `behind`: the answer that showed them, directly behind. `looked`: they
   * are few, and nothing was found further on.
   */
  | { kind: 'more'; behind?: ItemsWindow; looked?: boolean }
  /** The list moved while it was looked at: look again. */
  | { kind: 'moved' }
  /** Pages are filtered after paging: `window` lies behind a stretch without visible items, joined by its place. */
  | { kind: 'gap'; window: ItemsWindow }
  /** The service does not honour skip. */
  | { kind: 'unprovable'; reason: 'skip-ignored' | 'wraps' | 'page-of-one' | 'skip-limit' | 'ties' }

export interface EndQuestion {
  /** Id of the last item of the window that looks like the last one; it has been met. */
  lastId: string
  lastMoment: Moment
  /** Its index as last read. */
  index: number
  /** Where its run of equal createdAt begins. */
  runStart: number
  /** Ask beyond the end too: full walks. */
  beyond: boolean
  /** The walk did not begin with the list. */
  isPart: boolean
  /** Where it is by no fixed number, every window up to ten behind the end is looked at. */
  cut: Cut
  /** How far one answer reaches: the most that answers held where more was asked for and was there, else the window. */
  page: number
  /** The end moved when it was looked at before. */
  moving: boolean
  /** One answer had room behind the last item. */
  hasRoom?: true
  /** From where it was looked further on before, and nothing was there; null where it was not. */
  looked: number | null
}

export const MORE: EndJudgement = { kind: 'more' }

/** `elsewhere`: everything in it has been met, but the last item is not among it. */
export function readProbe(question: EndQuestion, answer: WindowAnswer): 'nothing' | 'met' | 'elsewhere' | EndJudgement {
  if (isNothing(answer)) return 'nothing'
  if (answer.kind !== 'items') return MORE
  const past = answer.ids.lastIndexOf(question.lastId)
  for (let index = 0; index < answer.ids.length; index += 1) {
    // Unmet items in front of the last one were inserted meanwhile; behind it, or without it, there is more to read.
    if (answer.met[index] === 0 && (past < 0 || index > past)) return MORE
  }
  return past < 0 ? 'elsewhere' : 'met'
}
