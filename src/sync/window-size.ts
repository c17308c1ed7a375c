// How many items windows ask for: as many as configured, and fewer where items are heavy, so that several windows may be
// under way in `service.maxBytesInFlight`. What an item weighs is known from this run's answers, from earlier runs, or from
// the first window, which is then asked for before the walk begins. Where single answers are heavier than expected all the
// same, the walk halves them (walk/reader.ts).
import type { Answer } from '../service/service.ts'
import type { Run } from './context.ts'
import type { ListSource } from './list-source.ts'
import type { ParsedList } from './writer/writing.ts'

/** An answer of this size is made ready while others come, and by the thread that has time for it (writer/prepare.ts). */
const GOOD_BYTES = 3 * 1024 * 1024
/** So many items, so that those that windows share are few, unless half of what may be under way holds fewer. */
const GOOD_ITEMS = 40
/** Of the items of a window, one in so many is enough to share with the next one. */
const SHARED = 32
/** Asked for where a whole window was too heavy to be read. */
const FEW = 10

interface WindowSize {
  window: number
  overlap: number
}

/** The sizes for items of so many bytes; those configured where that is null. Pure. */
export function windowSize(configured: WindowSize, maxBytesInFlight: number, itemBytes: number | null): WindowSize {
  if (itemBytes === null || itemBytes <= 0) return configured
  const fitting = Math.floor(maxBytesInFlight / 2 / itemBytes)
  const good = Math.min(fitting, Math.max(GOOD_ITEMS, Math.floor(GOOD_BYTES / itemBytes)))
  const window = Math.max(Math.min(2, configured.window), Math.min(configured.window, good))
  if (window === configured.window) return configured
  return { window, overlap: Math.min(configured.overlap, Math.max(2, Math.floor(window / SHARED))) }
}

/** By what this run's answers have shown, or earlier runs. */
export function windowSizeOf(run: Run): WindowSize {
  return windowSize(run.config.sync, run.config.service.maxBytesInFlight, itemBytesOf(run))
}

/** Mean bytes of a listed item, as far as known. */
export function itemBytesOf({ costs, facts }: Pick<Run, 'costs' | 'facts'>): number | null {
  const { windows } = costs()
  return facts.item_bytes ?? (windows.items > 0 ? windows.bytes / windows.items : null)
}

/** `sizeOf` for a walk from the start of the list; asks for its first window ahead where nothing is known yet. */
export async function sizeByFirst(run: Run, source: ListSource): Promise<WindowSize> {
  if (itemBytesOf(run) === null) {
    const { window } = run.config.sync
    if ((await source.askAhead(0, window)) === 'too-large') await askFew(run)
  }
  return windowSizeOf(run)
}

/** The first window of the list, shorter where that is too heavy. */
export async function askFirst(run: Run): Promise<Answer<ParsedList>> {
  const answer = await run.service.list({ skip: 0, take: windowSizeOf(run).window }, (raw) => run.writer.parseList(raw))
  return answer.kind === 'failed' && answer.reason === 'too-large' ? listFew(run) : answer
}

function listFew({ service, writer, config }: Run): Promise<Answer<ParsedList>> {
  return service.list({ skip: 0, take: Math.min(FEW, config.sync.window) }, (raw) => writer.parseList(raw))
}

async function askFew(run: Run): Promise<void> {
  const answer = await listFew(run)
  if (answer.kind === 'ok') await run.writer.dropWindow(answer.value.handle)
}
