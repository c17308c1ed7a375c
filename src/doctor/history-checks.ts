// Checks of the last runs: do they come on time, how did the last one end, what could the last full walk prove? Pure.
import prettyMilliseconds from 'pretty-ms'
import { ageOf } from '../clock.ts'
import { EXIT } from '../errors.ts'
import type { History } from '../mirror/shown/history.ts'
import type { Timetable } from '../schedule/timetable.ts'
import { type Check, note, ok, wrong } from './check.ts'

interface ScheduleFacts {
  /** When runs of `sync` began, newest first, epoch ms. */
  starts: readonly number[]
  /** Whether the last run of `sync` has no end: it is still running, or it was killed. */
  isUnfinished: boolean
  /** null where `schedule.sync` is not set: cron or the like starts runs, and only their times are known. */
  timetable: Pick<Timetable, 'previous'> | null
  now: number
  settleMs: number
}

/** This many gaps between runs make a habit, unless they are shorter than cron's: such runs are started by hand. */
const LEAST_GAPS = 10
const LEAST_GAP_MS = 50_000
const LEAST_LATE_MS = 60_000

const spoken = (ms: number): string =>
  prettyMilliseconds(ms < 1000 ? ms : Math.round(ms / 1000) * 1000, { unitCount: 2 })

export function scheduleCheck({ starts, isUnfinished, timetable, now, settleMs }: ScheduleFacts): Check {
  const name = 'schedule'
  const [last] = starts
  if (last === undefined) {
    return note(
      name,
      'no run of sync yet',
      'Run `task-mirror sync` once, then let cron, systemd or `task-mirror schedule` do it.',
    )
  }
  const age = ageOf(last, now, settleMs)
  if (age === null) {
    return wrong(name, 'the last run of sync is dated in the future', 'Set the clock of this machine right (NTP).')
  }
  const begun = `the last run of sync began ${spoken(age)} ago`
  if (isUnfinished) {
    return note(
      name,
      `${begun} and has not ended: it is under way, or was killed`,
      'If it was killed, the next run goes on.',
    )
  }
  const todo = 'Look at what starts it: the cron or systemd log, or whether `task-mirror schedule` is up.'
  if (timetable !== null) {
    // A run begins a little after its moment, so the latest moment may have only just passed.
    const due = timetable.previous(now)
    const before = due === null ? null : timetable.previous(due)
    const isLate = before !== null && last < before && age > LEAST_LATE_MS
    return isLate
      ? wrong(name, `${begun}; schedule.sync wanted one ${spoken(now - before)} ago`, todo)
      : ok(name, begun)
  }
  const habit = habitOf(starts)
  if (habit === null) return ok(name, `${begun}; how often it should run is not known here`)
  const pace = `they came about every ${spoken(habit)}`
  return age > Math.max(3 * habit, LEAST_LATE_MS)
    ? wrong(name, `${begun}; before, ${pace}`, todo)
    : ok(name, `${begun}; ${pace}`)
}

/** The median gap between runs, ms, where three of four gaps are between half and twice of it; else null. */
export function habitOf(starts: readonly number[]): number | null {
  const gaps = starts
    .slice(1)
    .map((start, index) => starts[index]! - start)
    .filter((gap) => gap > 0)
    .sort((one, other) => one - other)
  if (gaps.length < LEAST_GAPS) return null
  const median = gaps[Math.floor(gaps.length / 2)]!
  const usual = gaps.filter((gap) => gap >= median / 2 && gap <= median * 2)
  return median >= LEAST_GAP_MS && usual.length * 4 >= gaps.length * 3 ? median : null
}

const TODO_OF: Readonly<Record<number, string>> = {
  [EXIT.bug]: 'Run it again with --log-level debug and report what it says.',
  [EXIT.usage]: 'Mend the flag or key that its message names; `task-mirror config show` lists all.',
  [EXIT.partial]: 'Run `task-mirror sync` and read its notes.',
  [EXIT.service]: 'See the line about the service; the next run goes on from there.',
  [EXIT.keyRefused]: 'See the line about the key.',
  [EXIT.mirror]: 'See the lines about mirror and disk; `task-mirror verify` checks the file.',
}

const SIGNALLED: ReadonlySet<number> = new Set([EXIT.sighup, EXIT.sigint, EXIT.sigterm])

export function lastRunCheck(run: History['lastRun'], now: number, settleMs: number): Check {
  const name = 'last run'
  if (run === null) return note(name, 'none yet')
  const age = ageOf(run.finishedAt ?? run.startedAt, now, settleMs)
  const when = age === null ? 'in the future' : `${spoken(age)} ago`
  const what = `run ${run.id} (${run.command})`
  if (run.exitCode === null) return note(name, `${what} began ${when} and has not ended`)
  if (run.exitCode === EXIT.done) return ok(name, `${what} ended well ${when}`)
  const found = `${what} ended with exit ${run.exitCode} ${when}${run.error === null ? '' : `: ${run.error}`}`
  // A time limit is meant to end runs.
  const isStopped = SIGNALLED.has(run.exitCode) || run.errorCode === 'duration-reached'
  if (isStopped) return note(name, found, 'The next run goes on.')
  const todo = TODO_OF[run.exitCode] ?? 'See the runbook in docs/operations.md.'
  return wrong(name, found, run.rejected === 0 ? todo : `${todo} \`task-mirror rejected\` lists what was set aside.`)
}

export function verdictCheck({ lastFullWalk, freshAt }: History, now: number, settleMs: number): Check {
  const name = 'verdict'
  const age = ageOf(freshAt, now, settleMs)
  const fresh = age === null ? '' : `; the mirror is as of ${spoken(age)} ago`
  if (lastFullWalk === null) {
    return note(
      name,
      `no full walk has ended yet${fresh}`,
      'Let `task-mirror sync` run to its end, as often as it takes.',
    )
  }
  const { verdict, reason } = lastFullWalk
  if (verdict === 'complete') return ok(name, `the last full walk was complete${fresh}`)
  return wrong(
    name,
    `the last full walk could not prove that nothing is missing (partial${reason === null ? '' : `, ${reason}`})${fresh}`,
    'The next runs try again. If it stays, `task-mirror probe` shows how the service behaves.',
  )
}
