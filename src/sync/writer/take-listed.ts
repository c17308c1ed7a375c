// What a listed item does to a row: the rules of design.md 6.6 on one task.
import { compareForms, type FormDifference, isLess } from '../../mirror/forms/differences.ts'
import { canHaveMore, type Forms, isMeaningless, isSummarized, withOnlyListed } from '../../mirror/forms/forms.ts'
import { contentHash, rowOf } from '../../mirror/row-bytes.ts'
import { shapeTask } from '../../mirror/shape.ts'
import { awaitsList, type KnownTask, type RowTimes } from '../../mirror/tables/tasks.ts'
import type { Task } from '../../task.ts'
import { isOther } from '../identity.ts'
import { type Intake, type IntakeRules, isFinal, type ListedOutcome, layOver, noteOwed, storedTask } from './intake.ts'

/** A task as the list gave it, ready for the mirror. */
export interface ListedTask {
  id: string
  /** Its row, encoded. */
  bytes: Buffer
  /** The hash of `bytes`. */
  hash: Buffer
  final: boolean
  /** Whether it lacks what only its detail can tell. */
  lacks: boolean
}

/**
 * Takes a listed task in. `known`: what the mirror holds of it, found with its hash. Returns the row's seq and what
 * happened; `showsLess`: the mirror holds more of the task than the list shows, and nothing known explains that.
 */
export function takeListed(
  intake: Intake,
  known: KnownTask | undefined,
  listed: ListedTask,
  times: RowTimes,
): { seq: number; outcome: ListedOutcome; showsLess: boolean } {
  const { tables, rules } = intake
  const { now } = times
  const { id, hash: listHash } = listed
  if (known === undefined) {
    const seq = tables.tasks.insertBytes(id, listed.bytes, { contentHash: listHash, listHash }, times)
    if (!listed.final) tables.owed.owe(id, 'open', now)
    if (owesDetail(rules, listed)) tables.owed.owe(id, 'detail', now)
    return { seq, outcome: 'inserted', showsLess: false }
  }
  const restored = known.deletedAt !== null
  const { seq } = known
  if (restored) tables.owed.settle(id, 'deleted')
  if (!restored && known.isListedSo) return { seq, outcome: 'unchanged', showsLess: false }
  const row = rowOf(listed.bytes)
  const shown = storedTask(row)
  const storedRow = tables.tasks.read(seq)
  // The id was given to another task, or this is another account: nothing of what is stored is part of this task.
  if (isOther(storedRow, row)) {
    tables.tasks.replace(seq, row, { contentHash: listHash, listHash }, times)
    noteOwed(intake, shown, now)
    if (hasToAgree(intake, id)) oweDetail(intake, seq, shown, now)
    return { seq, outcome: restored ? 'restored' : 'updated', showsLess: false }
  }
  const stored = storedTask(storedRow)
  const differences = compareForms(shown, stored)
  const isAllShown = !differences.some((each) => isLess(each.kind) || isSummarized(each, rules.forms))
  const showsLess = differences.some(
    (each) => isLess(each.kind) && !isSummarized(each, rules.forms) && !isMeaningless(each, rules.forms),
  )
  if (isAllShown ? differences.length === 0 : isNothingNew(differences, rules.forms)) {
    const outcome = keepStored(intake, known, { listed, shown, stored, isAllShown, showsLess }, times)
    return { seq, outcome, showsLess }
  }
  if (isOvertaken(rules, known, times)) {
    tables.owed.owe(id, 'detail', now)
    return { seq, outcome: 'unchanged', showsLess }
  }
  if (isContested(intake, known, shown, stored)) {
    tables.owed.oweDetail(id, now, JSON.stringify(shown))
    return { seq, outcome: 'unchanged', showsLess }
  }
  // What is listed and what is left out may be of two moments: only the detail is one of the task's own states.
  const waits = !isAllShown && (rules.asksDetails || isFinal(stored, rules.finalStatuses))
  if (waits) {
    tables.tasks.setListHash(seq, listHash)
    if (restored) tables.tasks.restore(seq, times)
  } else {
    const merged = isAllShown ? shown : layOver(stored, shown)
    const mergedRow = isAllShown ? row : shapeTask(merged)
    const mergedHash = isAllShown ? listHash : contentHash(mergedRow)
    tables.tasks.replace(seq, mergedRow, { contentHash: mergedHash, listHash }, times)
    noteOwed(intake, merged, now)
  }
  if (!isAllShown || hasToAgree(intake, id)) oweDetail(intake, seq, shown, now)
  return { seq, outcome: restored ? 'restored' : waits ? 'unchanged' : 'updated', showsLess }
}

/**
 * This run has changed the row since the answer was asked for: both answers were under way at once, and the one that
 * was asked for first may show the later state. Only a look-up tells that is asked for after both.
 */
function isOvertaken(rules: IntakeRules, known: KnownTask, { readAt }: RowTimes): boolean {
  return rules.asksDetails && known.deletedAt === null && known.isOfThisRun && known.changedAt > readAt
}

/**
 * Since the list showed the task last, a look-up has shown another state: what the list shows now may be as old as
 * before, or newer. Only another look-up tells (take-detail.ts).
 */
function isContested({ tables, rules }: Intake, { seq, deletedAt }: KnownTask, shown: Task, stored: Task): boolean {
  if (!rules.asksDetails || deletedAt !== null) return false
  if (isFinal(shown, rules.finalStatuses) && !isFinal(stored, rules.finalStatuses)) return false
  return awaitsList(tables.tasks.hashes(seq))
}

interface ListedLess {
  listed: ListedTask
  shown: Task
  stored: Task
  isAllShown: boolean
  showsLess: boolean
}

/** The list shows what is stored, or less: the row stays, but for how the list shows it and what is owed. */
function keepStored(
  intake: Intake,
  { seq, deletedAt }: KnownTask,
  { listed, shown, stored, isAllShown, showsLess }: ListedLess,
  times: RowTimes,
): ListedOutcome {
  const { tables, rules } = intake
  const { now } = times
  const { contentHash: stays, detailAt, listHash: before } = tables.tasks.hashes(seq)
  const restored = deletedAt !== null
  if (restored) {
    tables.tasks.restore(seq, times)
    // Nothing is owed of a tombstone, and `prune` may have taken its parts.
    noteOwed(intake, stored, now)
  }
  const isOwed =
    // The list stopped showing a part: is it gone at the service, or only not listed? The detail tells. Nor does what is
    // known of a list that is a summary explain it where the list showed the whole task before.
    (showsLess && (before !== null || detailAt !== null)) ||
    (!isAllShown && before?.equals(stays) === true) ||
    (detailAt === null && owesDetail(rules, listed)) ||
    hasToAgree(intake, listed.id)
  const reshaped = shapeTask(withOnlyListed(stored, shown, rules.forms))
  const reshapedHash = contentHash(reshaped)
  // What only the list has came in or has changed; or an earlier version had no column for a member that has one now.
  const isReshaped = !reshapedHash.equals(stays)
  if (isReshaped) {
    tables.tasks.replace(seq, reshaped, { contentHash: reshapedHash, listHash: listed.hash }, times)
    tables.tasks.setDetailAt(seq, detailAt)
  } else tables.tasks.setListHash(seq, listed.hash)
  if (isOwed) oweDetail(intake, seq, shown, now)
  return restored ? 'restored' : isReshaped ? 'updated' : 'unchanged'
}

/** Whether the list shows nothing new: less than is stored, another spelling, or what says nothing of the state. */
function isNothingNew(differences: FormDifference[], forms: Forms): boolean {
  return differences.every((each) => isLess(each.kind) || each.kind === 'spelled' || isMeaningless(each, forms))
}

function owesDetail(rules: IntakeRules, listed: ListedTask): boolean {
  if (listed.lacks) return true
  return rules.forms.summary.length > 0 && canHaveMore(storedTask(rowOf(listed.bytes)), listed.final, rules.forms)
}

/** Whether a detail is owed that has to agree with what the list showed: from now on with what it shows now. */
function hasToAgree({ tables }: Intake, id: string): boolean {
  return (tables.owed.find(id, 'detail')?.listed ?? null) !== null
}

/** Owes a detail that has to agree with what the list shows. */
function oweDetail({ tables }: Intake, seq: number, shown: Task, now: number): void {
  tables.tasks.setDetailAt(seq, null)
  tables.owed.oweDetail(shown.id, now, JSON.stringify(shown))
}
