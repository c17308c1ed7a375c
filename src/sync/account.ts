// Whether the service still shows the account of this mirror: watched with every answer, before anything of it is taken in.
import { MirrorError } from '../errors.ts'
import type { AccountCheck, Run } from './context.ts'
import { askForTask, isFound } from './details.ts'
import { judgeAccount, type Shown } from './identity.ts'

/** Before a run is bound to its service. */
export const UNBOUND: AccountCheck = { hasOtherKey: false, isBegun: () => false, saw: async () => undefined }

/** Known tasks that are looked up by id where a window shows too little of the account. */
const LOOKED_UP = 5

/** `onBegun` is called once, when the first answers have passed. */
export function accountCheck(run: Run, given: { hasOtherKey: boolean; onBegun(): Promise<void> }): AccountCheck {
  const isSure = run.opened.liveTasks === 0 || run.request.rebind === true
  const all: Shown = { known: 0, others: 0 }
  let isBegun = false
  let isAsked = false
  const judge = () => (isSure ? 'same' : judgeAccount(all, { isAsked, hasOtherKey: given.hasOtherKey && !isBegun }))
  const add = ({ known, others }: Shown): void => {
    all.known += known
    all.others += others
  }

  async function judgeShown(shown: Shown): Promise<void> {
    add(shown)
    if (judge() === 'ask') {
      isAsked = true
      add(await lookUpKnown(run))
    }
    if (judge() === 'other') throw otherAccount(all)
    if (isBegun) return
    isBegun = true
    await given.onBegun()
  }

  let last: Promise<void> = Promise.resolve()
  return {
    hasOtherKey: given.hasOtherKey,
    isBegun: () => isBegun,
    saw(shown) {
      // One after another: what one of them is still looking up counts for the next as well.
      const judged = last.then(() => judgeShown(shown))
      last = judged.catch(() => undefined)
      return judged
    },
  }
}

function otherAccount({ known, others }: Shown): MirrorError {
  const what =
    known === 0
      ? 'The API key is another one, and its account shares no task with this mirror'
      : `The service shows another account: of ${known} tasks with ids of this mirror, ${others} have another createdAt or userId`
  return new MirrorError('other-account', what, {
    facts: { known, others },
    hint: 'Use the key of this account, another file with --db, or accept the account with `task-mirror sync --rebind`. Nothing was written.',
  })
}

/** Some of the mirror's live tasks by id: who they are at the service. Takes nothing in. */
async function lookUpKnown(run: Run): Promise<Shown> {
  const shown: Shown = { known: 0, others: 0 }
  const ids = await run.writer.liveIdsAt(Array.from({ length: LOOKED_UP }, run.random))
  for (const id of ids) {
    const detail = await askForTask(run, id)
    if (!isFound(detail) || detail.answer.kind !== 'ok') continue
    const { handle } = detail.answer.value
    const { known, others } = await run.writer.shownByDetail(handle, id)
    await run.writer.dropDetail(handle)
    shown.known += known
    shown.others += others
  }
  return shown
}

/** To be called before a run that may have read no window yet takes tasks in by id. Throws `other-account`. */
export async function seeAccount(run: Run): Promise<void> {
  if (run.account.isBegun()) return
  if (!run.account.hasOtherKey) return run.account.saw({ known: 0, others: 0 })
  // By id another account's key may find the same tasks: only a window shows what the account has.
  const { service, writer, config } = run
  const answer = await service.list({ skip: 0, take: config.sync.window }, (raw) => writer.parseList(raw))
  if (answer.kind !== 'ok') return run.account.saw({ known: 0, others: 0 })
  const shown = await writer.view(answer.value.handle, 0)
  await writer.dropWindow(answer.value.handle)
  await run.account.saw(shown)
}
