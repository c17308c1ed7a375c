// Whether a service that lists tasks still answers for single ones. Where some look-ups in a row fail for good, a run asks for no more:
// each may take minutes, and thousands may be owed. Pure.

/** So many in a row, and then those of some tasks by chance: single tasks that cannot be read may stand side by side. */
const FAILED_IN_A_ROW = 5

export class LookUpHealth {
  #failed = 0
  #isOver = false
  /** Under way while tasks by chance are asked for: whoever wants to ask meanwhile waits for it. */
  deciding: Promise<void> | null = null

  /** What an answer shows; `isFailed`: there was none, after all retries. */
  note(isFailed: boolean): void {
    this.#failed = isFailed ? this.#failed + 1 : 0
  }

  /** Tasks by chance are to be asked for, until one is answered: then it is the tasks, and not the service. */
  get isInDoubt(): boolean {
    return !this.#isOver && this.#failed >= FAILED_IN_A_ROW
  }

  /** They were asked for, and noted. */
  decide(): void {
    this.#isOver ||= this.isInDoubt
  }

  /** This run asks for no more. */
  get isOver(): boolean {
    return this.#isOver
  }
}
