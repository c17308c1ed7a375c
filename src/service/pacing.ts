// What all requests of a run share: requests per second, waits the service asks for, adaptive concurrency. No HTTP.
import { MirrorError } from '../errors.ts'
import { moment } from '../shown.ts'

export type WaitReason = 'retry-after' | 'back-off'

export interface PacingOptions {
  /** Most requests under way at once; fewer while the service is strained. */
  concurrency: number
  requestsPerSecond: number | null
  /** A longer Retry-After ends the run instead: `wait-too-long`. */
  maxRetryAfterMs: number
  /** Its abort rejects everybody who waits. */
  signal: AbortSignal
  /** Epoch ms. */
  now(): number
  /** Resolves after `ms`, or rejects as soon as `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** Called when a wait begins: until when, epoch ms, and why. */
  onWait?(untilMs: number, why: WaitReason): void
}

/** How many requests may be under way at once. */
interface Allowance {
  present: number
  /** TCP's slow-start threshold: half of how many were allowed when it was last too much. */
  threshold: number
  /** Rounds of good answers that one more takes beyond the threshold, at least 1; doubles each time it was too much. */
  patience: number
}

/** The allowance to begin with; its threshold is the most that are wanted. */
export function allowanceOf(present: number, most: number): Allowance {
  return { present: Math.min(present, most), threshold: most, patience: 0.5 }
}

const MOST_PATIENCE = 16

/**
 * As in TCP: a strained answer halves it; up to the threshold each good answer adds one, so that a round doubles it;
 * beyond it, one more takes `patience` rounds, so that a service that bears no more is tried ever more rarely.
 */
export function nextAllowance(
  { present, threshold, patience }: Allowance,
  how: 'well' | 'strained',
  most: number,
): Allowance {
  if (how === 'strained') {
    const half = Math.max(1, present / 2)
    return { present: half, threshold: half, patience: Math.min(MOST_PATIENCE, patience * 2) }
  }
  const more = present < threshold ? 1 : 1 / (present * Math.max(1, patience))
  return { present: Math.min(most, present + more), threshold, patience }
}

/** Requests at once to begin with, until the service has shown how many it bears. */
const FIRST = 4

/** Node fires a longer timer at once. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1

export class Pacing {
  readonly #options: PacingOptions
  /** Least time between two sends, ms. */
  readonly #interval: number
  readonly #queue: { resolve(): void; reject(reason: unknown): void }[] = []
  #allowance: Allowance
  #taken = 0
  #halvedAt = Number.NEGATIVE_INFINITY
  #heldUntil = Number.NEGATIVE_INFINITY
  #nextSend = Number.NEGATIVE_INFINITY
  #refusal: { error: MirrorError; until: number } | null = null
  #waited = 0
  #countedUntil = Number.NEGATIVE_INFINITY
  /** Its abort wakes everybody who waits; replaced each time, for those who come later. */
  #alarm = new AbortController()

  constructor(options: PacingOptions) {
    const { signal, concurrency, requestsPerSecond } = options
    this.#options = options
    this.#interval = requestsPerSecond === null ? 0 : 1000 / requestsPerSecond
    this.#allowance = allowanceOf(FIRST, concurrency)
    signal.addEventListener('abort', () => this.#wake(signal.reason), { once: true })
  }

  /**
   * Resolves when a request may be sent, to a function that gives its slot back (a second call does nothing).
   * `notBefore`, epoch ms, is the request's own back-off. Rejects with `wait-too-long`, or the reason of the signal.
   */
  async enter(notBefore?: number): Promise<() => void> {
    const { now } = this.#options
    this.#check()
    if (notBefore !== undefined && notBefore > now()) {
      if (notBefore > this.#heldUntil) this.#options.onWait?.(notBefore, 'back-off')
      await this.#waitUntil(() => notBefore)
    }
    await this.#takeSlot()
    const leave = this.#leaving()
    try {
      // Whoever wakes first takes the turn in the same step; the others check again.
      for (;;) {
        this.#check()
        if (now() < this.#heldUntil) await this.#waitUntil(() => this.#heldUntil)
        else if (now() < this.#nextSend) await this.#sleepUntil(() => this.#nextSend)
        else break
      }
      this.#nextSend = now() + this.#interval
      return leave
    } catch (error) {
      leave()
      throw error
    }
  }

  /** The service asks everyone to wait. Beyond the limit `wait-too-long` is thrown, here and to all who wait. */
  hold(waitMs: number): void {
    const until = this.#options.now() + waitMs
    if (waitMs > this.#options.maxRetryAfterMs) {
      const error = tooLong(waitMs, until)
      if (this.#refusal === null || until > this.#refusal.until) this.#refusal = { error, until }
      this.#wake(error)
      throw error
    }
    if (until <= this.#heldUntil || waitMs === 0) return
    this.#heldUntil = until
    this.#options.onWait?.(until, 'retry-after')
  }

  /** Learns how the service bears the load, from a request that was sent at `startedAt`. */
  heard(how: 'well' | 'strained', startedAt: number): void {
    if (how === 'strained') {
      // The last halving already answers the load of requests that were sent before it.
      if (startedAt < this.#halvedAt) return
      this.#halvedAt = this.#options.now()
    }
    this.#allowance = nextAllowance(this.#allowance, how, this.#options.concurrency)
    this.#admit()
  }

  /** Time in which somebody waited on a hold or a back-off, ms; overlapping waits count once. */
  waitedMs(): number {
    return this.#waited
  }

  /** Requests that may be under way at once at present. */
  allowed(): number {
    return Math.floor(this.#allowance.present)
  }

  #wake(reason: unknown): void {
    this.#alarm.abort(reason)
    this.#alarm = new AbortController()
    for (const waiter of this.#queue.splice(0)) waiter.reject(reason)
  }

  #check(): void {
    this.#options.signal.throwIfAborted()
    if (this.#refusal !== null && this.#options.now() < this.#refusal.until) throw this.#refusal.error
    this.#refusal = null
  }

  async #sleepUntil(target: () => number): Promise<void> {
    const { now, sleep } = this.#options
    this.#check()
    while (now() < target()) {
      const { signal: woken } = this.#alarm
      try {
        await sleep(Math.min(target() - now(), LONGEST_SLEEP_MS), woken)
      } catch (error) {
        throw woken.aborted ? woken.reason : error
      }
      woken.throwIfAborted()
    }
  }

  async #waitUntil(target: () => number): Promise<void> {
    const from = this.#options.now()
    try {
      await this.#sleepUntil(target)
    } finally {
      const until = this.#options.now()
      this.#waited += Math.max(0, until - Math.max(from, this.#countedUntil))
      this.#countedUntil = Math.max(this.#countedUntil, until)
    }
  }

  #takeSlot(): Promise<void> {
    const slot = Promise.withResolvers<void>()
    this.#queue.push(slot)
    this.#admit()
    return slot.promise
  }

  #admit(): void {
    while (this.#queue.length > 0 && this.#taken < Math.floor(this.#allowance.present)) {
      this.#taken += 1
      this.#queue.shift()!.resolve()
    }
  }

  #leaving(): () => void {
    let left = false
    return () => {
      if (left) return
      left = true
      this.#taken -= 1
      this.#admit()
    }
  }
}

function tooLong(waitMs: number, until: number): MirrorError {
  const then = moment(until)
  return new MirrorError('wait-too-long', `The service asks to wait ${Math.ceil(waitMs / 1000)} s, until ${then}`, {
    facts: { notBefore: until, retryAfterMs: waitMs },
    hint: `Run the same command after ${then}, or raise service.maxRetryAfterMs.`,
  })
}
