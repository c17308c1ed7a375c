// How many items windows ask for: as many as configured, and fewer where items are heavy, so that several windows may
// be under way in `service.maxBytesInFlight`. What an item weighs is known from this run's answers, from earlier runs,
// or from the first window, which is then asked for before the walk begins; and from each answer of a walk, whose
// windows shrink and grow with it. If what is read ahead turns out much heavier than expected, it is not read to its
// end, but asked for again by itself.
import type { Run } from './context.ts'

/** An answer of this size is made ready while others come, by the thread that has time for it (writer/prepare.ts). */
const GOOD_BYTES = 3 * 1024 * 1024
/** At least so many items, so that windows share few of them; unless half of `maxBytesInFlight` holds fewer. */
const GOOD_ITEMS = 40
/** Of the items of a window, one in so many is enough to share with the next one. */
const SHARED = 32
/** What is read ahead may be so many times as heavy as expected, or as `GOOD_BYTES`. */
const SURPRISE = 2
/** Windows change only when they could be so many times as large or small: reading ahead counts on their size. */
const CHANGE = 2
/** So many items are asked for where a whole window was too heavy to be read. */
export const SMALL_WINDOW = 10

interface WindowSize {
  window: number
  overlap: number
}

/** The sizes for items of `itemBytes`; those configured where that is null. Pure. */
export function windowSize(configured: WindowSize, maxBytesInFlight: number, itemBytes: number | null): WindowSize {
  if (itemBytes === null) return configured
  const fitting = Math.floor(maxBytesInFlight / 2 / itemBytes)
  const good = Math.min(fitting, Math.max(GOOD_ITEMS, Math.floor(GOOD_BYTES / itemBytes)))
  const window = Math.max(Math.min(2, configured.window), Math.min(configured.window, good))
  if (window === configured.window) return configured
  return { window, overlap: Math.min(configured.overlap, Math.max(2, Math.floor(window / SHARED))) }
}

/** The size of a walk's windows, which follows what its answers weigh. */
export class WalkWindow implements WindowSize {
  #present: WindowSize
  readonly #configured: WindowSize
  readonly #maxBytesInFlight: number
  /** What an item weighs here, bytes; null while nothing is known. */
  itemBytes: number | null

  /** `least`: windows are smaller than this only where answers of this walk show that they have to be. */
  constructor(configured: WindowSize, maxBytesInFlight: number, itemBytes: number | null, least = 0) {
    this.#configured = configured
    this.#maxBytesInFlight = maxBytesInFlight
    this.itemBytes = itemBytes
    const { window, overlap } = windowSize(configured, maxBytesInFlight, itemBytes)
    this.#present = { window: Math.max(window, least), overlap }
  }

  get window(): number {
    return this.#present.window
  }

  get overlap(): number {
    return this.#present.overlap
  }

  /** Notes an answer. Items heavier than before are believed at once, lighter ones little by little. */
  saw(items: number, bytes: number): void {
    if (items === 0) return
    const before = this.itemBytes ?? 0
    this.#weigh(Math.max(bytes / items, before + (bytes / items - before) / 4))
  }

  /** An answer of `take` items would have been larger than all that may be under way. */
  failed(take: number): void {
    this.#weigh(Math.max(this.itemBytes ?? 0, this.#maxBytesInFlight / take))
  }

  #weigh(itemBytes: number): void {
    const isFirst = this.itemBytes === null
    this.itemBytes = itemBytes
    const wanted = windowSize(this.#configured, this.#maxBytesInFlight, itemBytes)
    const { window } = this
    const isWhole = wanted.window === this.#configured.window
    if (isFirst || isWhole || wanted.window * CHANGE <= window || wanted.window >= window * CHANGE)
      this.#present = wanted
  }

  /** The most bytes of one of the windows read ahead; the client does not bound one of 16 tasks or fewer by it. */
  maxBytesAhead(take: number): number {
    return Math.min(this.#maxBytesInFlight, SURPRISE * Math.max(GOOD_BYTES, take * (this.itemBytes ?? 0)))
  }

  /** How many windows of `take` items may be under way. */
  fitting(take: number): number {
    return Math.floor(this.#maxBytesInFlight / Math.max(1, take * (this.itemBytes ?? 0)))
  }
}

/** The size by what this run's answers have shown, or earlier runs. */
export function windowSizeOf(run: Run): WindowSize {
  return windowSize(run.config.sync, run.config.service.maxBytesInFlight, itemBytesOf(run))
}

/** The most items that one window may hold: what is asked for and given. */
export function windowCapacity(run: Run): number {
  const { window } = windowSizeOf(run)
  return Math.min(window, run.facts.page_cap ?? window)
}

/** Mean bytes of a listed item, as far as known. */
export function itemBytesOf({ service, facts }: Pick<Run, 'service' | 'facts'>): number | null {
  const { windows } = service.costs()
  return facts.item_bytes ?? (windows.items > 0 ? windows.bytes / windows.items : null)
}
