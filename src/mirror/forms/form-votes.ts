// Learns from a sample of tasks, listed and by id, how the list shows all tasks: each votes on each field. Pure.
import type { Task } from '../../task.ts'
import { isOfInterface } from '../shape.ts'
import { compareForms, type FieldPath, type FormDifference, fieldValue, isBelow, isLess } from './differences.ts'
import { type Forms, isMeaningless, isSummarized, type SummaryField, type UnevenField } from './forms.ts'

/** One task as listed and as its detail showed it, in the order of reading; two of each where it was asked again. */
export interface SampledForms {
  isFinal: boolean
  listed: Task[]
  details: Task[]
  /** What the mirror held of it until then, where it held anything. */
  held?: Task
}

export interface JudgedSample {
  /** What is known of all tasks, this sample included. */
  forms: Forms
  /** Tasks of either kind that are equal both ways, or were read again. */
  final: number
  open: number
  /** Final tasks that have no result yet: they do not tell how the list shows one. */
  unfinished: number
}

interface Vote {
  path: FieldPath
  how: SummaryField['how'] | UnevenField['how']
  /** Bytes that the list showed there. */
  size: number
  /** Whether the task was read twice. If not, what differs may be a change of the task, unless two tasks show it. */
  isSure: boolean
}

/** Most fields kept of each kind; beyond that, the first name of a path stands for all below it. */
const MOST_FIELDS = 16
/** Most names in a kept path, and characters in a name; the path ends before what is beyond. */
const MOST_NAMES = 5
const LONGEST_NAME = 80

/** How many tasks have to show the same: one alone may have changed, or its detail may have come late. */
const ALIKE = { ruled: 2, over: 3 }

/** Fields that say which state of the task is shown: a difference in them always means something. */
const STATE: ReadonlySet<string> = new Set(['id', 'userId', 'createdAt', 'completedAt', 'systemStatus'])

/** Adds what a sample shows to what is known. */
export function judgeSample(sample: SampledForms[], before: Forms): JudgedSample {
  const compared = sample.filter(isOfOneMoment)
  const votes = Map.groupBy(
    compared.flatMap((each) => votesOf(each, before)),
    ({ path }) => JSON.stringify(path),
  )
  const [summary, uneven] = [[...before.summary], [...before.uneven]]
  const isSummary = summary.length > 0 || [...votes.values()].some((cast) => isEnough(cast.filter(showsLess)))
  for (const cast of votes.values()) {
    const { path } = cast[0] as Vote
    const of = (how: Vote['how']): Vote[] => cast.filter((vote) => vote.how === how)
    // A rule has to hold for most tasks, because from then on a change in an uneven field means nothing.
    const most = Math.floor(compared.filter((each) => has(each, path)).length / 2) + 1
    const isOurs = isOfInterface(path)
    // Never for a field that the interface names: where such a one moves, the task has changed or its detail lags.
    if (of('volatile').length >= Math.max(ALIKE.ruled, most) && !isOurs) addUneven(uneven, { path, how: 'volatile' })
    if (uneven.some(({ path: above, how }) => how === 'volatile' && isBelow(path, above))) continue
    const marked = compared.some((each) => isWhole(each) && isMarked(each, path)) ? [] : of('marked')
    const less = [...of('absent'), ...of('cut'), ...marked]
    // Once the list is known to show less, one task is enough: shuffled ties may keep it from being listed again.
    if (isEnough(less) || (isSummary && isOurs)) for (const vote of less) addSummary(summary, fieldOf(vote))
    if (of('only-listed').length >= Math.max(ALIKE.ruled, most)) addUneven(uneven, { path, how: 'only-listed' })
    if (of('only-begun').length >= ALIKE.ruled) addUneven(uneven, { path, how: 'only-begun' })
    const differing = of('differs').length
    // A field of the interface is then read by id; of any other nobody knows which of the two forms is meant.
    if (isOurs && differing >= ALIKE.ruled) addSummary(summary, { path, how: 'replaced' })
    if (!isOurs && differing >= Math.max(ALIKE.ruled, most)) addUneven(uneven, { path, how: 'differs' })
  }
  const forms = bounded({ summary, uneven })
  const told = compared.filter((each) => isTold(each, forms))
  const [finals, open] = [told.filter(({ isFinal }) => isFinal), told.filter(({ isFinal }) => !isFinal)]
  const final = finals.filter(hasResult).length
  return { forms, final, open: open.length, unfinished: finals.length - final }
}

function showsLess({ how }: Vote): boolean {
  return how === 'absent' || how === 'cut'
}

/** Whether the votes are enough: a single unsure one may come from a change of the task. */
function isEnough(votes: Vote[]): boolean {
  return votes.length > 1 || votes.some(({ isSure }) => isSure)
}

/** Whether all forms show one state of the task: else they say nothing of the list. */
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

/** Whether it is known how the list shows the task: equal to the detail, or different only by rules that are known. */
function isTold({ isFinal, listed, details }: SampledForms, forms: Forms): boolean {
  const differences = compareForms(listed.at(-1) as Task, details.at(-1) as Task)
  if (listed.length === 1) return differences.length === 0
  // An open task may have changed, and its detail lag.
  if (!isFinal) return true
  return !differences.some(
    (each) =>
      each.kind === 'changed' && isOfInterface(each.path) && !isMeaningless(each, forms) && !isSummarized(each, forms),
  )
}

/** Whether the detail has a result: a service may call a task done before it shows one. */
function hasResult({ details }: SampledForms): boolean {
  return (details.at(-1)?.result ?? null) !== null
}

/** Whether the list, as it was read last, showed all that the detail holds. */
function isWhole({ listed, details }: SampledForms): boolean {
  return !compareForms(listed.at(-1) as Task, details.at(-1) as Task).some(({ kind }) => isLess(kind))
}

function isMarked({ listed }: SampledForms, path: FieldPath): boolean {
  return fieldValue(listed.at(-1) as Task, path) === true
}

/** Whether the task has the field in either way. Elements of lists are not told apart: they count as had. */
function has({ listed, details }: SampledForms, path: FieldPath): boolean {
  return path.includes('[]') || [listed[0], details[0]].some((form) => form && fieldValue(form, path) !== undefined)
}

/**
 * What is known, without the fields that enough tasks of the sample show alike both ways and none otherwise: what
 * looked like a rule there came from late details, or has ended.
 */
export function withoutEven({ summary, uneven }: Forms, sample: SampledForms[]): Forms {
  const compared = sample.filter(isOfOneMoment)
  const isEven = ({ path, how }: UnevenField | SummaryField): boolean => {
    const having = compared.filter((each) => has(each, path))
    const isShown = having.length >= ALIKE.over && !path.includes('[]')
    return how !== 'volatile' && isShown && having.every((each) => isAlike(each, path))
  }
  // Tasks that the list always showed whole tell nothing of this: one has to be among them of which it showed less.
  const isOver = (field: SummaryField): boolean =>
    field.how !== 'marked' &&
    isEven(field) &&
    compared.some((each) => has(each, field.path) && isHeldOtherwise(each, field.path))
  return { summary: summary.filter((field) => !isOver(field)), uneven: uneven.filter((field) => !isEven(field)) }
}

function isHeldOtherwise({ listed, held }: SampledForms, path: FieldPath): boolean {
  if (held === undefined) return false
  return compareForms(listed.at(-1) as Task, held).some((each) => isBelow(each.path, path))
}

function isAlike({ listed, details }: SampledForms, path: FieldPath): boolean {
  return !compareForms(listed.at(-1) as Task, details.at(-1) as Task).some((each) => isBelow(each.path, path))
}

/** The votes of one task, at most one per field and way. */
function votesOf(sample: SampledForms, before: Forms): Vote[] {
  const { isFinal, listed, details } = sample
  const last = listed.at(-1) as Task
  const differences = compareForms(last, details.at(-1) as Task)
  const isCut = differences.some(({ kind }) => isLess(kind))
  // A detail that comes before the result shows nothing of what the list may have cut.
  const mayBeCut = isCut || (isFinal && !hasResult(sample))
  // A detail that shows another state of the task teaches nothing about fields that only the list has.
  const isOneState = !differences.some(
    (each) => each.kind === 'changed' && !each.isShorter && !isMeaningless(each, before),
  )
  // A detail read between two looks at the list is enough.
  const isSure = listed.length > 1
  const moving = [listed, details]
    .flatMap(([one, other]) => (one === undefined || other === undefined ? [] : compareForms(one, other)))
    // A field that was not there at first was added to the task, so it does not count as moving.
    .filter(({ kind }) => kind === 'changed' || kind === 'cut')
    .map(({ path }) => path)
  const votes = new Map<string, Vote>()
  const vote = (path: FieldPath, how: Vote['how'], size = 0): void => {
    const kept = keptPath(path)
    const key = JSON.stringify([how, kept])
    votes.set(key, { path: kept, how, size: Math.min(size, votes.get(key)?.size ?? size), isSure })
  }
  // An open task may move at any moment, so only final ones vote.
  if (isFinal) for (const path of moving) vote(path, 'volatile')
  for (const each of differences) {
    const { path, kind, isShorter, isLonger, size } = each
    if (kind === 'extra-null' || moving.some((other) => isBelow(path, other) || isBelow(other, path))) continue
    // A shorter value may be the beginning of the whole one, or stand in its place: it votes for both.
    if (isShorter && isSure && isFinal && isOfInterface(path) && !STATE.has(path[0] as string)) vote(path, 'differs')
    if (kind === 'absent') vote(path, 'absent')
    else if (kind === 'cut' || (isShorter && isSure)) vote(path, 'cut', size)
    else if (mayBeCut && isFlag(last, each)) {
      if (isCut && fieldValue(last, path) === true) vote(path, 'marked')
    } else if (!isSure || STATE.has(path[0] as string)) continue
    else if (isLonger) vote(path, 'only-begun')
    else if (kind === 'extra') {
      if (isOneState) vote(path, 'only-listed')
    } else if (!isOfInterface(path) || (isFinal && kind === 'changed')) vote(path, 'differs')
  }
  return [...votes.values()]
}

/** Whether it is a flag such as `"truncated":true` beside what is cut: it is about the list, not part of the task. */
function isFlag(listed: Task, { path, kind }: FormDifference): boolean {
  return kind === 'extra' && typeof fieldValue(listed, path) === 'boolean'
}

function keptPath(path: FieldPath): FieldPath {
  const long = path.findIndex((name) => name.length > LONGEST_NAME)
  return path.slice(0, Math.max(1, Math.min(MOST_NAMES, long === -1 ? MOST_NAMES : long)))
}

/** A list that cuts here at one length may cut elsewhere at half of it. */
function fieldOf({ path, how, size }: Vote): SummaryField {
  if (how === 'cut') return { path, how, from: Math.floor(size / 2) }
  return how === 'marked' ? { path, how } : { path, how: 'absent' }
}

function addSummary(summary: SummaryField[], field: SummaryField): void {
  const at = summary.findIndex(
    ({ path, how }) =>
      how === field.how &&
      isBelow(field.path, path) &&
      // A part that the list leaves out altogether says nothing about tasks whose part is listed without one member.
      (how !== 'absent' || path.length === field.path.length),
  )
  const known = summary[at]
  if (known === undefined) summary.push(field)
  else if (known.how === 'cut' && field.how === 'cut')
    summary[at] = { ...known, from: Math.min(known.from, field.from) }
}

function addUneven(uneven: UnevenField[], field: UnevenField): void {
  if (!uneven.some((known) => isBelow(field.path, known.path))) uneven.push(field)
}

/** All fields; where there are too many, only the first names of their paths. */
function bounded({ summary, uneven }: Forms): Forms {
  return {
    summary: summary.length <= MOST_FIELDS ? summary : wholeParts(summary),
    uneven: uneven.length <= MOST_FIELDS ? uneven : topsOf(uneven, (path, { how }) => ({ path, how })),
  }
}

/** A first name alone does not say what is missing below it: any piece of the part may be, so it counts as cut. */
function wholeParts(summary: SummaryField[]): SummaryField[] {
  const [replaced, less] = [
    summary.filter(({ how }) => how === 'replaced'),
    summary.filter(({ how }) => how !== 'replaced'),
  ]
  return [
    ...topsOf(less, (path) => ({ path, how: 'cut', from: 0 })),
    ...topsOf(replaced, (path) => ({ path, how: 'replaced' })),
  ]
}

function topsOf<T extends SummaryField | UnevenField>(fields: T[], make: (path: FieldPath, field: T) => T): T[] {
  const tops = Map.groupBy(fields, ({ path }) => path[0] as string)
  return [...tops].slice(0, MOST_FIELDS).map(([top, some]) => make([top], some[0] as T))
}
