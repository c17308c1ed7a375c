// What a walk needs of the world: windows that tell which of their items this walk has already met. No HTTP, no SQL.
import type { ListAnswer } from '../proof/facts.ts'
import type { Line } from '../proof/judge.ts'
import type { Moment } from '../task.ts'

/**
 * The items that a window brought. The arrays run in list order and have the same length. The clock of `sent` and
 * `received` counts the answers given to the walk, from 1; what may come from a cache was sent at 0.
 */
export interface ItemsWindow extends ListAnswer {
  kind: 'items'
  /** Task ids; an item without a usable id has an identity of its own that no id can equal. */
  ids: string[]
  moments: Moment[]
  met: Uint8Array
  /** 1 where the mirror held the task when this walk began. */
  held: Uint8Array
  /** The service's `Date` header, epoch ms; null where there was none. */
  serviceDate: number | null
  /** When the request was sent, epoch ms of this machine. */
  startedAt: number
  /** Names the parsed window until it is taken in or dropped. */
  handle: number
}

/** The service said no to this window (a 4xx), or it kept failing after its retries. */
export interface NoWindow extends Pick<ListAnswer, 'skip' | 'asked' | 'sent' | 'received'> {
  kind: 'refused' | 'failed'
  /** A stable word for the log and the set-aside reason, such as `status`, `timeout`, `not-json`, `too-large`. */
  reason: string
  message: string
  status: number | null
}

export type WindowAnswer = ItemsWindow | NoWindow

/** The ids of items that the walk had not met, each once: an answer may show one of them several times. */
export function newIds({ ids, met }: Pick<ItemsWindow, 'ids' | 'met'>): Set<string> {
  const news = new Set<string>()
  ids.forEach((id, index) => {
    if (met[index] === 0) news.add(id)
  })
  return news
}

export interface ReadOptions {
  /** The answer must be asked for after this call, or after `prefetch` named it: nothing else read ahead will do. */
  fresh?: boolean
  /** Fewer retries than configured, where failing is half expected. */
  maxRetries?: number
}

export interface WindowSource {
  read(skip: number, take: number, options?: ReadOptions): Promise<WindowAnswer>
  /** The window joins no chain: the source may take its items in, but not as met. */
  drop(window: ItemsWindow): void
  /** Says where the next windows probably lie; a source may read them ahead, but none before the first has come. */
  readAhead(skip: number, stride: number, take: number): void
  /**
   * Names windows that will probably be wanted fresh, and may be as old as this call: a source may ask for all of them
   * at once. The next call takes back what was not read; an empty one does nothing else.
   */
  prefetch(windows: readonly { skip: number; take: number }[]): void
}

/** What a walk asks its consumer to do before it goes on; all of a step is one transaction. */
export type WalkStep =
  | {
      kind: 'take'
      window: ItemsWindow
      /** What the walk resumes from if it is cut off after this step. */
      state: unknown
      /** What the kernel of proof was told since the step before. */
      evidence: Line[]
      nextSkip: number
      drift: number
      /** Given once, with the first window. */
      firstWindow?: { ids: string[]; moments: Moment[] }
    }
  /** Genuine items, but outside the chain: taken in without being met. */
  | { kind: 'keep'; window: ItemsWindow }
  /** Items taken in with `keep` that have turned out to belong to the chain. */
  | { kind: 'mark'; ids: string[] }
  /** A position that cannot be read at any size, set aside. `identity` recognises it in later walks. */
  | { kind: 'unreadable'; skip: number; identity: string; message: string }
