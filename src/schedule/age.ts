// The age of the mirror while `schedule` runs. The monotonic clock counts it: setting the clock makes no mirror fresh.
import { ageOf, type Clock } from '../clock.ts'

export function mirrorAge(now: Clock, monotonic: Clock, settleMs: number) {
  let known: { freshAt: number | null; ageMs: number | null; at: number } = { freshAt: null, ageMs: null, at: 0 }
  return {
    /** `freshAt` as the mirror has it now, epoch ms; null where it has none. */
    learn(freshAt: number | null): void {
      if (freshAt === known.freshAt && known.ageMs !== null) return
      known = { freshAt, ageMs: ageOf(freshAt, now(), settleMs), at: monotonic() }
    },
    /** null where it is not known. */
    ageMs(): number | null {
      if (known.ageMs === null) return null
      // The monotonic clock stops while a machine sleeps: a greater age by the wall clock counts instead.
      return Math.max(known.ageMs + Math.round(monotonic() - known.at), ageOf(known.freshAt, now(), settleMs) ?? 0)
    },
  }
}
