// Deliberate bugs, one at a time: what the simulation has to find, and what the kernel of proof has to stop. Each
// `break...` takes a real module and gives it back with switches; only bugs.test.ts puts them in place.

import { rowOf } from '../../src/mirror/row-bytes.ts'
import type * as Evidence from '../../src/proof/evidence.ts'
import type * as Proof from '../../src/proof/kernel.ts'
import type { Seam } from '../../src/proof/rules.ts'
import type * as Deletions from '../../src/sync/steps/deletions.ts'
import type * as Walking from '../../src/sync/steps/walking.ts'
import { storedTask } from '../../src/sync/writer/intake.ts'
import { takeDetail } from '../../src/sync/writer/take-detail.ts'
import type * as TakeListed from '../../src/sync/writer/take-listed.ts'
import type * as Windows from '../../src/sync/writer/windows.ts'
import type * as Behind from '../../src/walk/behind.ts'
import type * as Chain from '../../src/walk/chain.ts'
import type * as Ties from '../../src/walk/ties.ts'

/** What is wrong, and a seed that finds it: where the code has changed so that it does not any more, the next ones are tried. */
export const BUGS = {
  'no-lap': { seed: 368, about: 'there is no closing lap' },
  'known-is-met': { seed: 102, about: 'met is what the mirror holds, not what this walk has read' },
  'progress-outside': { seed: 40_413, about: 'progress is committed before the rows, and trusted by the resumed walk' },
  'frontier-too-early': { seed: 159, about: 'the frontier moves when the walk to it begins' },
  'frontier-uncapped': { seed: 827, about: 'a task dated in the future moves the frontier there' },
  'mark-deleted-unasked': { seed: 4, about: 'what a complete walk did not meet gets a tombstone unasked' },
  'no-witness': { seed: 970, about: 'not found counts although no witness was found' },
  'empty-stored': { seed: 31, about: 'a listed item empties what it does not carry' },
} as const

/** What is wrong with where a walk goes, what it takes in and what is made of it, and a seed in which it would be a false `complete`. */
export const STRATEGY_BUGS = {
  'advance-by-take': {
    seed: 948,
    about: 'the next window starts behind what was asked for, not behind what came, and is trusted to join',
  },
  'gaps-taken': { seed: 1326, about: 'a window is taken in that shows nothing of what was met' },
  'ties-taken': {
    seed: 2,
    about: 'a window whose only anchor may have lost its ties joins like any other',
  },
  'ties-unpaid': { seed: 25, about: 'a long run of equal createdAt is never counted' },
  'doubts-forgotten': { seed: 93, about: 'a partial walk is written down as complete' },
  'short-is-end': { seed: 66, about: 'a short answer is the end' },
} as const

export type Bug = keyof typeof BUGS | keyof typeof STRATEGY_BUGS

let active: Bug | null = null
let believesEverything = false

/** Runs `work` with one bug, or none, switched on; `unproven`: and with a kernel for which nothing is ever missing. */
export async function withBug<T>(bug: Bug | null, work: () => Promise<T>, { unproven = false } = {}): Promise<T> {
  active = bug
  believesEverything = unproven
  try {
    return await work()
  } finally {
    active = null
    believesEverything = false
  }
}

export function breakKernel(real: typeof Proof): typeof Proof {
  return {
    ...real,
    Kernel: class extends real.Kernel {
      #isAsked = true

      override missing(isWhole?: boolean): ReturnType<InstanceType<typeof real.Kernel>['missing']> {
        return believesEverything ? null : super.missing(isWhole)
      }

      /** What the walk makes of it: the kernel's own rules are as they were. */
      override seam(handle: number): Seam {
        const seam = super.seam(handle)
        return this.#trusts && seam === 'none' ? 'shown' : seam
      }

      override joins(handle: number): boolean {
        return this.#trusts || super.joins(handle)
      }

      get #trusts(): boolean {
        return this.#isAsked && (active === 'gaps-taken' || active === 'advance-by-take')
      }

      override take(handle: number): void {
        this.#isAsked = false
        super.take(handle)
        this.#isAsked = true
      }
    },
  }
}

/** A judge that believes everything, too. */
export function breakEvidence(real: typeof Evidence): typeof Evidence {
  const NOTHING = { range: null, isWhole: true, answers: 0, windows: 0, rests: {}, end: [] }
  return { ...real, prove: (lines) => (believesEverything ? NOTHING : real.prove(lines)) }
}

export function breakChain(real: typeof Chain): typeof Chain {
  return {
    ...real,
    extendChain(before, window, follows) {
      const chain = real.extendChain(before, window, follows)
      if (active === 'advance-by-take') chain.end = window.skip + window.asked
      return chain
    },
  }
}

export function breakTies(real: typeof Ties): typeof Ties {
  return {
    ...real,
    acceptTied: (...args) => active === 'ties-taken' || real.acceptTied(...args),
    async *payOwed(...args) {
      if (active !== 'ties-unpaid' && active !== 'ties-taken') yield* real.payOwed(...args)
    },
  }
}

export function breakBehind(real: typeof Behind): typeof Behind {
  return {
    ...real,
    async *goOnBehind(ongoing, options) {
      if (active === 'short-is-end') return { kind: 'list-end' }
      return yield* real.goOnBehind(ongoing, options)
    },
  }
}

export function breakWindows(real: typeof Windows): typeof Windows {
  return {
    ...real,
    windowIntake(writing) {
      const intake = real.windowIntake(writing)
      const windows = new Map<number, string[]>()
      const lookedAt = new Set<number>()
      const distort = (handle: number, walkId: number, looked: Windows.Looked): Windows.Looked => {
        const ids = windows.get(handle) as string[]
        if (active === 'known-is-met') {
          for (const [index, id] of ids.entries()) if (writing.tables.tasks.find(id)) looked.met[index] = 1
        }
        if (active === 'progress-outside' && !lookedAt.has(walkId) && (writing.walks.get(walkId)?.windows ?? 0) > 0) {
          // An item of another createdAt before an anchor shows that no tie was passed over.
          looked.met.fill(1, 0, 2)
        }
        lookedAt.add(walkId)
        return looked
      }
      return {
        ...intake,
        hold(handle, window, walkId) {
          windows.set(handle, window.ids)
          const looked = intake.hold(handle, window, walkId)
          return looked === null || walkId === null ? null : distort(handle, walkId, looked)
        },
        look: (handle, walkId) => distort(handle, walkId, intake.look(handle, walkId)),
        takeIn(step) {
          const { walkId, progress, now } = step
          if (active === 'progress-outside' && walkId !== null && progress !== undefined) {
            writing.commit(() => writing.walks.progress(walkId, progress, 0, { readAt: step.readAt, now }))
          }
          return intake.takeIn(step)
        },
      }
    },
  }
}

export function breakWalking(real: typeof Walking): typeof Walking {
  return {
    ...real,
    async runWalk(run, task) {
      if (active === 'frontier-too-early' && task.kind !== 'full') {
        await run.writer.setFacts({ frontier: run.now() - run.config.sync.settleMs }, run.now())
      }
      if (active !== 'no-lap') return real.runWalk(run, task)
      return real.runWalk(run, { ...task, request: { ...task.request, lap: 'never' } })
    },
    frontierOf(result, newest, settleMs) {
      return active === 'frontier-uncapped' && newest !== null ? newest : real.frontierOf(result, newest, settleMs)
    },
    async endWalk(run, done, judged) {
      return real.endWalk(run, done, active === 'doubts-forgotten' ? { ...judged, verdict: 'complete' } : judged)
    },
  }
}

export function breakDeletions(real: typeof Deletions): typeof Deletions {
  return {
    ...real,
    async decideDeletions(run, witnesses, ...rest) {
      if (active === 'mark-deleted-unasked') {
        const readAt = run.now()
        const due = await run.writer.due('candidate', readAt)
        const steps = due.map((taskId) => ({ kind: 'absent' as const, taskId, readAt }))
        if (steps.length > 0) await run.writer.takeDetails(steps, readAt)
        return { refused: 0, undecided: 0 }
      }
      if (active !== 'no-witness') return real.decideDeletions(run, witnesses, ...rest)
      const trusting = { ...run, request: { ...run.request, allowMassDelete: true } }
      return real.decideDeletions(trusting, [], rest[0], async () => true)
    },
  }
}

export function breakTakeListed(real: typeof TakeListed): typeof TakeListed {
  return {
    ...real,
    takeListed(intake, known, listed, times) {
      if (active !== 'empty-stored' || known === undefined) return real.takeListed(intake, known, listed, times)
      const reading = { ...times, byHand: true, isListed: false }
      const taken = takeDetail(intake, known, storedTask(rowOf(listed.bytes)), reading)
      return { seq: taken.seq, outcome: taken.outcome, showsLess: false }
    },
  }
}
