// Whether the service still shows the account of this mirror: checks every answer before anything of it is taken in.
import { MirrorError } from '../errors.ts'
import type { AccountCheck, Run } from './context.ts'
import { type AccountSigns, judgeAccount } from './identity.ts'
import { viewAt, viewFirst } from './steps/beside.ts'
import { isMassDelete, notFoundShape } from './steps/deletions.ts'
import { askForTask, isFound } from './steps/details.ts'
import { windowSizeOf } from './window-size.ts'

/** The check of a run that is not bound to its service yet. */
export const UNBOUND: AccountCheck = {
  hasOtherKey: false,
  isBegun: () => false,
  found: new Set(),
  saw: async () => undefined,
}

const NOTHING: AccountSigns = { known: 0, others: 0, unknown: 0 }

/** So many known tasks are looked up by id where a window shows too little of the account. */
const LOOKED_UP = 5

/** `onBegun` is called once, when the first answers have passed the check. */
export function accountCheck(run: Run, given: { hasOtherKey: boolean; onBegun(): Promise<void> }): AccountCheck {
  const isSure = run.opened.liveTasks === 0 || run.request.rebind === true
  const all = { ...NOTHING }
  const found = new Set<string>()
  let areGone = false
  let isBegun = false
  let isAsked = false
  const judge = () =>
    isSure ? 'same' : judgeAccount(all, { isAsked, hasOtherKey: given.hasOtherKey && !isBegun, areGone })
  const add = ({ known, others, unknown }: AccountSigns): void => {
    all.known += known
    all.others += others
    all.unknown += unknown
  }

  async function judgeShown(shown: AccountSigns): Promise<void> {
    add(shown)
    if (judge() === 'ask') {
      isAsked = true
      if (given.hasOtherKey && all.known === 0) add((await viewFurtherDown(run)) ?? NOTHING)
      else {
        const { gone, asked, ...shown } = await lookUpKnown(run, found)
        add(shown)
        areGone = gone === asked && isMass(run)
      }
    }
    if (judge() === 'other') throw otherAccount(all, areGone)
    if (isBegun) return
    isBegun = true
    await given.onBegun()
  }

  let last: Promise<void> = Promise.resolve()
  return {
    hasOtherKey: given.hasOtherKey,
    isBegun: () => isBegun,
    found,
    saw(shown) {
      // Answers are judged one after another: what the check of one is still looking up counts for the next as well.
      const judged = last.then(() => judgeShown(shown))
      last = judged.catch(() => undefined)
      return judged
    },
  }
}

/** Whether it would take --allow-mass-delete to mark every task deleted. */
function isMass({ request, opened, config }: Run): boolean {
  const { massDeleteFraction, massDeleteMinimum } = config.sync
  const live = opened.liveTasks
  return request.allowMassDelete !== true && isMassDelete(live, live, massDeleteFraction, massDeleteMinimum)
}

function otherAccount({ known, others }: AccountSigns, areGone: boolean): MirrorError {
  const nothing = areGone
    ? 'The service shows none of the tasks of this mirror, and knows none of some that were asked for by id: it may be another account'
    : 'The API key is another one, and its list showed no task of this mirror, neither where it begins nor further down'
  const what =
    known === 0
      ? nothing
      : `The service shows another account: of ${known} tasks with ids of this mirror, ${others} have another createdAt or userId`
  return new MirrorError('other-account', what, {
    facts: { known, others },
    hint: 'Use the key of this account, another file with --db, or accept the account with `task-mirror sync --rebind`. Nothing was written.',
  })
}

/**
 * Another account's key may find the same tasks by id: where the first window shows only new ones, one that lies where
 * known tasks stand unless more have come in than there were.
 */
async function viewFurtherDown(run: Run): Promise<AccountSigns | null> {
  const { window } = windowSizeOf(run)
  return viewAt(run, Math.max(window, (run.facts.total ?? 0) - window))
}

/** Asks for some live tasks of the mirror by id: what the answers show, and how many are gone. Adds to `found`. */
async function lookUpKnown(run: Run, found: Set<string>): Promise<AccountSigns & { asked: number; gone: number }> {
  const shown = { ...NOTHING, asked: 0, gone: 0 }
  // Spread over the whole mirror; of a small one, each of its tasks.
  const parts = Array.from({ length: LOOKED_UP }, (_, index) => (index + run.random()) / LOOKED_UP)
  const ids = await run.writer.liveIdsAt(parts)
  for (const id of ids) {
    const detail = await askForTask(run, id)
    shown.asked += 1
    if (notFoundShape(detail.answer) !== null) shown.gone += 1
    if (!isFound(detail)) continue
    const { handle } = detail.answer.value
    found.add(id)
    const { known, others } = await run.writer.signsOfDetail(handle, id)
    await run.writer.dropDetail(handle)
    shown.known += known
    shown.others += others
  }
  return shown
}

/** Call it before a run that may have read no window yet takes in tasks by id. Throws `other-account`. */
export async function seeAccount(run: Run): Promise<void> {
  if (run.account.isBegun()) return
  if (!run.account.hasOtherKey) return run.account.saw(NOTHING)
  // Another account's key may find the same tasks by id: only a window shows what the account has.
  await seeList(run)
}

/** As `seeAccount`, for tasks that are no sample of the account: judges its list instead, as a walk does. */
export async function seeList(run: Run): Promise<void> {
  if (run.account.isBegun()) return
  if ((await viewFirst(run)) === null) await run.account.saw(NOTHING)
}
