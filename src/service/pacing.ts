// What all requests of a run share: requests per second, waits asked for, adaptive concurrency. Knows no HTTP.
import { MirrorError } from '../errors.ts'
import { moment } from '../shown.ts'

export type WaitReason = 'retry-after' | 'back-off'

export interface PacingOptions {
  /** Most requests under way at once; fewer while the service is strained. */
  concurrency: number
  requestsPerSecond: number | null
  /** A longer Retry-After ends the run instead: `wait-too-long`. */
  maxRetryAfterMs: number
  /** Its abort rejects everything under way. */
  signal: AbortSignal
  /** Epoch ms. */
  now(): number
  /** Resolves after `ms`, or rejects as soon as `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** A wait begins: until when, epoch ms, and why. */
  onWait?(untilMs: number, why: WaitReason): void
}

/** How many may be under way at once. */
interface Allowance {
  present: number
  /** As the slow-start threshold of TCP: up to how many went well until it was too much. */
  threshold: number
  /** Good answers that one more takes, for each that is under way: more with every time it was too much. */
  patience: number
}

/** At first the threshold is as many as are wanted. */
export function allowanceOf(present: number, most: number): Allowance {
  return { present: Math.min(present, most), threshold: most, patience: 0.5 }
}

const MOST_PATIENCE = 16

/**
 * As TCP does it: half after a strained answer; one more for each good one up to the threshold, so that a round doubles
 * it, and beyond that about one more per round. A service that bears no more than it does now is tried more and more rarely.
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

/** Requests at once in the beginning, before it is known how the service bears them. */
const FIRST = 4

/** A longer timer fires at once in Node. */
const LONGEST_SLEEP_MS = 2 ** 31 - 1

export class Pacing {
  readonly #options: PacingOptions
  /** Between two sends, ms. */
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
  /** Wakes everybody who waits; replaced after a wait that is too long, for those who come when it is over. */
  #alarm = new AbortController()

  constructor(options: PacingOptions) {
    const { signal, concurrency, requestsPerSecond } = options
    this.#options = options
    this.#interval = requestsPerSecond === null ? 0 : 1000 / requestsPerSecond
    this.#allowance = allowanceOf(FIRST, concurrency)
    signal.addEventListener('abort', () => this.#wake(signal.reason), { once: true })
  }

  /**
   * Resolves when a request may be sent, to what gives its slot back (calling that again does nothing).
   * `notBefore`, epoch ms, is the request's own back-off. Rejects with `wait-too-long`, or the reason of the signal.
   */
  async enter(notBefore?: number): Promise<() => void> {
    const { now } = this.#options
    this.#check()
    if (notBefore !== undefined && notBefore > now()) {
      this.#options.onWait?.(notBefore, 'back-off')
      await this.#waitUntil(() => notBefore)
    }
    await this.#takeSlot()
    const leave = this.#leaving()
    try {
      // Whoever wakes first takes the turn in the same step; the others look again.
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

  /** The service asks everyone to wait. Throws `wait-too-long` beyond the limit, to all who wait as well. */
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

  /** How the service bears the load, told by a request sent at `startedAt`. */
  heard(how: 'well' | 'strained', startedAt: number): void {
    if (how === 'strained') {
      // Requests sent before the last halving tell of the load it has already answered.
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
  concurrency(): number {
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
