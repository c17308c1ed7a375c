// Whose answer it is: a task is its id with `createdAt` and `userId`; other accounts may count ids from 1, too. Pure.
import type { TaskRow } from '../task.ts'

/** What tells two tasks of one id apart; null where it is not known. */
export type Identity = Pick<TaskRow, 'user_id' | 'created_at'>

/** What answers showed of tasks that the mirror holds. */
export interface AccountSigns {
  /** Live ones, and those with another identity than the mirror's. */
  known: number
  /** Of these, how many carry another identity: `createdAt` or `userId`. */
  others: number
  /** Other tasks in the answers: the mirror holds tombstones of them, or nothing. */
  unknown: number
}

/** A detail may tell the moment of creation more or less finely than the list does, ms. */
const ROUNDED_MS = 999n

/** Whether both are known, and differ. */
export function isOther(held: Identity, shown: Identity): boolean {
  if (held.user_id !== null && shown.user_id !== null && held.user_id !== shown.user_id) return true
  if (held.created_at === null || shown.created_at === null) return false
  const apart = BigInt(held.created_at) - BigInt(shown.created_at)
  return apart > ROUNDED_MS || -apart > ROUNDED_MS
}

/** Fewer known tasks than this may be a few whose ids were given to other tasks. */
const TOO_FEW_TO_TELL = 10

/** `ask`: look for known tasks first, for what was shown is too little to tell. */
type AccountJudgement = 'same' | 'other' | 'ask'

/**
 * What `shown` says of an account whose mirror holds live tasks. `isAsked`: known tasks have been looked for already;
 * `hasOtherKey`: the key is not the one of the last run, so that sharing nothing is a sign; `areGone`: the service knew
 * none of those that were looked up, and it would be a mass deletion if all were gone.
 */
export function judgeAccount(
  shown: AccountSigns,
  { isAsked, hasOtherKey, areGone }: { isAsked: boolean; hasOtherKey: boolean; areGone: boolean },
): AccountJudgement {
  if (shown.known === 0) {
    if (!isAsked) return 'ask'
    if (hasOtherKey) return 'other'
    // An empty list does not tell whose it is.
    return areGone && shown.unknown > 0 ? 'other' : 'same'
  }
  if (shown.others * 2 <= shown.known) return 'same'
  return shown.known < TOO_FEW_TO_TELL && !isAsked ? 'ask' : 'other'
}
