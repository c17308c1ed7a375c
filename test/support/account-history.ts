// What a copy of the account must equal: the tasks it holds now, and every state a task really had. For tests and checks.
import type { Account } from '../../src/simulator/account.ts'

/** Id -> JSON text of every task that can be listed now, whole, whatever the list carries. */
export function expectedTexts(account: Account): Map<string, string> {
  return new Map(account.ids().map((id) => [id, account.get(id)!]))
}

interface RecordedHistory {
  /** All texts the task has had since the recording began, oldest first; null: it could not be read. */
  of(id: string): readonly (string | null)[]
  /** Every id there has been. */
  ids(): string[]
  stop(): void
}

/** Records the states of all tasks from now on, the present ones first. Holds every text: not for a million tasks. */
export function recordHistory(account: Account): RecordedHistory {
  const states = new Map<string, (string | null)[]>()
  for (const [id, text] of expectedTexts(account)) states.set(id, [text])
  const stop = account.subscribe(({ id, text }) => {
    const known = states.get(id)
    if (known === undefined) states.set(id, [text])
    else if (known.at(-1) !== text) known.push(text)
  })
  return { of: (id) => states.get(id) ?? [], ids: () => [...states.keys()], stop }
}
