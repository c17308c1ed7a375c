// The tasks every contender reads: the simulator's texts, newest first, kept in memory as bytes, so that answering costs
// the server next to nothing. Knows the simulator; knows nothing of HTTP or of who is measured.
import { createAccount } from '../src/simulator/account.ts'

/** Tasks per block of memory. */
const BLOCK = 1000
/** One task in so many is about 1 MB long: the far end of the tail, beyond what the simulator makes. */
const GIANT_EVERY = 20_000
const GIANT_BYTES = 1_000_000

const FILLER = 'lorem ipsum dolor sit amet consectetur '.repeat(Math.ceil(GIANT_BYTES / 39)).slice(0, GIANT_BYTES)

export interface TaskTexts {
  readonly count: number
  /** The bytes of the tasks from index `from` to `to` (exclusive), with commas between them; 0 is the newest. */
  slices(from: number, to: number): Buffer[]
  /** The place of a task; undefined where there is none. */
  placeOf(id: string): number | undefined
  /** Bytes of all texts. */
  readonly bytes: number
}

/** What the tasks are like. All are finished where nothing else is said: the plain loop does not ask for open ones. */
export interface TaskKind {
  /** Size of each, bytes, as far as the simulator makes it no larger; about 1,000 where absent, and a few much larger. */
  taskBytes?: number
  /** So many of the newest are as if `taskBytes` were absent. */
  lightFirst?: number
  /** Share of open tasks, mostly new ones. */
  openFraction?: number
  /** Every so manyth task is open. */
  openEvery?: number
}

/** `count` tasks from `newest` (epoch ms) 90 days back. */
export function renderTasks(count: number, seed: number, newest: number, kind: TaskKind = {}): TaskTexts {
  const { openFraction = 0, openEvery = 0, taskBytes, lightFirst = 0 } = kind
  const account = createAccount({ seed, tasks: count, openFraction, newest, now: () => newest })
  const blocks: Buffer[] = []
  const offsets: Uint32Array[] = []
  const places = new Map(account.ids().map((id, place) => [id, place]))
  let bytes = 0
  for (let from = 0; from < count; from += BLOCK) {
    const listed = account.list(from, BLOCK)
    if (listed.kind !== 'window') throw new Error(listed.message)
    const texts = listed.texts.map((text, i) => {
      if (openEvery > 0 && (from + i) % openEvery === 0) return opened(text)
      if (taskBytes !== undefined) return from + i < lightFirst ? text : longer(text, taskBytes - text.length)
      return (from + i) % GIANT_EVERY === GIANT_EVERY / 2 ? longer(text, GIANT_BYTES) : text
    })
    const at = new Uint32Array(texts.length + 1)
    // A comma behind every text, so that any stretch is one piece of memory.
    const block = Buffer.from(texts.map((text) => `${text},`).join(''))
    texts.forEach((text, i) => {
      at[i + 1] = at[i]! + Buffer.byteLength(text) + 1
    })
    bytes += block.length - texts.length
    blocks.push(block)
    offsets.push(at)
  }
  return {
    count,
    bytes,
    slices(from, to) {
      const slices: Buffer[] = []
      for (let at = from; at < to; ) {
        const number = Math.floor(at / BLOCK)
        const end = Math.min(to, (number + 1) * BLOCK)
        const within = offsets[number]!
        const first = within[at - number * BLOCK]!
        const behind = within[end - number * BLOCK]! - (end === to ? 1 : 0)
        slices.push(blocks[number]!.subarray(first, behind))
        at = end
      }
      return slices
    },
    placeOf: (id) => places.get(id),
  }
}

/** The same task with a string of so many bytes more in the body of its result. */
function longer(text: string, bytes: number): string {
  if (bytes <= 0) return text
  const inResult = text.indexOf('"result":{"body":{')
  if (inResult < 0) return text
  const at = inResult + '"result":{"body":{'.length
  return `${text.slice(0, at)}"long":"${FILLER.slice(0, bytes)}",${text.slice(at)}`
}

/** The same task before it was finished. */
function opened(text: string): string {
  const { completedAt, result, ...task } = JSON.parse(text) as Record<string, unknown>
  return JSON.stringify({ ...task, systemStatus: 'PENDING' })
}
