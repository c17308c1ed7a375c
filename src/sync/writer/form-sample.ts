// Which listed items are compared with their details: those with most of each sign that the list shows less, one of
// each shape of final and of open tasks, one of each final status, the last, and some by chance. Keeps their rows as a
// walk passes them; what the comparison shows is judged elsewhere.
import { isObject, parseExact } from '../../json.ts'
import type { SampledForms } from '../../mirror/forms/form-votes.ts'
import { RowStrings, rowOf } from '../../mirror/row-bytes.ts'
import type { Facts } from '../../mirror/tables/facts.ts'
import type { WalkKind } from '../../mirror/tables/walks.ts'
import { TASK_COLUMNS } from '../../task/columns.ts'
import type { JsonValue } from '../../task.ts'
import { storedTask } from './intake.ts'
import type { ListedTask } from './take-listed.ts'

/**
 * What may say that the list shows only part of an item: the bytes of its bodies, `result` and `data`; and 1 for a body
 * that breaks off, and for each member such as `"truncated":true`.
 */
type Signs = readonly (readonly [sign: string, size: number])[]

export interface SampledItem {
  id: string
  /** Its index in the list when it was met. */
  place: number
  isFinal: boolean
  /** Its encoded row. */
  bytes: Buffer
}

/** A task being compared: how it was listed, with its signs then; and its details. */
export interface ComparedTask extends SampledForms {
  signs: Signs
}

/** So many items of a full walk are chosen, and one more for every ten windows, up to as many as are kept by chance. */
const SAMPLE = 7
const WINDOWS_PER_ITEM = 10
const MOST_BY_CHANCE = 16
/** Until so many tasks were compared, new or changed ones of any walk are; until one final one was, known ones too. */
const EVIDENCE = { final: 4, open: 2 }
/** So many are chosen of those that show less than the mirror holds, and of those that a summary replaces. */
const DOUBTED = 3
/** At most so many signs, shapes of either kind, and statuses are told apart; and items of so many bytes kept. */
export const MOST_SIGNS = 18
const MOST_SHAPES = 12
const LONGEST_ITEM = 4_194_304
/** Members of `extra` are told apart up to this length of its text. */
const LONGEST_EXTRA = 20_000
const BODIES = new Map([
  ['result', TASK_COLUMNS.indexOf('result_body')],
  ['data', TASK_COLUMNS.indexOf('data_body')],
])
const EXTRA = TASK_COLUMNS.indexOf('extra')
const STATUS = TASK_COLUMNS.indexOf('system_status')
/** Bytes of `{}`, `[]` and `""`. */
const EMPTY_JSON = 2

/** By sign, the item with most of it. */
type Most = Map<string, { item: SampledItem; size: number }>
/** By shape, how many items have it, and the first of them. */
type Shapes = Map<string, { item: SampledItem; count: number }>
/** Copies the offered item, once, however often it is called: its bytes are valid only until its window is taken in. */
type Copy = () => SampledItem

/** What one full walk has shown so far. */
const nothingPassed = () => ({
  items: 0,
  windows: 0,
  last: null as SampledItem | null,
  most: new Map() as Most,
  finals: new Map() as Shapes,
  opens: new Map() as Shapes,
  statuses: new Map() as Shapes,
  byChance: [] as SampledItem[],
})

/** Chooses the items of one comparison. */
export class FormSample {
  readonly #isFull: boolean
  /** How many final and open tasks were compared before, and the most of each sign of them. */
  readonly #compared: { final: number; open: number; signs: ReadonlyMap<string, number> }
  readonly #mostOtherwise: number
  #walkId: number | null = null
  /** Whether the window counts as one of a full walk, or is one of a range. */
  #isOfFull = false
  #isOfRange = false
  #passed = nothingPassed()
  readonly #changed: SampledItem[] = []
  readonly #most: Most = new Map()
  readonly #doubted: SampledItem[] = []
  readonly #otherwise: SampledItem[] = []
  /** The last final item of the window that is being taken in. */
  #lastInWindow: Copy | null = null
  #state: number
  readonly #strings = new RowStrings()

  /** `isFull`: what a full walk shows is chosen, whether new or not. `seed`: of the random choice, 32 bits. */
  constructor({ forms_compared: compared, summary_fields: summary = [] }: Facts, isFull: boolean, seed: number) {
    this.#isFull = isFull
    const { final = 0, open = 0, longest = {} } = compared ?? {}
    this.#compared = { final, open, signs: new Map(Object.entries(longest)) }
    // With a summary most tasks are held otherwise than listed: one of them is enough, in the place of another task.
    this.#mostOtherwise = summary.some(({ how }) => how === 'replaced') ? DOUBTED : Math.min(1, summary.length)
    this.#state = seed | 0
  }

  /** A window of a walk begins. `kind`: that of the walk; both are null where the window was only looked at. */
  enter(walkId: number | null, kind: WalkKind | null): void {
    this.#isOfRange = kind === 'range'
    // Windows that were only looked at count: a walk that counts ties by them takes in next to nothing of its own.
    this.#isOfFull = this.#isFull && (kind === 'full' || kind === null)
    if (!this.#isOfFull) return
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
    if (listed.bytes.length > LONGEST_ITEM) return
    let copied: SampledItem | null = null
    const copy: Copy = () => {
      copied ??= itemOf(listed, place)
      return copied
    }
    // The list may have become a summary; or what is known of it may no longer hold.
    if (showsLess && this.#doubted.length < DOUBTED) this.#doubted.push(copy())
    if (isHeldOtherwise && this.#isOfFull && this.#otherwise.length < this.#mostOtherwise) this.#otherwise.push(copy())
    const { final, open, signs } = this.#compared
    if (this.#isOfFull) this.#pass(listed, copy)
    // A killed run may have stored what the list shows.
    else if (final === 0 || (isChanged && !this.#isOfRange)) {
      const kept = this.#changed.filter(({ isFinal }) => isFinal === listed.final).length
      if (kept < (listed.final ? EVIDENCE.final - final : EVIDENCE.open - open)) this.#changed.push(copy())
      keepMost(this.#most, signsOf(this.#strings.of(listed.bytes)), copy, signs)
    }
  }

  /** The window's bytes are about to be released. */
  leave(): void {
    const last = this.#lastInWindow?.()
    // A walk ends by reading the list's beginning again: that is not its last item.
    if (last !== undefined && last.place >= (this.#passed.last?.place ?? 0)) this.#passed.last = last
    this.#lastInWindow = null
  }

  /** What is to be compared, each task once. */
  items(): SampledItem[] {
    const { last, most, byChance, windows } = this.#passed
    const itemsOf = (kept: Iterable<{ item: SampledItem }>) => [...kept].map(({ item }) => item)
    // The rarest shapes first. However many of final tasks are rarer, an open one is compared.
    const rarestOf = (shapes: Shapes) => itemsOf([...shapes.values()].sort((a, b) => a.count - b.count))
    const [finals, opens] = [rarestOf(this.#passed.finals), rarestOf(this.#passed.opens)]
    const statuses = rarestOf(this.#passed.statuses)
    const signs = [...most].flatMap(([sign, { item }]) => (BODIES.has(sign) ? [] : item))
    const ofWalk = [
      most.get('result')?.item,
      this.#otherwise[0],
      finals[0],
      signs[0],
      opens[0],
      last,
      finals[1],
      statuses[0],
      byChance[0],
      ...itemsOf(most.values()),
      ...statuses.slice(1),
      ...finals.slice(2),
      ...opens.slice(1),
      ...byChance.slice(1),
    ]
    const changed = [...itemsOf(this.#most.values()), ...this.#changed]
    // Beside a full walk, a changed item is one that no walk has met: those count where there is little else.
    // Without a full walk, what was only looked at takes no place of what was met.
    const isFull = this.#isFull && this.#walkId !== null
    const room = isFull ? Math.min(MOST_BY_CHANCE, SAMPLE + Math.floor(windows / WINDOWS_PER_ITEM)) : Infinity
    const wanted = isFull ? [...ofWalk, ...changed] : changed
    const chosen = new Map<string, SampledItem>()
    for (const item of wanted) if (item != null && chosen.size < room) chosen.set(item.id, chosen.get(item.id) ?? item)
    for (const item of [...this.#doubted, ...this.#otherwise]) chosen.set(item.id, chosen.get(item.id) ?? item)
    return [...chosen.values()]
  }

  #pass({ final, bytes }: ListedTask, copy: Copy): void {
    const passed = this.#passed
    passed.items += 1
    if (final) this.#lastInWindow = copy
    const strings = this.#strings.of(bytes)
    const members = membersOf(strings)
    const signs = signsOf(strings, members)
    keepMost(passed.most, signs, copy)
    // Which columns it fills, if a body is empty or breaks off, and names in `extra`, with values of booleans.
    const isEmpty = signs.some(([sign, size]) => BODIES.has(sign) && size <= EMPTY_JSON)
    const named = members.map(([name, value]) => (typeof value === 'boolean' ? `${name}=${value}` : name))
    const bodies = `${isEmpty ? ' empty' : ''}${signs.includes(BROKEN_OFF) ? ' broken' : ''}`
    countShape(final ? passed.finals : passed.opens, `${strings.filled}${bodies} ${named}`, copy)
    if (final) countShape(passed.statuses, strings.text(STATUS), copy)
    if (passed.byChance.length < MOST_BY_CHANCE) passed.byChance.push(copy())
    else {
      const at = Math.floor(this.#chance() * passed.items)
      if (at < MOST_BY_CHANCE) passed.byChance[at] = copy()
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

/** Counts the items of each shape, and keeps the first of each. */
function countShape(shapes: Shapes, shape: string, copy: Copy): void {
  const known = shapes.get(shape)
  if (known !== undefined) known.count += 1
  else if (shapes.size < MOST_SHAPES) shapes.set(shape, { count: 1, item: copy() })
}

/** Keeps the item for each sign of which it has most so far, and more than `beyond`. */
function keepMost(kept: Most, signs: Signs, copy: Copy, beyond: ReadonlyMap<string, number> = new Map()): void {
  for (const [sign, size] of signs) {
    const least = kept.get(sign)?.size ?? beyond.get(sign)
    const isRoom = BODIES.has(sign) || kept.size + beyond.size < MOST_SIGNS
    if (least === undefined ? isRoom : size > least) kept.set(sign, { item: copy(), size })
  }
}

export function itemOf({ id, final, bytes }: Pick<ListedTask, 'id' | 'final' | 'bytes'>, place: number): SampledItem {
  return { id, place, isFinal: final, bytes: Buffer.from(bytes) }
}

/** A listed task before its detail is known. */
export function comparedOf({ isFinal, bytes }: SampledItem): ComparedTask {
  return { isFinal, signs: signsOf(new RowStrings().of(bytes)), listed: [storedTask(rowOf(bytes))], details: [] }
}

/** How JSON and markup begin, and how they end where nothing is cut off. */
const CLOSED_BY = new Map(['{}', '[]', '""', '<>'].map((pair) => [pair.charCodeAt(0), pair.charCodeAt(1)]))
const BROKEN_OFF = ['a body that breaks off', 1] as const

/** `members`: those of the row's `extra`. */
function signsOf(strings: RowStrings, members = membersOf(strings)): Signs {
  const signs: Signs[number][] = []
  for (const [body, column] of BODIES) {
    const size = strings.size(column)
    if (size > 0) signs.push([body, size])
    const [first, last] = strings.ends(column)
    if (last !== (CLOSED_BY.get(first) ?? last) && !signs.includes(BROKEN_OFF)) signs.push(BROKEN_OFF)
  }
  for (const [name, value] of members) if (value === true) signs.push([name, 1])
  return signs
}

/** The members of `extra`. */
function membersOf(strings: RowStrings): [name: string, value: JsonValue][] {
  const size = strings.size(EXTRA)
  if (size === 0 || size > LONGEST_EXTRA) return []
  const extra = parseExact(strings.text(EXTRA))
  return isObject(extra) ? Object.entries(extra) : []
}
