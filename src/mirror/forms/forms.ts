// How list and details show tasks differently: which fields the list leaves out or cuts (then it is a summary), which
// differ without meaning anything, and what follows for one task. Learned from a few tasks (form-votes.ts). Pure: paths
// and sizes, never values.
import { isObject } from '../../json.ts'
import type { JsonValue, Task } from '../../task.ts'
import { isOfInterface } from '../shape.ts'
import {
  bytesOfValue,
  compareForms,
  type FieldPath,
  type FormDifference,
  fieldValue,
  isBeginning,
  isBelow,
  isChange,
  isLess,
} from './differences.ts'

/** A field of which details hold more than the list shows. */
export type SummaryField =
  | { path: FieldPath; how: 'absent' }
  /** A member of the list alone, such as `"truncated": true`, says that something is missing. */
  | { path: FieldPath; how: 'marked' }
  /** `from`: bytes; a task whose listed form is shorter as a whole has nothing that was cut. */
  | { path: FieldPath; how: 'cut'; from: number }
  /** The list shows something else in its place: a mask, a word about it, the value in other digits. */
  | { path: FieldPath; how: 'replaced' }

/** A field that differs between list and detail, or from read to read, while the task stays as it is. */
export interface UnevenField {
  path: FieldPath
  /** `only-begun`: details have only the beginning of it. */
  how: 'volatile' | 'only-listed' | 'only-begun' | 'differs'
}

export interface Forms {
  summary: SummaryField[]
  uneven: UnevenField[]
}

/** Whether the listed form may hold less than the detail: a list that cuts one field may cut any. */
export function canHaveMore(listed: Task, isFinal: boolean, { summary }: Forms): boolean {
  return summary.some((field) => {
    if (field.how === 'cut') return bytesOfValue(listed) >= field.from
    if (field.how === 'marked') return fieldValue(listed, field.path) === true
    if (field.how === 'replaced') return !lacks(listed, field.path)
    // An open task has no result yet.
    return (isFinal || field.path.join() !== 'result') && lacks(listed, field.path)
  })
}

function lacks(value: JsonValue | undefined, path: FieldPath): boolean {
  const [name, ...below] = path
  if (name === undefined) return value === undefined || value === null
  if (Array.isArray(value)) return value.some((element) => lacks(element, name === '[]' ? below : path))
  // Text in the place of an object is what a cut has left of it.
  if (!isObject(value)) return typeof value === 'string'
  return lacks(Object.hasOwn(value, name) ? value[name] : undefined, below)
}

/** Whether the list is known to show less there, or something else in its place. */
export function isSummarized({ path, kind, size }: FormDifference, { summary }: Forms): boolean {
  return summary.some((field) => {
    if (field.how === 'replaced' || (field.how === 'marked' && kind === 'extra')) return isBelow(path, field.path)
    if (kind === 'absent') return isBelow(path, field.path)
    if (field.how !== 'cut' || (kind !== 'cut' && kind !== 'shorter')) return false
    // A shorter text may stand in the place of any field; but what is less than the list is known to leave was changed.
    return size >= field.from && (kind === 'shorter' || isBelow(path, field.path))
  })
}

/** Whether the difference tells nothing of the task's state. */
export function isMeaningless({ path, kind }: FormDifference, { uneven }: Forms): boolean {
  const isUneven = (field: UnevenField): boolean =>
    isBelow(path, field.path) && (field.how !== 'only-begun' || kind === 'longer')
  return kind === 'extra-null' || uneven.some(isUneven)
}

/** Whether the difference, in a field of the interface, shows two states of the task; any other field may just be so. */
export function isOfTwoStates(each: FormDifference, forms: Forms): boolean {
  return isChange(each.kind) && isOfInterface(each.path) && !isMeaningless(each, forms) && !isSummarized(each, forms)
}

/** Which state of the task a detail shows, compared with what the list showed before the detail was asked for. */
type DetailRecency =
  /** It agrees with all that the list showed. */
  | 'agrees'
  /** A later state of the task. */
  | 'newer'
  /** An earlier state: the detail lags behind the list. */
  | 'older'
  /** Another state, earlier or later. */
  | 'unclear'

/** `before`: what the mirror held before the list showed something else; null where it held nothing else. */
export function recencyOf(
  detail: Task,
  { listed, before }: { listed: Task; before: Task | null },
  forms: Forms,
  isFinal: (task: Task) => boolean,
): DetailRecency {
  if (isFinal(listed) !== isFinal(detail) && listed.systemStatus !== detail.systemStatus)
    return isFinal(listed) ? 'older' : 'newer'
  const meant = meantBy(compareForms(listed, detail), forms)
  if (meant.length === 0) return 'agrees'
  const [listedEnd, detailEnd] = [listed.completedAt, detail.completedAt]
  if (
    typeof listedEnd === 'number' &&
    typeof detailEnd === 'number' &&
    meant.some(({ path }) => path[0] === 'completedAt')
  )
    return detailEnd < listedEnd ? 'older' : 'newer'
  if (!isFinal(listed)) return 'newer'
  return before !== null && compareForms(before, detail).length === 0 ? 'older' : 'unclear'
}

/** The differences that speak of two states of the task, not of two ways to show one. */
function meantBy(differences: FormDifference[], forms: Forms): FormDifference[] {
  const isCut = differences.some(({ kind }) => isLess(kind))
  return differences.filter(
    (each) =>
      !isLess(each.kind) &&
      each.kind !== 'spelled' &&
      !isMeaningless(each, forms) &&
      !isSummarized(each, forms) &&
      // Beside what is cut, a field that the interface does not know may be a flag about the cut.
      !(isCut && each.kind === 'extra' && !isOfInterface(each.path)),
  )
}

/**
 * The detail, or what is stored of it, with those listed members that the detail of any task lacks, or has only the
 * beginning of. Not with a member that says that something is missing: in the detail nothing is. Nor with one that
 * stands within a recorded body or headers in the place of others, such as a link to them.
 */
export function withOnlyListed(detail: Task, listed: Task, { summary, uneven }: Forms): Task {
  if (uneven.length === 0) return detail
  const isMark = ({ path }: UnevenField): boolean =>
    summary.some((field) => field.how === 'marked' && isBelow(path, field.path))
  const less = compareForms(listed, detail).filter(({ kind }) => isLess(kind))
  const isInstead = ({ path, how }: UnevenField): boolean =>
    how === 'only-listed' &&
    path.length > RECORDED &&
    isOfInterface(path) &&
    less.some((each) => isBelow(each.path, path.slice(0, -1)))
  return uneven
    .filter((field) => field.how === 'only-listed' || field.how === 'only-begun')
    .filter((field) => !isMark(field) && !isInstead(field))
    .reduce<Task>((task, { path, how }) => filledIn(task, listed, path, how === 'only-begun') as Task, detail)
}

/** Names in the path of a recorded value, such as `result.body`. */
const RECORDED = 2

function filledIn(value: JsonValue, from: JsonValue, [name, ...below]: FieldPath, isBegun: boolean): JsonValue {
  if (name === undefined && !isBegun) return from
  if (name === undefined)
    return typeof value === 'string' && typeof from === 'string' && isBeginning(value, from) ? from : value
  if (!isObject(value) || !isObject(from) || !Object.hasOwn(from, name)) return value
  // A computed name defines a key of its own, `__proto__` too.
  if (!Object.hasOwn(value, name)) return below.length === 0 ? { ...value, [name]: from[name]! } : value
  return { ...value, [name]: filledIn(value[name]!, from[name]!, below, isBegun) }
}
