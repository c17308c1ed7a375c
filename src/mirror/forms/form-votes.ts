// Learns from a sample of tasks, listed and by id, how the list shows all tasks: each votes on each field. Pure.
import type { Task } from '../../task.ts'
import { hasEnded, isOfInterface } from '../shape.ts'
import {
  compareForms,
  type FieldPath,
  type FormDifference,
  fieldValue,
  isBelow,
  isChange,
  isLess,
} from './differences.ts'
import { type Forms, isMeaningless, isOfTwoStates, isSummarized, type SummaryField, type UnevenField } from './forms.ts'

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
  /** Something that was known is over: what was taken for a way to show a task may have been another state of it. */
  isOver: boolean
  /** Tasks of either kind that are equal both ways, or were read again. */
  final: number
  open: number
  /** Final tasks that have no result yet: they do not tell how the list shows one. */
  unfinished: number
}

interface Vote {
  field: SummaryField | UnevenField
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

/** Fields that say which state of the task is shown: a difference means something, unless the list always shows one. */
const STATE: ReadonlySet<string | undefined> = new Set(['id', 'userId', 'createdAt', 'completedAt', 'systemStatus'])

/** Adds what a sample shows to what is known, and takes off what it shows to be over. */
export function judgeSample(sample: SampledForms[], before: Forms): JudgedSample {
  const isOtherwise = shownOtherwise(sample, before)
  const compared = sample.filter((each) => isOfOneMoment(each, isOtherwise))
  const learned = withVotes(compared, before, isOtherwise)
  const forms = withoutEven(learned, compared)
  const told = compared.filter((each) => isTold(each, learned))
  const finals = told.filter(({ isFinal }) => isFinal)
  const final = finals.filter(hasResult).length
  return {
    forms,
    isOver: forms.summary.length + forms.uneven.length < learned.summary.length + learned.uneven.length,
    final,
    open: told.length - finals.length,
    unfinished: finals.length - final,
  }
}

function withVotes(compared: SampledForms[], before: Forms, isOtherwise: IsOtherwise): Forms {
  const votes = Map.groupBy(
    compared.flatMap((each) => votesOf(each, before, isOtherwise)),
    ({ field }) => JSON.stringify(field.path),
  )
  const [summary, uneven] = [[...before.summary], [...before.uneven]]
  const isSummary = summary.length > 0 || [...votes.values()].some((cast) => isEnough(cast.filter(showsLess)))
  for (const cast of votes.values()) {
    const { path } = cast[0]!.field
    const isRule = (how: Vote['field']['how'], least: number) =>
      cast.filter(({ field }) => field.how === how).length >= least
    // A rule has to hold for most tasks, because from then on a change in an uneven field means nothing.
    const most = Math.max(ALIKE.ruled, Math.floor(compared.filter((each) => has(each, path)).length / 2) + 1)
    if (isRule('volatile', most)) addUneven(uneven, { path, how: 'volatile' })
    if (uneven.some(({ path: above, how }) => how === 'volatile' && isBelow(path, above))) continue
    // What a task that is listed whole bears as well is no mark.
    const isMark = !compared.some((each) => fieldValue(lastListed(each), path) === true && isWhole(each))
    const less = cast.filter((vote) => showsLess(vote) && (isMark || vote.field.how !== 'marked'))
    // Once the list is known to show less, one task is enough: shuffled ties may keep it from being listed again.
    if (isEnough(less) || (isSummary && isOfInterface(path)))
      for (const { field } of less) addSummary(summary, field as SummaryField)
    if (isRule('replaced', ALIKE.ruled)) addSummary(summary, { path, how: 'replaced' })
    for (const how of ['only-listed', 'differs'] as const) if (isRule(how, most)) addUneven(uneven, { path, how })
    if (isRule('only-begun', ALIKE.ruled)) addUneven(uneven, { path, how: 'only-begun' })
  }
  // A first name alone does not say what is missing below it: any piece of the part may be, so it counts as cut.
  return {
    summary: bounded(summary, ({ path: [top = ''], how }) =>
      how === 'replaced' ? { path: [top], how } : { path: [top], how: 'cut', from: 0 },
    ),
    uneven: bounded(uneven, ({ path: [top = ''], how }) => ({ path: [top], how })),
  }
}

function showsLess({ field: { how } }: Vote): boolean {
  return how === 'absent' || how === 'cut' || how === 'marked'
}

/** Whether the votes are enough: a single unsure one may come from a change of the task. */
function isEnough(votes: Vote[]): boolean {
  return votes.length > 1 || votes.some(({ isSure }) => isSure)
}

/** Whether the list shows something else there, though both show one state. */
type IsOtherwise = (each: FormDifference) => boolean

/** What is known to be so, and the fields of a state that differ in most final tasks, however often both are read. */
function shownOtherwise(sample: SampledForms[], before: Forms): IsOtherwise {
  const finals = sample.filter(({ isFinal }) => isFinal)
  const read = finals.filter(({ details }) => details.length > 1)
  const differ = read.flatMap((each) => (isOfOneMoment(each, () => true) ? differencesOf(each).filter(isOfState) : []))
  const most = Math.max(ALIKE.ruled, Math.floor(finals.length / 2) + 1)
  const names = Map.groupBy(differ, ({ path: [name] }) => name)
  return (each) => isSummarized(each, before) || (names.get(each.path[0])?.length ?? 0) >= most
}

function isOfState({ path: [name], kind }: FormDifference): boolean {
  return STATE.has(name) && isChange(kind)
}

/** Whether all forms show one state of the task: else they say nothing of the list. */
function isOfOneMoment({ listed, details }: SampledForms, isOtherwise: IsOtherwise): boolean {
  const [first, detail] = [listed[0], details[0]]
  if (first === undefined || detail === undefined) return false
  // A list may leave `completedAt` out; a detail that does comes late.
  const areAlike = (forms: Task[], one = forms[0] as Task, how: IsOtherwise = () => false): boolean =>
    forms.every((form) => (!hasEnded(one) || hasEnded(form)) && compareForms(one, form).filter(isOfState).every(how))
  return areAlike(listed) && areAlike(details) && areAlike([detail], first, isOtherwise)
}

/** Whether it is known how the list shows the task: equal to the detail, or different only by rules that are known. */
function isTold(task: SampledForms, forms: Forms): boolean {
  const differences = differencesOf(task)
  if (task.listed.length === 1) return differences.length === 0
  // An open task may have changed, and its detail lag.
  if (!task.isFinal) return true
  return !differences.some((each) => isOfTwoStates(each, forms))
}

function lastListed({ listed }: SampledForms): Task {
  return listed.at(-1) as Task
}

/** How the detail differs from what the list showed, by the last reads of both. */
function differencesOf(task: SampledForms): FormDifference[] {
  return compareForms(lastListed(task), task.details.at(-1) as Task)
}

/** Whether the detail has a result: a service may call a task done before it shows one. */
function hasResult({ details }: SampledForms): boolean {
  return (details.at(-1)?.result ?? null) !== null
}

function isWhole(task: SampledForms): boolean {
  return !differencesOf(task).some(({ kind }) => isLess(kind))
}

/** Whether the task has the field in either way. Elements of lists are not told apart: they count as had. */
function has({ listed, details }: SampledForms, path: FieldPath): boolean {
  return path.includes('[]') || [listed[0], details[0]].some((form) => form && fieldValue(form, path) !== undefined)
}

/** Without the fields that enough tasks show alike both ways and none otherwise. */
function withoutEven({ summary, uneven }: Forms, compared: SampledForms[]): Forms {
  const isEven = ({ path, how }: UnevenField | SummaryField): boolean => {
    const having = compared.filter((each) => has(each, path))
    const isShown = having.length >= ALIKE.over && !path.includes('[]')
    const isAlike = (each: SampledForms) => !differencesOf(each).some((other) => isBelow(other.path, path))
    return how !== 'volatile' && how !== 'marked' && isShown && having.every(isAlike)
  }
  // Tasks that the list always showed whole tell nothing of this: one has to be among them of which it showed less.
  const isOver = (field: SummaryField): boolean => {
    const isHeldOtherwise = (each: SampledForms) =>
      each.held && compareForms(lastListed(each), each.held).some(({ path }) => isBelow(path, field.path))
    return isEven(field) && compared.some((each) => has(each, field.path) && isHeldOtherwise(each))
  }
  return { summary: summary.filter((field) => !isOver(field)), uneven: uneven.filter((field) => !isEven(field)) }
}

/** The votes of one task, at most one per field and way. */
function votesOf(task: SampledForms, before: Forms, isOtherwise: IsOtherwise): Vote[] {
  const { isFinal, listed, details } = task
  const differences = differencesOf(task)
  const isCut = differences.some(({ kind }) => isLess(kind))
  // A detail that comes before the result shows nothing of what the list may have cut.
  const mayBeCut = isCut || (isFinal && !hasResult(task))
  // A detail that shows another state of the task teaches nothing about fields that only the list has.
  const isOneState = !differences.some(
    (each) => isChange(each.kind) && each.kind !== 'shorter' && !isMeaningless(each, before) && !isOtherwise(each),
  )
  // A detail read between two looks at the list is enough.
  const isSure = listed.length > 1
  const moving = [listed, details]
    .flatMap(([one, other]) => (one === undefined || other === undefined ? [] : compareForms(one, other)))
    // A field that was not there at first was added to the task, so it does not count as moving.
    .filter(({ kind }) => isChange(kind) || kind === 'cut')
    .map(({ path }) => path)
  const waysOf = (each: FormDifference): Vote['field']['how'][] => {
    const { path, kind } = each
    if (kind === 'extra-null' || moving.some((other) => isBelow(path, other) || isBelow(other, path))) return []
    if (kind === 'absent' || kind === 'cut') return [kind]
    // A flag such as `"truncated":true` beside what is cut is about the list, and not part of the task.
    const flag = kind === 'extra' && mayBeCut ? fieldValue(lastListed(task), path) : null
    if (typeof flag === 'boolean') return flag && isCut ? ['marked'] : []
    if (!isSure) return []
    // Of the interface, a field that differs is then read by id; of any other nobody knows which form is meant.
    const isOurs = isOfInterface(keptPath(path))
    const isState = STATE.has(path[0]) && !isOtherwise(each)
    // A shorter value may be the beginning of the whole one, or stand in its place: it votes for both.
    if (kind === 'shorter') return isOurs && isFinal && !isState ? ['cut', 'replaced'] : ['cut']
    if (isState) return []
    if (kind === 'longer') return ['only-begun']
    if (kind === 'extra') return isOneState ? ['only-listed'] : []
    if (!isOurs) return ['differs']
    return isFinal && kind === 'changed' ? ['replaced'] : []
  }
  const votes = new Map<string, Vote>()
  const vote = (path: FieldPath, how: Vote['field']['how'], from = 0): void => {
    const kept = keptPath(path)
    const key = JSON.stringify([how, kept])
    const field = how === 'cut' ? { path: kept, how, from } : { path: kept, how }
    const known = votes.get(key)?.field
    if (known?.how !== 'cut' || from < known.from) votes.set(key, { field, isSure })
  }
  // An open task may move at any moment, so only final ones vote. Where a field of the interface moves, the task has
  // changed or its detail lags.
  if (isFinal) for (const path of moving) if (!isOfInterface(keptPath(path))) vote(path, 'volatile')
  // A list that cuts here at one length may cut elsewhere at half of it.
  for (const each of differences) for (const how of waysOf(each)) vote(each.path, how, Math.floor(each.size / 2))
  return [...votes.values()]
}

function keptPath(path: FieldPath): FieldPath {
  const long = path.findIndex((name) => name.length > LONGEST_NAME)
  return path.slice(0, Math.max(1, Math.min(MOST_NAMES, long === -1 ? MOST_NAMES : long)))
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

/** The fields; where there are too many, one for the first name of each path. */
function bounded<T extends SummaryField | UnevenField>(fields: T[], topOf: (field: T) => T): T[] {
  if (fields.length <= MOST_FIELDS) return fields
  const tops = fields.map(topOf).map((top): [string, T] => [`${top.how} ${top.path}`, top])
  return [...new Map(tops).values()].slice(0, MOST_FIELDS)
}
