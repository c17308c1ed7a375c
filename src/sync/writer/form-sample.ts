// Which listed items are compared with their details: the newest and the oldest, an open one, the longest, one of every
// rare shape (a body that breaks off is one), and some by chance. Keeps their rows as a walk passes them; what the
// comparison shows is judged elsewhere.
import { isObject, parseExact } from '../../json.ts'
import type { SampledForms } from '../../mirror/forms/form-votes.ts'
import { boundValues, filledColumns, rowOf, stringBytes, stringEnds } from '../../mirror/row-bytes.ts'
import type { WalkKind } from '../../mirror/tables/walks.ts'
import { TASK_COLUMNS } from '../../task/columns.ts'
import type { JsonValue } from '../../task.ts'
import { type LongestBodies, MOST_SIGNS } from '../learned-forms.ts'
import { storedTask } from './intake.ts'
import type { ListedTask } from './take-listed.ts'

export interface SampledItem {
  id: string
  /** Its index in the list when it was met. */
  place: number
  isFinal: boolean
  /** Its encoded row, and how long its bodies are in it. */
  bytes: Buffer
  bodies: LongestBodies
}

/** A task being compared: how it was listed, with the lengths of its bodies and its signs then; and its details. */
export interface ComparedTask extends SampledForms {
  bodies: LongestBodies
  signs: string[]
}

export interface SampleRequest {
  /** How many items of a full walk; 0: none. */
  full: number
  /** How many new or changed items of any walk, final and open ones. */
  newFinal: number
  newOpen: number
  /** Also new items of any walk with a longer body or another sign than these: no comparison speaks for them. */
  longest: LongestBodies
  signs: readonly string[]
  /** Treat known tasks as new while no final one was compared: a killed run may have stored them. */
  known: boolean
  /** How many items in which any walk finds less than the mirror holds: the list may have become a summary. */
  doubted: number
  /** How many items that the mirror holds otherwise than listed: what is known of the list may no longer hold. */
  otherwise: number
  /** Seed of the random choice, 32 bits. */
  seed: number
}

/** No item is to be compared. */
const NOTHING: SampleRequest = {
  full: 0,
  newFinal: 0,
  newOpen: 0,
  longest: { result: 0, data: 0 },
  signs: [],
  known: false,
  doubted: 0,
  otherwise: 0,
  seed: 1,
}
/** At most so many random items, shapes that are told apart, and bytes of an item are kept. */
const MOST_BY_CHANCE = 16
const MOST_SHAPES = 12
const LONGEST_ITEM = 4_194_304
/** A shape is rare if a smaller share of the items has it. */
const RARE = 0.1
/** Members of `extra` are told apart up to this length of its text. */
const LONGEST_EXTRA = 20_000
const WINDOWS_PER_ITEM = 10
const BODIES = { result: TASK_COLUMNS.indexOf('result_body'), data: TASK_COLUMNS.indexOf('data_body') }
const EXTRA = TASK_COLUMNS.indexOf('extra')

type Longest = { result?: SampledItem; data?: SampledItem }

/** What one full walk has shown so far. */
interface Passed {
  items: number
  windows: number
  first: SampledItem | null
  last: SampledItem | null
  open: SampledItem | null
  longest: Longest
  shapes: Map<string, { count: number; item: SampledItem }>
  byChance: SampledItem[]
}

const nothingPassed = (): Passed => ({
  items: 0,
  windows: 0,
  first: null,
  last: null,
  open: null,
  longest: {},
  shapes: new Map(),
  byChance: [],
})

/** Chooses the items of one comparison. */
export class FormSample {
  readonly #request: SampleRequest
  #walkId: number | null = null
  /** What kind of walk the window is of; null: it was only looked at. */
  #kind: WalkKind | null = null
  #passed = nothingPassed()
  readonly #changed: SampledItem[] = []
  readonly #longest: Longest = {}
  readonly #signs = new Map<string, SampledItem>()
  readonly #doubted: SampledItem[] = []
  readonly #otherwise: SampledItem[] = []
  /** The last final item of the window that is being taken in: its bytes are valid only until that is done. */
  #lastInWindow: { listed: ListedTask; place: number } | null = null
  #state: number

  constructor(request = NOTHING) {
    this.#request = request
    this.#state = request.seed | 0
  }

  /** A window of a walk begins; null: it belongs to none, and was only looked at. */
  enter(walkId: number | null, kindOf: (walkId: number) => WalkKind | null): void {
    this.#kind = walkId === null ? null : kindOf(walkId)
    if (!this.#isFull()) return
    // If several full walks are made, the last one counts.
    if (walkId !== null && this.#walkId !== null && walkId !== this.#walkId) this.#passed = nothingPassed()
    this.#walkId = walkId ?? this.#walkId
    this.#passed.windows += 1
  }

  /**
   * `isChanged`: the mirror did not hold it so; `showsLess`: the mirror has more of it; `isHeldOtherwise`: the list
   * shows it as before, and the mirror has other content, from a look-up.
   */
  offer(
    listed: ListedTask,
    place: number,
    { isChanged, showsLess, isHeldOtherwise }: { isChanged: boolean; showsLess: boolean; isHeldOtherwise: boolean },
  ): void {
    const { known, doubted, otherwise } = this.#request
    if (this.#request === NOTHING || listed.bytes.length > LONGEST_ITEM) return
    if (showsLess && this.#doubted.length < doubted) this.#doubted.push(itemOf(listed, place))
    if (isHeldOtherwise && this.#isFull() && this.#otherwise.length < otherwise)
      this.#otherwise.push(itemOf(listed, place))
    if (this.#isFull()) this.#pass(listed, place)
    else if (known || (isChanged && this.#kind !== 'range')) this.#takeChanged(listed, place)
  }

  #takeChanged(listed: ListedTask, place: number): void {
    const { newFinal, newOpen, longest, signs } = this.#request
    const kept = this.#changed.filter(({ isFinal }) => isFinal === listed.final).length
    if (kept < (listed.final ? newFinal : newOpen)) this.#changed.push(itemOf(listed, place))
    keepLongest(this.#longest, listed, place, longest)
    this.#keepSigns(listed, place, signs)
  }

  #keepSigns(listed: ListedTask, place: number, signs: readonly string[] = []): void {
    const most = MOST_SIGNS - signs.length - this.#signs.size
    if (most <= 0) return
    const isKnown = (sign: string): boolean => signs.includes(sign) || this.#signs.has(sign)
    const found = signsOf(listed.bytes).filter((sign) => !isKnown(sign))
    // One copy of the item, however many signs it has.
    const item = found.length === 0 ? null : itemOf(listed, place)
    if (item !== null) for (const sign of found.slice(0, most)) this.#signs.set(sign, item)
  }

  /** The window's bytes are about to be released. */
  leave(): void {
    const last = this.#lastInWindow
    // A walk ends by reading the list's beginning again: that is not its last item.
    if (last !== null && last.place >= (this.#passed.last?.place ?? 0))
      this.#passed.last = itemOf(last.listed, last.place)
    this.#lastInWindow = null
  }

  /** What is to be compared, each task once. */
  items(): SampledItem[] {
    const { first, last, open, longest, shapes, byChance, items, windows } = this.#passed
    const rare = [...shapes.values()]
      .filter(({ count }) => count < items * RARE)
      .sort((a, b) => a.count - b.count)
      .map(({ item }) => item)
    const signs = [...this.#signs.values()]
    const changed = [...signs, ...this.#changed, this.#longest.result, this.#longest.data]
    const ofWalk = [
      longest.result,
      this.#otherwise[0],
      rare[0],
      signs[0],
      open,
      last,
      first,
      byChance[0],
      longest.data,
      ...signs.slice(1),
      ...rare.slice(1, 4),
      ...byChance.slice(1),
    ]
    // Beside a full walk, a changed item is one that no walk has met: those count where there is little else.
    const { full } = this.#request
    // Without a full walk, what was only looked at takes no place of what was met.
    const isFull = full > 0 && this.#walkId !== null
    const most = isFull ? Math.min(MOST_BY_CHANCE, full + Math.floor(windows / WINDOWS_PER_ITEM)) : Infinity
    const wanted = isFull ? [...ofWalk, ...changed] : changed
    const chosen = new Map<string, SampledItem>()
    for (const item of wanted) if (item != null && chosen.size < most) chosen.set(item.id, chosen.get(item.id) ?? item)
    for (const item of [...this.#doubted, ...this.#otherwise]) chosen.set(item.id, chosen.get(item.id) ?? item)
    return [...chosen.values()]
  }

  /** Windows that were only looked at count: a walk that counts ties by them takes in next to nothing of its own. */
  #isFull(): boolean {
    return this.#request.full > 0 && (this.#kind === 'full' || this.#kind === null)
  }

  #pass(listed: ListedTask, place: number): void {
    const passed = this.#passed
    passed.items += 1
    if (listed.final) {
      passed.first ??= itemOf(listed, place)
      this.#lastInWindow = { listed, place }
    } else passed.open ??= itemOf(listed, place)
    keepLongest(passed.longest, listed, place)
    const shape = shapeOf(listed)
    const known = passed.shapes.get(shape)
    if (known !== undefined) known.count += 1
    else {
      // Items of one shape have the same signs.
      this.#keepSigns(listed, place)
      if (passed.shapes.size < MOST_SHAPES) passed.shapes.set(shape, { count: 1, item: itemOf(listed, place) })
    }
    if (passed.byChance.length < MOST_BY_CHANCE) passed.byChance.push(itemOf(listed, place))
    else {
      const at = Math.floor(this.#chance() * passed.items)
      if (at < MOST_BY_CHANCE) passed.byChance[at] = itemOf(listed, place)
    }
  }

  /** A random number, 0 to 1; mulberry32. */
  #chance(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Keeps the item if it has the longest body so far, and a longer one than `beyond`. */
function keepLongest(
  kept: Longest,
  listed: ListedTask,
  place: number,
  beyond: LongestBodies = { result: 0, data: 0 },
): void {
  const lengths = bodyBytes(listed.bytes)
  for (const body of ['result', 'data'] as const) {
    const least = kept[body]?.bodies[body] ?? beyond[body]
    if (lengths[body] > least) kept[body] = itemOf(listed, place)
  }
}

function bodyBytes(row: Buffer): LongestBodies {
  return { result: stringBytes(row, BODIES.result), data: stringBytes(row, BODIES.data) }
}

export function itemOf({ id, final, bytes }: Pick<ListedTask, 'id' | 'final' | 'bytes'>, place: number): SampledItem {
  return { id, place, isFinal: final, bytes: Buffer.from(bytes), bodies: bodyBytes(bytes) }
}

/** A listed task before its detail is known. */
export function comparedOf({ isFinal, bytes, bodies }: SampledItem): ComparedTask {
  return { isFinal, bodies, signs: signsOf(bytes), listed: [storedTask(rowOf(bytes))], details: [] }
}

/** Which columns the item fills, whether a body breaks off, and the names in `extra`, with the values of booleans. */
function shapeOf({ bytes }: ListedTask): string {
  const members = membersOf(bytes).map(([name, value]) => (typeof value === 'boolean' ? `${name}=${value}` : name))
  return `${filledColumns(bytes)}${breaksOff(bytes) ? ' broken' : ''} ${members}`
}

/** Signs that the list shows only part of an item: a body that breaks off, members such as `"truncated":true`. */
function signsOf(row: Buffer): string[] {
  const marks = membersOf(row).flatMap(([name, value]) => (value === true ? [name] : []))
  return breaksOff(row) ? ['a body that breaks off', ...marks] : marks
}

/** The members of `extra`. */
function membersOf(row: Buffer): [name: string, value: JsonValue][] {
  const length = stringBytes(row, EXTRA)
  if (length === 0 || length > LONGEST_EXTRA) return []
  // Only `extra` is made a string, and not the other columns, bodies among them.
  const extra = parseExact(String(boundValues(row)[EXTRA]))
  return isObject(extra) ? Object.entries(extra) : []
}

/** How JSON and markup begin, and how they end where nothing is cut off. */
const CLOSED_BY = new Map(['{}', '[]', '""', '<>'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]))

function breaksOff(bytes: Buffer): boolean {
  return [BODIES.result, BODIES.data].some((body) => {
    const [first, last] = stringEnds(bytes, body)
    const closing = CLOSED_BY.get(first)
    return closing !== undefined && last !== closing
  })
}

/** At most five tasks of a window: final ones at start, middle and end, one with a result to leave out, an open one. */
export function fewOf(listed: ListedTask[]): ListedTask[] {
  const finals = listed.filter(({ final }) => final)
  const places = [0, Math.floor(finals.length / 2), finals.length - 1]
  const picked = new Set(places.flatMap((place) => finals[place] ?? []))
  const rich = finals.find(({ bytes }) => isObject(storedTask(rowOf(bytes)).result ?? null))
  const open = listed.find(({ final }) => !final)
  for (const each of [rich, open]) if (each !== undefined) picked.add(each)
  return [...picked]
}
