// Compares two forms of one task (listed, detail): paths at any depth, never values. No other code does so. Pure.
import { isObject, isRaw } from '../../json.ts'
import type { JsonObject, JsonValue, Task } from '../../task.ts'
import { canonicalText } from '../shape.ts'

/** Names from the task down; `[]` stands for any element of a list. */
export type FieldPath = readonly string[]

type DifferenceKind =
  /** `whole` has a member that `part` lacks, or has as null. */
  | 'absent'
  /** `part` has only the beginning of a string or list of `whole`, or of the JSON text of another value. */
  | 'cut'
  /** The same number in other digits, such as 1.0 and 1. */
  | 'spelled'
  /** `part` has a member that `whole` lacks. */
  | 'extra'
  /** A null in `part` that `whole` lacks: it tells nothing. */
  | 'extra-null'
  | 'changed'
  /** `part` has another string or list that is shorter than in `whole`, or a string in the place of another value. */
  | 'shorter'
  /** `whole` has only the beginning of the text that `part` has there. */
  | 'longer'

export interface FormDifference {
  path: FieldPath
  kind: DifferenceKind
  /** Bytes of what `part` has there. */
  size: number
}

/** Most names in a path; a difference further down counts as one of the last name's value. */
const DEEPEST = 6
/** Most differences below one member; where there are more, they count as one difference of the member. */
const MOST = 24

/** Each path once for each kind. Empty where both forms are JSON-equal; the order of keys does not count. */
export function compareForms(part: Task, whole: Task): FormDifference[] {
  return compareMembers(part, whole, [])
}

/** Sorted names, such as `systemStatus` or `result.body`, of what differs and `counts`; empty for JSON-equal forms. */
export function differingFields(a: Task, b: Task, counts: (each: FormDifference) => boolean = () => true): string[] {
  const differences = compareForms(a, b).filter(counts)
  return [...new Set(differences.map(({ path }) => pathText(path)))].sort()
}

/** A path as text, such as `result.items[].note`. */
export function pathText(path: FieldPath): string {
  return path.join('.').replaceAll('.[]', '[]')
}

/** Whether the path is `above`, or leads through it. */
export function isBelow(path: FieldPath, above: FieldPath): boolean {
  return above.every((name, index) => path[index] === name)
}

/** The task's value at `path`; undefined where it has none, or below a list. */
export function fieldValue(task: Task, path: FieldPath): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    task,
  )
}

function compareMembers(part: JsonObject, whole: JsonObject, above: FieldPath): FormDifference[] {
  return Object.keys({ ...part, ...whole }).flatMap((name) => {
    const path = [...above, name]
    if (!Object.hasOwn(part, name)) return [{ path, kind: 'absent', size: 0 }]
    const left = part[name]!
    if (!Object.hasOwn(whole, name)) return [difference(path, left === null ? 'extra-null' : 'extra', left)]
    return compareValues(left, whole[name]!, path)
  })
}

function compareValues(part: JsonValue, whole: JsonValue, path: FieldPath): FormDifference[] {
  if (part === whole) return []
  if (part === null) return [difference(path, 'absent', part)]
  if (isObject(part) && isObject(whole) && path.length < DEEPEST)
    return gathered(path, part, compareMembers(part, whole, path))
  if (Array.isArray(part) && Array.isArray(whole) && path.length < DEEPEST) return compareLists(part, whole, path)
  if (typeof part === 'string' && isBeginning(part, typeof whole === 'string' ? whole : JSON.stringify(whole)))
    return [difference(path, 'cut', part)]
  if (canonicalText(part) === canonicalText(whole)) return []
  const digits = digitsOf(part)
  if (digits !== null && digits === digitsOf(whole)) return [difference(path, 'spelled', part)]
  if (typeof part === 'string' && typeof whole === 'string' && isBeginning(whole, part))
    return [difference(path, 'longer', part)]
  const isShorter =
    typeof part === 'string'
      ? typeof whole !== 'string' || part.length < whole.length
      : Array.isArray(part) && Array.isArray(whole) && part.length < whole.length
  return [difference(path, isShorter ? 'shorter' : 'changed', part)]
}

function compareLists(part: JsonValue[], whole: JsonValue[], path: FieldPath): FormDifference[] {
  const inside = [...path, '[]']
  if (part.length > whole.length) return [difference(path, 'changed', part)]
  const found = new Map<string, FormDifference>()
  for (const [index, element] of part.entries()) {
    for (const each of compareValues(element, whole[index]!, inside)) found.set(`${each.kind} ${each.path}`, each)
  }
  if (part.length < whole.length) {
    return [difference(path, [...found.values()].every(({ kind }) => isLess(kind)) ? 'cut' : 'shorter', part)]
  }
  return gathered(path, part, [...found.values()])
}

function gathered(path: FieldPath, part: JsonValue, differences: FormDifference[]): FormDifference[] {
  if (differences.length <= MOST) return differences
  return [difference(path, differences.every(({ kind }) => isLess(kind)) ? 'cut' : 'changed', part)]
}

/** Whether `part` only lacks something: with more of `whole`, both would be equal. */
export function isLess(kind: DifferenceKind): boolean {
  return kind === 'absent' || kind === 'cut'
}

/** Whether both have a value there, and neither is less of the other, or the other in another spelling. */
export function isChange(kind: DifferenceKind): boolean {
  return kind === 'changed' || kind === 'shorter' || kind === 'longer'
}

function difference(path: FieldPath, kind: DifferenceKind, part: JsonValue): FormDifference {
  return { path, kind, size: bytesOfValue(part) }
}

/** Bytes of a string, or of the JSON text of anything else. */
export function bytesOfValue(value: JsonValue): number {
  return Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value))
}

/** How a text that was cut may end: `...`, ` [truncated]`, `... (12 more bytes)`. */
const MARKS = [
  /^\s?(?:\u2026|\.{3})(?:\s?[[(<].*[\])>])?$/su,
  /^\s?[[(<]{1,2}[^[\](){}<>]*\b(?:truncated|cut|omitted|more|shortened|abridged|clipped|snipped|trimmed)\b[^[\](){}<>]*[\])>]{1,2}$/iu,
]
const LONGEST_MARK = 120

/** Whether `part` is the beginning of `whole`, also where a mark of the cut ends it. */
export function isBeginning(part: string, whole: string): boolean {
  const most = Math.min(part.length, whole.length)
  let same = 0
  while (same < most && part[same] === whole[same]) same += 1
  if (same === part.length) return same < whole.length
  // The mark's first characters may be the same as those of the whole text there.
  return [same, same - 1, same - 2, same - 3].some((at) => {
    const mark = part.slice(at)
    return at >= 0 && at < whole.length && mark.length <= LONGEST_MARK && MARKS.some((each) => each.test(mark))
  })
}

/** The value of a number, spelled in one way only: its digits without zeros around them, and the power of ten. */
function digitsOf(value: JsonValue): string | null {
  const source = typeof value === 'number' ? String(value) : isRaw(value) ? value.rawJSON : null
  if (source === null) return null
  const [, sign, whole, fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  if (whole === undefined) return null
  const digits = whole + fraction
  let start = 0
  while (start < digits.length && digits[start] === '0') start += 1
  if (start === digits.length) return '0'
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return `${sign}${digits.slice(start, end)}e${BigInt(power.slice(0, 20)) + BigInt(digits.length - end - fraction.length)}`
}
