// What the list and the detail of one task have in common with those of all others: which fields the list leaves out or
// cuts (it is a summary then), and which differ without meaning anything. Learned from a few tasks, asked for by both ways
// twice. Pure: paths and sizes, never values.
import { isObject } from '../json.ts'
import type { JsonValue, Task } from '../task.ts'
import {
  compareForms,
  type DifferenceKind,
  type FieldPath,
  type FormDifference,
  isLess,
  sizeOf,
} from './differences.ts'
import { isFields, TASK_FIELDS } from './shape.ts'

/** A field of which details can hold more than the list shows. */
export interface SummaryField {
  path: FieldPath
  how: 'absent' | 'cut'
  /** Seen with an open task, too; otherwise only final ones are meant. */
  open: boolean
  /** Only what has as many bytes in the list can be cut; 0 where nothing shows a limit. */
  from: number
}

/** A field that differs between list and detail, or from read to read, while the task stays as it is. */
export interface UnevenField {
  path: FieldPath
  how: 'volatile' | 'only-listed' | 'differs'
}

export interface Forms {
  summary: SummaryField[]
  uneven: UnevenField[]
}

/** One task as it was listed and as its detail showed it, in the order of reading; the second of each where it was asked again. */
export interface SampledForms {
  isFinal: boolean
  listed: Task[]
  details: Task[]
}

export const NO_FORMS: Readonly<Forms> = { summary: [], uneven: [] }

/** Fields kept of either kind; beyond, the first name of a path stands for all below it. */
const MOST_FIELDS = 16
/** Names in a kept path, and characters in a name; beyond, the path ends before. */
const MOST_NAMES = 5
const LONGEST_NAME = 80
/** Tasks that must be whole below a length until longer ones alone count as cut. */
const WHOLE_BELOW = 2

/** What says which state of the task is shown; never without meaning. */
const STATE: ReadonlySet<string> = new Set(['id', 'userId', 'createdAt', 'completedAt', 'systemStatus'])

/** Whether the listed form of a task may hold less than its detail. */
export function canHaveMore(listed: Task, isFinal: boolean, { summary }: Forms): boolean {
  return summary.some((field) => (field.open || isFinal) && canBeLess(listed, field.path, field))
}

function canBeLess(value: JsonValue | undefined, path: FieldPath, field: SummaryField): boolean {
  const [name, ...below] = path
  if (name === undefined) {
    if (value === undefined || value === null) return field.how === 'absent'
    return field.how === 'cut' && sizeOf(value) >= field.from
  }
  if (Array.isArray(value)) return value.some((element) => canBeLess(element, name === '[]' ? below : path, field))
  // Text in the place of an object is what was left of it.
  if (!isObject(value)) return typeof value === 'string'
  return canBeLess(Object.hasOwn(value, name) ? value[name] : undefined, below, field)
}

/** Whether the list is known to show less there. */
export function isSummarized({ path, kind, isShorter }: FormDifference, { summary }: Forms): boolean {
  return (isLess(kind) || isShorter) && summary.some((field) => isBelow(path, field.path))
}

/** Whether the difference tells nothing of the task's state. */
export function isMeaningless({ path, kind }: FormDifference, { uneven }: Forms): boolean {
  return kind === 'extra-null' || uneven.some((field) => isBelow(path, field.path))
}

function isBelow(path: FieldPath, above: FieldPath): boolean {
  return above.every((name, index) => path[index] === name)
}

/** What a detail is, measured by the item that the list showed before it was asked for. */
export type DetailStanding =
  /** It agrees with all that the list showed. */
  | 'agrees'
  /** A later state of the task. */
  | 'newer'
  /** An earlier state: the detail lags behind the list. */
  | 'older'
  /** Another state, before or after. */
  | 'unclear'

/** `before` is what the mirror held when the list showed something else; null where it held nothing else. */
export function standingOf(
  detail: Task,
  listed: Task,
  before: Task | null,
  forms: Forms,
  isFinal: (task: Task) => boolean,
): DetailStanding {
  const differences = compareForms(listed, detail).filter(
    (each) =>
      !isLess(each.kind) && each.kind !== 'spelled' && !isMeaningless(each, forms) && !isSummarized(each, forms),
  )
  if (isFinal(listed) !== isFinal(detail) && listed.systemStatus !== detail.systemStatus)
    return isFinal(listed) ? 'older' : 'newer'
  const [listedEnd, detailEnd] = [listed.completedAt, detail.completedAt]
  if (typeof listedEnd === 'number' && typeof detailEnd === 'number' && listedEnd !== detailEnd)
    return detailEnd < listedEnd ? 'older' : 'newer'
  if (differences.length === 0) return 'agrees'
  if (!isFinal(listed)) return 'newer'
  return before !== null && compareForms(before, detail).length === 0 ? 'older' : 'unclear'
}

/** The detail with those listed members that the detail of any task lacks. */
export function withOnlyListed(detail: Task, listed: Task, { uneven }: Forms): Task {
  return uneven
    .filter(({ how }) => how === 'only-listed')
    .reduce<Task>((task, { path }) => filledIn(task, listed, path) as Task, detail)
}

function filledIn(value: JsonValue, from: JsonValue, [name, ...below]: FieldPath): JsonValue {
  if (name === undefined || !isObject(value) || !isObject(from) || !Object.hasOwn(from, name)) return value
  // A computed name defines a key of its own, `__proto__` too.
  if (!Object.hasOwn(value, name)) return below.length === 0 ? { ...value, [name]: from[name]! } : value
  return { ...value, [name]: filledIn(value[name]!, from[name]!, below) }
}

interface Votes {
  path: FieldPath
  /** Bytes in the list where it was cut; one entry for each task. */
  cuts: number[]
  absent: number
  /** Where the list showed less, of tasks that were not read again. */
  once: { kind: DifferenceKind; size: number; open: boolean }[]
  open: boolean
  onlyListed: number
  differs: number
  volatile: number
}

export interface JudgedSample {
  forms: Forms
  /** Tasks of either kind that are equal both ways, or were read again. */
  final: number
  open: number
  /** Whether there is a field of which details hold more, of all that is known. */
  isWhole: boolean
}

/** What a sample adds to what is known. */
export function judgeSample(sample: SampledForms[], before: Forms): JudgedSample {
  const votes = new Map<string, Votes>()
  const compared = sample.filter(isOfOneMoment)
  for (const each of compared) castVotes(each, votes, before)
  const [summary, uneven] = [[...before.summary], [...before.uneven]]
  for (const vote of votes.values()) {
    // Some tasks may truly have changed between two reads, or stand behind in one of the two ways: only what most tasks
    // show is a rule, because a change in an uneven field is no news from then on.
    const most = Math.floor(compared.filter((each) => has(each, vote.path)).length / 2) + 1
    // What the interface names is the task's own: where it moves, the task has changed.
    if (vote.volatile >= Math.max(2, most) && !isOfInterface(vote.path)) addUneven(uneven, vote.path, 'volatile')
    const isVolatile = uneven.some(({ path, how }) => how === 'volatile' && isBelow(vote.path, path))
    if (isVolatile) continue
    if (vote.once.length > 1)
      for (const { kind, size, open } of vote.once) {
        vote.open ||= open
        if (kind === 'cut') vote.cuts.push(size)
        else vote.absent += 1
      }
    // Counts for open tasks, too, where none was seen to be otherwise; a result is not expected of them.
    vote.open ||= vote.path[0] !== 'result' && !compared.some((each) => !each.isFinal && isAlike(each, vote))
    if (vote.absent > 0) addSummary(summary, { path: vote.path, how: 'absent', open: vote.open, from: 0 })
    if (vote.cuts.length > 0) {
      const from = limitOf(vote, compared)
      addSummary(summary, { path: vote.path, how: 'cut', open: vote.open, from })
    }
    const enough = Math.max(isOfInterface(vote.path) ? 2 : 1, most)
    if (vote.onlyListed >= enough) addUneven(uneven, vote.path, 'only-listed')
    // Details that lag behind differ so as well, and what the interface names must never be passed over for that.
    if (vote.differs >= enough && !isOfInterface(vote.path)) addUneven(uneven, vote.path, 'differs')
  }
  const told = compared.filter(isTold)
  const final = told.filter(({ isFinal }) => isFinal).length
  const isWhole = summary.length === 0
  return {
    forms: { summary: bounded(summary), uneven: bounded(uneven) },
    final,
    open: compared.length - final,
    isWhole,
  }
}

/** Whether the task has the field in either way. Elements of lists are not told apart: they count as had. */
function has({ listed, details }: SampledForms, path: FieldPath): boolean {
  return path.includes('[]') || [listed[0], details[0]].some((form) => form && valueAt(form, path) !== undefined)
}

/** A task of which both ways show another state says nothing of the list. */
function isOfOneMoment({ listed, details }: SampledForms): boolean {
  const first = listed[0]
  if (first === undefined || details.length === 0) return false
  return [...listed, ...details].every((form) =>
    compareForms(first, form).every(
      ({ path: [name], kind }) =>
        !(STATE.has(name as string) && kind === 'changed') && !(name === 'completedAt' && kind === 'extra'),
    ),
  )
}

/** Whether list and detail of the task are alike there. Text that is shorter than what was cut of others tells nothing. */
function isAlike({ listed, details }: SampledForms, { path, cuts }: Votes): boolean {
  const value = valueAt(listed[0] as Task, path)
  if (value !== undefined && value !== null && cuts.some((size) => sizeOf(value) < size)) return false
  return compareForms(listed[0] as Task, details[0] as Task).every((each) => !isBelow(each.path, path))
}

function isTold({ listed, details }: SampledForms): boolean {
  return listed.length > 1 || compareForms(listed[0] as Task, details[0] as Task).length === 0
}

function castVotes({ isFinal, listed, details }: SampledForms, votes: Map<string, Votes>, before: Forms): void {
  const last = listed.at(-1) as Task
  const differences = compareForms(last, details.at(-1) as Task)
  // Beside what is cut, `"truncated":true` is a word about the list and no part of the task.
  const hasLess = differences.some(({ kind }) => isLess(kind))
  // Of a detail that shows another state of the task nothing is learned about fields that only the list has.
  const isOfOneState = !differences.some(
    (each) => each.kind === 'changed' && !each.isShorter && !isMeaningless(each, before),
  )
  // A detail between two equal forms of the list is enough.
  const isReread = listed.length > 1
  const moving = [
    ...(listed.length > 1 ? compareForms(listed[0] as Task, listed[1] as Task) : []),
    ...(details.length > 1 ? compareForms(details[0] as Task, details[1] as Task) : []),
  ]
    // What was not there before has come to stay.
    .filter(({ kind }) => kind === 'changed' || kind === 'cut')
    .map(({ path }) => path)
  // An open task may move at any moment.
  if (isFinal) for (const vote of new Set(moving.map((path) => voteFor(votes, path)))) vote.volatile += 1
  for (const { path, kind, isShorter, size } of differences) {
    if (!isReread) {
      // Seen once it may be a change; seen so of two tasks it is none.
      if (isLess(kind)) voteFor(votes, path).once.push({ kind, size, open: !isFinal })
      continue
    }
    if (kind === 'extra-null' || moving.some((other) => isBelow(path, other) || isBelow(other, path))) continue
    const vote = voteFor(votes, path)
    vote.open ||= !isFinal && (isLess(kind) || isShorter)
    if (kind === 'absent') vote.absent += 1
    else if (kind === 'cut' || isShorter) vote.cuts.push(size)
    else if (STATE.has(path[0] as string)) continue
    else if (kind === 'extra' && !(hasLess && typeof valueAt(last, path) === 'boolean')) {
      if (isOfOneState) vote.onlyListed += 1
    } else vote.differs += 1
  }
}

function voteFor(votes: Map<string, Votes>, path: FieldPath): Votes {
  const kept = keptPath(path)
  const key = JSON.stringify(kept)
  const vote = votes.get(key) ?? {
    path: kept,
    cuts: [],
    absent: 0,
    once: [],
    open: false,
    onlyListed: 0,
    differs: 0,
    volatile: 0,
  }
  votes.set(key, vote)
  return vote
}

function keptPath(path: FieldPath): FieldPath {
  const long = path.findIndex((name) => name.length > LONGEST_NAME)
  return path.slice(0, Math.max(1, Math.min(MOST_NAMES, long === -1 ? MOST_NAMES : long)))
}

/**
 * The least length that can be cut: half of the shortest that was, where all were cut at about the same length and shorter
 * ones were seen whole; 0 otherwise.
 */
function limitOf({ path, cuts }: Votes, compared: SampledForms[]): number {
  const shortest = Math.min(...cuts)
  if (Math.max(...cuts) > shortest * 1.5) return 0
  const whole = compared.filter(({ listed, details }) => {
    const value = valueAt(listed[0] as Task, path)
    if (value === undefined || value === null || sizeOf(value) >= shortest) return false
    return compareForms(listed[0] as Task, details[0] as Task).every((each) => !isBelow(each.path, path))
  })
  return whole.length < WHOLE_BELOW ? 0 : Math.floor(shortest / 2)
}

function valueAt(task: Task, path: FieldPath): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    task,
  )
}

function addSummary(summary: SummaryField[], field: SummaryField): void {
  const at = summary.findIndex(({ path, how }) => how === field.how && isBelow(field.path, path))
  const known = summary[at]
  if (known === undefined) summary.push(field)
  else {
    const isSame = known.path.length === field.path.length
    const from = isSame ? Math.min(known.from, field.from) : known.from
    summary[at] = { ...known, open: known.open || field.open, from }
  }
}

function addUneven(uneven: UnevenField[], path: FieldPath, how: UnevenField['how']): void {
  if (!uneven.some((known) => isBelow(path, known.path))) uneven.push({ path, how })
}

/** All of them, or the first names of their paths. */
function bounded<T extends SummaryField | UnevenField>(fields: T[]): T[] {
  if (fields.length <= MOST_FIELDS) return fields
  const tops = new Map<string, T>()
  for (const field of fields) {
    const top = field.path.slice(0, 1)
    const key = `${field.how} ${top}`
    const known = tops.get(key)
    if (field.path.length === 1) tops.set(key, field)
    else if ('from' in field) {
      // Of a part that is there any piece may be missing.
      const open = field.open || (known !== undefined && 'open' in known && known.open)
      tops.set(key, { ...field, path: top, how: 'cut', from: 0, open })
    } else if (known === undefined) tops.set(key, { ...field, path: top })
  }
  return [...tops.values()].slice(0, MOST_FIELDS)
}

function isOfInterface(path: FieldPath): boolean {
  let fields: typeof TASK_FIELDS = TASK_FIELDS
  for (const name of path) {
    const field = fields.get(name)
    if (field === undefined) return false
    if (!isFields(field)) return true
    fields = field
  }
  return true
}
