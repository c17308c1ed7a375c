// A cache in front of the simulated service: repeats earlier answers, and marks them as well or badly as real ones do.
import type { SimulatedClock } from './account.ts'
import type { SimulatorOptions } from './options.ts'
import type { SimulatedAnswer } from './respond.ts'

interface CachedAnswer {
  answer: SimulatedAnswer
  /** The time its Date header gives, epoch ms. */
  date: number
  headers: [name: string, value: string][]
}

const MOST = 10_000

export class Cache {
  readonly #options: SimulatorOptions
  readonly #now: SimulatedClock
  readonly #kept = new Map<string, { answer: SimulatedAnswer; at: number }>()

  constructor(options: SimulatorOptions, now: SimulatedClock) {
    this.#options = options
    this.#now = now
  }

  /** `request`: the same text for the same request; `headers` have lower-case names. null where there is no cache. */
  answer(
    request: string,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    ask: () => SimulatedAnswer,
  ): CachedAnswer | null {
    const { cacheMs, cacheSigns, cacheHeeds } = this.#options
    if (cacheMs === 0) return null
    const now = this.#now()
    const kept = this.#kept.get(request)
    const isHeeded = cacheHeeds && /\bno-cache\b/.test(String(headers['cache-control'] ?? ''))
    if (kept === undefined || now - kept.at >= cacheMs || isHeeded) {
      const answer = ask()
      if (this.#kept.size < MOST) this.#kept.set(request, { answer, at: now })
      return { answer, date: now, headers: cacheSigns === 'x-cache' ? [['x-cache', 'MISS']] : [] }
    }
    const { answer, at } = kept
    if (cacheSigns === 'nothing') return { answer, date: now, headers: [] }
    if (cacheSigns === 'date') return { answer, date: at, headers: [] }
    if (cacheSigns === 'x-cache') return { answer, date: at, headers: [['x-cache', 'HIT']] }
    return { answer, date: at, headers: [['age', String(Math.ceil((now - at) / 1000))]] }
  }
}
