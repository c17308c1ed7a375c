// What all requests of a run share: requests per second, waits asked for, adaptive concurrency. Knows no HTTP.
import { MirrorError } from '../errors.ts'

export type WaitReason = 'retry-after' | 'back-off'

export interface PacingOptions {
  /** Most requests under way at once. */
  concurrency: number
  requestsPerSecond: number | null
  /** A longer wait ends the run instead. */
  maxRetryAfterMs: number
  signal: AbortSignal
  /** Epoch ms. */
  now(): number
  /** Resolves after `ms`, or rejects as soon as `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** A wait begins: until when, epoch ms, and why. */
  onWait?(untilMs: number, why: WaitReason): void
}

export interface Pacing {
  /**
   * Resolves when a request may be sent, to what gives its slot back (calling that again does nothing).
   * `notBefore`, epoch ms, is the request's own back-off. Rejects with `wait-too-long`, or the reason of the signal.
   */
  enter(notBefore?: number): Promise<() => void>
  /** The service asks everyone to wait. Throws `wait-too-long` beyond the limit, to all who wait as well. */
  hold(waitMs: number): void
  /** How the service bears the load, told by a request sent at `startedAt`. */
  heard(how: 'well' | 'strained', startedAt: number): void
  /** Time in which somebody waited on a hold or a back-off, ms; overlapping waits count once. */
  waitedMs(): number
  /** Requests that may be under way at once at present. */
  concurrency(): number
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

export function createPacing(options: PacingOptions): Pacing {
  const { now, signal } = options
  const interval = options.requestsPerSecond === null ? 0 : 1000 / options.requestsPerSecond
  const queue: { resolve(): void; reject(reason: unknown): void }[] = []
  let allowance = allowanceOf(FIRST, options.concurrency)
  let taken = 0
  let halvedAt = Number.NEGATIVE_INFINITY
  let heldUntil = Number.NEGATIVE_INFINITY
  let nextSend = Number.NEGATIVE_INFINITY
  let refusal: { error: MirrorError; until: number } | null = null
  let waited = 0
  let countedUntil = Number.NEGATIVE_INFINITY
  // Wakes everybody who waits; replaced after a wait that is too long, for those who come when it is over.
  let alarm = new AbortController()

  function wake(reason: unknown): void {
    alarm.abort(reason)
    alarm = new AbortController()
    for (const waiter of queue.splice(0)) waiter.reject(reason)
  }
  signal.addEventListener('abort', () => wake(signal.reason), { once: true })

  function check(): void {
    signal.throwIfAborted()
    if (refusal !== null && now() < refusal.until) throw refusal.error
    refusal = null
  }

  async function sleepUntil(target: () => number): Promise<void> {
    check()
    while (now() < target()) {
      const { signal: woken } = alarm
      try {
        await options.sleep(Math.min(target() - now(), LONGEST_SLEEP_MS), woken)
      } catch (error) {
        throw woken.aborted ? woken.reason : error
      }
      woken.throwIfAborted()
    }
  }

  async function waitUntil(target: () => number): Promise<void> {
    const from = now()
    try {
      await sleepUntil(target)
    } finally {
      const until = now()
      waited += Math.max(0, until - Math.max(from, countedUntil))
      countedUntil = Math.max(countedUntil, until)
    }
  }

  function takeSlot(): Promise<void> {
    const slot = Promise.withResolvers<void>()
    queue.push(slot)
    admit()
    return slot.promise
  }

  function admit(): void {
    while (queue.length > 0 && taken < Math.floor(allowance.present)) {
      taken += 1
      queue.shift()!.resolve()
    }
  }

  function leaving(): () => void {
    let left = false
    return () => {
      if (left) return
      left = true
      taken -= 1
      admit()
    }
  }

  return {
    async enter(notBefore) {
      check()
      if (notBefore !== undefined && notBefore > now()) {
        options.onWait?.(notBefore, 'back-off')
        await waitUntil(() => notBefore)
      }
      await takeSlot()
      const leave = leaving()
      try {
        // Whoever wakes first takes the turn in the same step; the others look again.
        for (;;) {
          check()
          if (now() < heldUntil) await waitUntil(() => heldUntil)
          else if (now() < nextSend) await sleepUntil(() => nextSend)
          else break
        }
        nextSend = now() + interval
        return leave
      } catch (error) {
        leave()
        throw error
      }
    },

    hold(waitMs) {
      const until = now() + waitMs
      if (waitMs > options.maxRetryAfterMs) {
        const error = tooLong(waitMs, until)
        if (refusal === null || until > refusal.until) refusal = { error, until }
        wake(error)
        throw error
      }
      if (until <= heldUntil || waitMs === 0) return
      heldUntil = until
      options.onWait?.(until, 'retry-after')
    },

    heard(how, startedAt) {
      if (how === 'strained') {
        // Requests sent before the last halving tell of the load it has already answered.
        if (startedAt < halvedAt) return
        halvedAt = now()
      }
      allowance = nextAllowance(allowance, how, options.concurrency)
      admit()
    },

    waitedMs: () => waited,
    concurrency: () => Math.floor(allowance.present),
  }
}

function tooLong(waitMs: number, until: number): MirrorError {
  const moment = new Date(until).toISOString()
  return new MirrorError('wait-too-long', `The service asks to wait ${Math.ceil(waitMs / 1000)} s, until ${moment}`, {
    facts: { notBefore: until, retryAfterMs: waitMs },
    hint: `Run the same command after ${moment}, or raise service.maxRetryAfterMs.`,
  })
}
