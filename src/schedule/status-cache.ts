// What `schedule` shows of the mirror. A thread reads it now and then and after every run; callers get the last answer.
import type { Clock } from '../clock.ts'
import { isMirrorError } from '../errors.ts'
import type { TaskFigures } from '../mirror/shown/figures.ts'
import type { MirrorStatus } from '../mirror/shown/status.ts'
import type { Shown } from '../report/page.ts'
import { mirrorAge } from './age.ts'
import { startThread } from './thread.ts'
import type { StatusRead } from './worker.ts'

const READ_EVERY_MS = 15_000
const LEAST_PAUSE_MS = 5000
const PAUSES = 10

interface StatusCacheOptions {
  dbPath: string
  /** A stored moment later than now by more than this is unknown. */
  settleMs: number
  /** The wall clock, epoch ms. */
  now: Clock
  /** ms. */
  monotonic: Clock
}

export async function startStatusCache({ dbPath, settleMs, now, monotonic }: StatusCacheOptions) {
  const thread = startThread(dbPath)
  let known: StatusRead | null = null
  let figures: TaskFigures | null = null
  /** When figures were last counted, by the monotonic clock, and how long that took, ms. */
  let countedLast = Number.NEGATIVE_INFINITY
  let countedIn = 0
  const age = mirrorAge(now, monotonic, settleMs)
  let isCounting = false

  const refresh = async (): Promise<void> => {
    try {
      known = await thread.ask('status', dbPath)
      age.learn(known.status.freshAt)
    } catch (error) {
      // While another program has locked the file, what was known before still holds.
      if (!isMirrorError(error, 'mirror-locked')) known = null
    }
  }
  const count = async (): Promise<void> => {
    isCounting = true
    try {
      const counted = await thread.ask('figures', { dbPath, now: now() })
      figures = counted.figures
      countedIn = counted.durationMs
      countedLast = monotonic()
    } catch {
      // Without a mirror there is nothing to count; /healthz says what is wrong.
    }
    isCounting = false
  }

  await refresh()
  const timer = setInterval(refresh, READ_EVERY_MS).unref()
  return {
    /** null where there is no mirror, or it cannot be read. */
    status: (): MirrorStatus | null => known?.status ?? null,
    /** When the last snapshot was published, epoch ms; undefined where there is none. */
    publishedAt: (): number | undefined => known?.recent.publications[0]?.publishedAt,
    /** Age of what the mirror shows, ms; null where it is not known. */
    ageMs: age.ageMs,
    /** null without a mirror. Recounts figures for at most a tenth of the time; all else is at most 15 s old. */
    shown(): Shown | null {
      if (known === null) return null
      const pause = Math.max(LEAST_PAUSE_MS, PAUSES * countedIn)
      if (!isCounting && monotonic() - countedLast >= pause) void count()
      return { status: known.status, recent: known.recent, figures }
    },
    /** Throws nothing. */
    refresh,
    async end(): Promise<void> {
      clearInterval(timer)
      await thread.end()
    },
  }
}

export type StatusCache = Awaited<ReturnType<typeof startStatusCache>>
