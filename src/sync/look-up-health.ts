// Whether a service that lists tasks still answers for single ones. After some look-ups in a row that failed for good,
// a run asks for no more: each may take minutes, and thousands may be owed. Pure.

/** After so many failures in a row, random tasks are asked for: tasks that cannot be read may stand side by side. */
const FAILED_IN_A_ROW = 5

export class LookUpHealth {
  #failed = 0
  #isOver = false
  /** Under way while random tasks are asked for: whoever wants to ask meanwhile waits for it. */
  deciding: Promise<void> | null = null

  /** Notes an answer; `isFailed`: there was none, after all retries. */
  note(isFailed: boolean): void {
    this.#failed = isFailed ? this.#failed + 1 : 0
  }

  /** Random tasks are to be asked for, until one is answered: then the tasks are at fault, and not the service. */
  get isInDoubt(): boolean {
    return !this.#isOver && this.#failed >= FAILED_IN_A_ROW
  }

  /** The random tasks were asked for, and noted. */
  decide(): void {
    this.#isOver ||= this.isInDoubt
  }

  /** This run asks for no more tasks by id. */
  get isOver(): boolean {
    return this.#isOver
  }
}
