// What the service really had, answer by answer: when each task was listed, when it could be found, which texts it had.
// Built by listening to the account; knows nothing of the mirror.
import type { Account } from '../../src/simulator/account.ts'
import type { Listing } from './assumptions.ts'

/** From the answer `from` up to the answer before `to`. */
interface Stretch {
  from: number
  to: number
  /** The service's clock when it began, epoch ms. */
  since: number
}

interface Life {
  createdAt: number
  /** There from the start. */
  isInitial: boolean
  listed: Stretch[]
  texts: { from: number; text: string }[]
  moves: number[]
}

const OPEN = Number.POSITIVE_INFINITY

export class Ledger {
  /** Number of the answer that is next or being made. */
  answer = 0
  readonly lives = new Map<string, Life>()
  /** The service's clock at every answer, epoch ms. */
  readonly times: number[] = []
  /** So many answers after it happened something is to be seen in every answer. */
  lag = 0
  /** How old what an answer says of a task may be, in answers. */
  textLag = 0
  /** Answers of the list that held nothing by mistake. */
  readonly blanks: number[] = []
  /** Answers of the list, by their numbers. */
  readonly listings = new Map<number, Listing>()
  readonly #account: Account

  constructor(account: Account) {
    this.#account = account
    for (const id of account.ids()) this.#begin(id, account.get(id) as string, true)
    account.subscribe(({ kind, id, text }) => {
      // Nobody can see a hidden task.
      if (kind === 'insert' && text === null) return
      const life = this.lives.get(id)
      if (life === undefined) {
        if (kind === 'insert') this.#begin(id, text as string, false)
        return
      }
      if (kind === 'remove' || kind === 'delist') {
        const last = life.listed.at(-1) as Stretch
        if (last.to === OPEN) last.to = this.answer
      } else if (kind === 'restore') life.listed.push({ from: this.answer, to: OPEN, since: account.now() })
      else if (kind === 'move') life.moves.push(this.answer)
      if (text !== null && life.texts.at(-1)?.text !== text) life.texts.push({ from: this.answer, text })
      if (kind === 'finish' || kind === 'update') life.moves.push(this.answer)
    })
  }

  #begin(id: string, text: string, isInitial: boolean): void {
    const { createdAt } = JSON.parse(text) as { createdAt: number }
    const since = this.#account.now()
    this.lives.set(id, {
      createdAt,
      isInitial,
      listed: [{ from: this.answer, to: OPEN, since }],
      texts: [{ from: this.answer, text }],
      moves: [],
    })
  }

  /** Ids that every answer from `first` to `last` could have shown. */
  *listedThroughout(first: number, last: number): Generator<[string, Life]> {
    for (const [id, life] of this.lives) {
      if (life.listed.some(({ from, to }) => from <= Math.max(0, first - this.lag) && to > last)) yield [id, life]
    }
  }

  /** Texts the task had at some answer from `first` on. */
  textsSince(id: string, first: number): string[] {
    const { texts } = this.lives.get(id) as Life
    return texts.filter((_, index) => (texts[index + 1]?.from ?? OPEN) > first - this.textLag).map(({ text }) => text)
  }

  /** The text the task had at `answer`, or its first one. */
  textAt(id: string, answer: number): string {
    const { texts } = this.lives.get(id) as Life
    return (texts.findLast(({ from }) => from <= answer) ?? (texts[0] as { text: string })).text
  }

  /** The service does not know it any more, not even by its id. */
  isGone(id: string): boolean {
    return this.#account.get(id) === null
  }

  /** The most tasks in a row that no answer shows. */
  get mostHidden(): number {
    let [most, inRow] = [0, 0]
    for (let index = 0; index < this.#account.listed; index += 1) {
      inRow = this.isGone(this.#account.idAt(index)) ? inRow + 1 : 0
      most = Math.max(most, inRow)
    }
    return most
  }

  textsOf(id: string): string[] {
    return this.lives.get(id)?.texts.map(({ text }) => text) ?? []
  }

  /** Whether the task came into the list later than `settleMs` after its createdAt, and after the answer `after`. */
  isLate(life: Life, settleMs: number, after: number): boolean {
    const { from, since } = life.listed.at(-1) as Stretch
    const seen = this.lag === 0 ? since : (this.times[from + this.lag] ?? OPEN)
    return from + this.lag > after && !(life.isInitial && life.listed.length === 1) && life.createdAt < seen - settleMs
  }
}
