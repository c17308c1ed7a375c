// An end of the list that moves, or grows, whenever it is looked at: how long a walk goes on trying, and what it can
// still claim when it stops.
import type { ChainState } from './chain.ts'
import { findHorizon } from './end.ts'
import { orderShown } from './order.ts'
import type { Reader } from './reader.ts'
import type { WalkRequest } from './request.ts'

/** How often the end may turn out to have moved, or the list to have grown, before the walk gives up. */
const TRIES = 12
/** After so many times that it has grown, what the walk can still claim is looked for. */
const PATIENCE = 2
/** Moves in all count a fifth of moves in a row. */
const IN_ALL = 5

/** Nothing yet; or the walk ends: with everything created before `until` met, or without a proof. */
export type Patience = { kind: 'go-on' } | { kind: 'until'; moment: number } | { kind: 'give-up' }

export class MovingEnd {
  private readonly reader: Reader
  private readonly request: WalkRequest
  /** Since something new was met, and since an item was joined by its place. */
  private inARow = 0
  private inAll = 0
  private growths = 0
  /** An index at which there was nothing: a chain that passes it follows a list that grows while it is read. */
  private horizon = 0

  constructor(reader: Reader, request: WalkRequest) {
    this.reader = reader
    this.request = request
  }

  get hasMoved(): boolean {
    return this.inAll > 0
  }

  /** Something new was met. */
  progressed(): void {
    this.inARow = 0
  }

  /** The chain went on by a place, where the end had seemed to be. */
  passedBy(): void {
    this.inARow = 0
    this.inAll = 0
  }

  moved(): Patience {
    this.inARow += 1
    this.inAll += 1
    return { kind: Math.max(this.inARow, this.inAll / IN_ALL) > TRIES ? 'give-up' : 'go-on' }
  }

  /** More lies behind the chain: at the end of a list that grows, where the chain has passed the horizon. */
  async more(chain: ChainState): Promise<Patience> {
    if (chain.end < this.horizon) return { kind: 'go-on' }
    const grown = this.horizon > 0
    this.horizon = await findHorizon(this.reader, chain.end)
    if (!grown) return { kind: 'go-on' }
    this.growths += 1
    if (this.growths <= PATIENCE) return { kind: 'go-on' }
    const moment = this.startPassed(chain)
    if (moment !== null) return { kind: 'until', moment }
    return { kind: this.growths > TRIES ? 'give-up' : 'go-on' }
  }

  /**
   * Oldest first: once the chain has met what was created after the walk began, everything older has been met, however
   * fast the list grows. The moment the walk began, by the service's clock; null where that does not hold.
   */
  private startPassed(chain: ChainState): number | null {
    const { known, settings } = this.request
    const shown = orderShown(chain.order, settings.settleMs)
    const order = shown.order ?? known?.order ?? null
    const start = chain.firstServiceDate ?? chain.firstStartedAt
    if (order !== 'created_asc' || start === null || chain.last?.moment == null) return null
    const slackMs = Math.max(shown.inversionMs, known?.inversionMs ?? 0)
    return chain.last.moment >= start + slackMs ? start : null
  }
}
