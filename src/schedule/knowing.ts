// What `schedule` knows of the mirror without asking it: read on a thread of its own, now and then and after every run.
// Whoever asks here gets the last answer at once.
import type { Clock } from '../clock.ts'
import { isMirrorError } from '../errors.ts'
import type { LastPublication } from '../mirror/figures.ts'
import type { MirrorStatus } from '../mirror/status.ts'
import { mirrorAge } from './age.ts'
import { startThread } from './thread.ts'
import type { Sections } from './worker.ts'

export interface Knowing {
  /** null where there is no mirror, or it cannot be read. */
  status(): MirrorStatus | null
  publication(): LastPublication | null
  /** How old what the mirror shows is, ms; null where that is not known. */
  ageMs(): number | null
  /**
   * The parts of the status page as they were last drawn; empty, with `at` null, before that. Has them drawn anew where
   * runs have ended since; a large mirror no more often than costs a tenth of the time.
   */
  sections(): Pick<Sections, 'html' | 'baseUrl'> & { at: number | null }
  /** Throws nothing. */
  refresh(): Promise<void>
  end(): Promise<void>
}

const READ_EVERY_MS = 15_000
const LEAST_PAUSE_MS = 5000
const PAUSES = 10

export interface KnowingOptions {
  dbPath: string
  /** A stored moment later than now by more than this is unknown. */
  settleMs: number
  /** The wall clock, epoch ms. */
  now: Clock
  /** ms. */
  monotonic: Clock
}

export async function startKnowing({ dbPath, settleMs, now, monotonic }: KnowingOptions): Promise<Knowing> {
  const thread = startThread(dbPath)
  let status: MirrorStatus | null = null
  let publication: LastPublication | null = null
  let drawn: Sections = { html: '', baseUrl: null, durationMs: 0 }
  let drawnAt: number | null = null
  /** By the monotonic clock. */
  let drawnLast = Number.NEGATIVE_INFINITY
  const age = mirrorAge(now, monotonic, settleMs)
  let isDrawing = false

  const refresh = async (): Promise<void> => {
    try {
      const found = await thread.ask('status', dbPath)
      status = found.status
      publication = found.publication
      age.learn(status.freshAt)
    } catch (error) {
      // What was known before still holds while another program has the file.
      if (!isMirrorError(error, 'mirror-locked')) status = null
    }
  }
  const draw = async (): Promise<void> => {
    isDrawing = true
    const at = now()
    try {
      drawn = await thread.ask('sections', { dbPath, now: at })
      drawnAt = at
      drawnLast = monotonic()
    } catch {
      // Without a mirror there is nothing to draw; what is wrong with it is said by /healthz.
    }
    isDrawing = false
  }

  await refresh()
  const timer = setInterval(refresh, READ_EVERY_MS).unref()
  return {
    status: () => status,
    publication: () => publication,
    ageMs: () => age.ageMs(),
    sections() {
      const pause = Math.max(LEAST_PAUSE_MS, PAUSES * drawn.durationMs)
      if (!isDrawing && status !== null && monotonic() - drawnLast >= pause) void draw()
      return { html: drawn.html, baseUrl: drawn.baseUrl, at: drawnAt }
    },
    refresh,
    async end() {
      clearInterval(timer)
      await thread.end()
    },
  }
}
