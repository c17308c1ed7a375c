// Plays one scenario: run after run of the real program on a real SQLite file against the simulated service, with kills,
// and checks the mirror after each of them.
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { configSchema } from '../../src/config/schema.ts'
import { isMirrorError } from '../../src/errors.ts'
import { takeLock } from '../../src/mirror/lock.ts'
import { openWriter } from '../../src/mirror/open.ts'
import { createAccount } from '../../src/simulator/account.ts'
import { idOf } from '../../src/simulator/content.ts'
import { seeded } from '../../src/simulator/random.ts'
import type { RunResult } from '../../src/sync/conclude.ts'
import { runSync } from '../../src/sync/run.ts'
import type { WalkEnded } from '../../src/sync/writer/run-intake.ts'
import { beginSession, type SessionOptions } from '../../src/sync/writer/session.ts'
import type { Verdict } from '../../src/task.ts'
import { Ledger } from './ledger.ts'
import { FINAL_STATUSES, layFuse, type MortalWriter, mortalWriter, removeFuse } from './mortal-writer.ts'
import { claimed, differences, type MirrorState, readMirror, type Span, violations } from './oracle.ts'
import { isProvable, type RunPlan, type Scenario, START } from './scenario.ts'
import { type SimulatedClock, SimulatedService } from './service.ts'

const MINUTE = 60_000
const BASE_URL = 'http://127.0.0.1:1'
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
const NO_PROGRESS = { set() {}, print() {}, finish() {} }

export interface Outcome {
  violations: string[]
  log: string[]
  /** Verdicts of the runs that reached one, in order; the last run at rest not counted. */
  verdicts: Verdict[]
  runs: number
  killed: number
  requests: number
}

/** A folder in memory where there is one, with an empty mirror; every scenario of this process uses the same file. */
export class Stage implements Disposable {
  readonly #dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'task-mirror-simulation-'))
  readonly path = join(this.#dir, 'mirror.sqlite')

  constructor() {
    openWriter(join(this.#dir, 'empty.sqlite'), { busyTimeoutMs: 0, fileMode: 0o600 }).close()
  }

  /** An empty mirror at `path`. */
  clear(): void {
    for (const end of ['-wal', '-shm']) rmSync(this.path + end, { force: true })
    copyFileSync(join(this.#dir, 'empty.sqlite'), this.path)
  }

  [Symbol.dispose](): void {
    rmSync(this.#dir, { recursive: true, force: true })
  }
}

export async function simulate(scenario: Scenario, stage: Stage): Promise<Outcome> {
  stage.clear()
  // A turn of the event loop: closed connections are let go of, and a signal is heard.
  await setImmediate()
  return new Play(scenario, stage.path).play()
}

class Play {
  readonly #scenario: Scenario
  readonly #path: string
  readonly #clock: SimulatedClock
  readonly #ledger: Ledger
  readonly #service: SimulatedService
  readonly #account
  readonly #poisoned: Set<string>
  readonly #spans = new Map<number, Span>()
  readonly #runRandom
  readonly #outcome: Outcome = { violations: [], log: [], verdicts: [], runs: 0, killed: 0, requests: 0 }
  #state: MirrorState
  #lastFullFrom = -1

  constructor(scenario: Scenario, path: string) {
    this.#scenario = scenario
    this.#path = path
    const { seed } = scenario
    const clock = { service: START }
    this.#clock = clock
    const random = seeded(seed, 0x90150)
    const { tasks } = scenario.account
    const poison = Array.from({ length: tasks === 0 ? 0 : scenario.poisoned }, () => idOf(seed, random.int(tasks)))
    this.#poisoned = new Set(poison)
    this.#account = createAccount({ ...scenario.account, seed, taskBytes: 650, poison, now: () => clock.service })
    this.#ledger = new Ledger(this.#account)
    this.#service = new SimulatedService(
      this.#account,
      scenario,
      this.#clock,
      this.#ledger,
      seeded(seed, 0x5e2f1ce),
      (line) => this.#outcome.log.push(line),
    )
    this.#runRandom = seeded(seed, 0x2a4d)
    this.#state = readMirror(path)
  }

  async play(): Promise<Outcome> {
    const { runs } = this.#scenario
    this.#say(`at the start: ${this.#listed()}`)
    for (const run of runs) {
      await this.#run(run)
      if (this.#outcome.violations.length > 0) return this.#outcome
    }
    await this.#rest()
    return this.#outcome
  }

  /** The service stands still. */
  async #rest(): Promise<void> {
    this.#service.isAlive = false
    const plan = { jumpMs: 10 * MINUTE, changes: 0, kill: null }
    const request = { command: 'sync', full: true, allowMassDelete: true } as const
    const earlier = new Set(this.#state.ended.map(({ id }) => id))
    const result = await this.#run({ ...plan, request })
    if (result === null || this.#outcome.violations.length > 0) return
    const full = this.#state.ended.findLast(({ kind, id }) => kind === 'full' && !earlier.has(id))
    const moments = this.#account.ids().map((id) => this.#ledger.lives.get(id)?.createdAt as number)
    const provable = isProvable(this.#scenario, moments)
    if (full?.verdict !== 'complete' && !provable) return
    if (full?.verdict !== 'complete') this.#blame(`not complete at rest: ${result.notes.join(' ')} ${result.error}`)
    const texts = new Map(this.#account.ids().map((id) => [id, this.#account.get(id) as string]))
    for (const sentence of differences(this.#scenario, this.#ledger, texts, this.#state, this.#poisoned))
      this.#blame(sentence)
    const tombstones = [...this.#state.rows.values()].filter(({ isTombstone }) => isTombstone).length
    for (const { id, isTombstone } of this.#state.rows.values()) {
      const text = this.#account.get(id)
      if (!isTombstone && text === null) this.#blame(`not equal: ${id.slice(0, 6)} is gone, and no tombstone`)
      if (isTombstone && text !== null && tombstones <= 100)
        this.#blame(`not equal: ${id.slice(0, 6)} answers by id, and is a tombstone`)
    }
  }

  async #run(plan: RunPlan): Promise<RunResult | null> {
    const outcome = this.#outcome
    outcome.runs += 1
    this.#clock.service += plan.jumpMs
    this.#ledger.answer += 1
    const held = [...this.#state.rows.values()].filter(({ isTombstone }) => !isTombstone).map(({ id }) => id)
    this.#service.beginRun(plan.request.allowMassDelete !== true, held)
    this.#say(`run ${outcome.runs} ${JSON.stringify(plan)} at ${this.#clock.service}`)
    if (this.#service.isAlive) this.#service.live(plan.changes)
    this.#say(`listed: ${this.#listed()}`)
    const result = await this.#carryOut(plan)
    outcome.requests += this.#service.traffic().requests
    const before = this.#state
    this.#state = readMirror(this.#path)
    const { refusedIds, concealed } = this.#service
    for (const id of concealed) this.#poisoned.add(id)
    const observed = { path: this.#path, before, after: this.#state, spans: this.#spans, refusedIds }
    for (const sentence of violations(this.#scenario, this.#ledger, {
      ...observed,
      poisoned: this.#poisoned,
      isDone: result?.exitCode === 0 && plan.request.details !== 'never',
      lastFullFrom: this.#lastFullFrom,
    })) {
      this.#blame(sentence)
    }
    const { ended } = this.#state
    for (const walk of ended) {
      if (walk.kind === 'full' && walk.verdict === 'complete')
        this.#lastFullFrom = claimed(walk, ended, this.#spans)?.first ?? this.#lastFullFrom
    }
    if (result !== null) this.#judgeResult(result)
    if (this.#service.isOther) this.#judgeTakeover(before, result)
    return result
  }

  /** Another account answered: nothing of it may be written. */
  #judgeTakeover(before: MirrorState, result: RunResult | null): void {
    const isSame = JSON.stringify([...before.rows]) === JSON.stringify([...this.#state.rows])
    if (!isSame) this.#blame('another account was written into the mirror')
    if (result !== null && result.exitCode !== 7) this.#blame(`exit ${result.exitCode} for another account`)
  }

  #judgeResult({ summary, exitCode, error, notes }: RunResult): void {
    const { verdict, plan, order, inserted, updated, deleted, restored } = summary
    const counts = JSON.stringify({ order, inserted, updated, deleted, restored, exitCode })
    this.#say(`run ends: ${plan.join(' ')} ${verdict} ${counts} ${notes.join(' ')} ${error ?? ''}`)
    if (verdict !== null && this.#service.isAlive) this.#outcome.verdicts.push(verdict)
    if (verdict === 'partial' && exitCode === 0) this.#blame('exit 0 although the verdict is partial')
    if (error !== null && !isMirrorError(error)) this.#blame(`a bug: ${(error as Error).stack}`)
    if (error !== null && exitCode === 0) this.#blame('exit 0 in spite of an error')
  }

  /** Null where the run was killed. */
  async #carryOut(plan: RunPlan): Promise<RunResult | null> {
    const { window, overlap, concurrency, settleMs, skewMs } = this.#scenario
    const { details, ...request } = plan.request
    const now = () => this.#clock.service - skewMs
    const config = configSchema.parse({
      service: { baseUrl: BASE_URL, concurrency },
      sync: { window, overlap, settleMs, details, massDeleteMinimum: 5, deletionPauseMs: 0 },
      mirror: { path: this.#path },
    })
    const isWithin = plan.kill?.how === 'within'
    let mortal: MortalWriter | null = null
    try {
      const session = this.#open(plan.kill, {
        path: this.#path,
        command: plan.request.command,
        now: now(),
        toolVersion: '0',
        busyTimeoutMs: 0,
        fileMode: 0o600,
        rejectedMaxBytes: 1_000_000,
        finalStatuses: [...FINAL_STATUSES],
        settleMs,
        openEveryMs: 86_400_000,
        asksDetails: details !== 'never',
        acceptOthers: plan.request.rebind === true,
        dryRun: false,
        gathering: { pieces: 1 + (this.#scenario.seed % 4), ms: Number.POSITIVE_INFINITY },
      })
      mortal = mortalWriter(session, plan.kill, (...call) => this.#witness(...call))
      const context = {
        config,
        apiKey: null,
        log: SILENT,
        progress: NO_PROGRESS,
        signal: new AbortController().signal,
        now,
        random: () => this.#runRandom.next(),
      }
      return await runSync(context, request, { service: this.#service, writer: mortal.writer })
    } catch (error) {
      const diedOpening = isWithin && mortal === null && String(error).includes('killed within')
      if (mortal?.isDead() !== true && !diedOpening) this.#blame(`a bug: ${(error as Error).stack}`)
      this.#outcome.killed += 1
      this.#say('killed')
      return null
    } finally {
      // What was read ahead may still be on its way; nothing of it can reach the mirror.
      for (let turns = 0; turns < 200; turns += 1) await null
      if (isWithin) removeFuse(this.#path)
    }
  }

  /** Opens the mirror as `openSession` does; the fuse is laid once the schema has been looked at. */
  #open(kill: RunPlan['kill'], options: SessionOptions) {
    const lock = takeLock(options.path, options.command, options.now)
    const db = openWriter(options.path, options)
    try {
      if (kill?.how === 'within') layFuse(this.#path, kill.at)
      return beginSession(db, options, lock)
    } catch (error) {
      db.close()
      lock.release()
      throw error
    }
  }

  /** Which answer of the service it was, by its bytes, and by the handle of what was made of them. */
  readonly #decoded = new WeakMap<Uint8Array, number>()
  readonly #answers = new Map<number, number>()

  #witness(name: string, args: unknown[], result: unknown): void {
    if (name === 'decode') this.#decoded.set(args[0] as Uint8Array, this.#service.decoding)
    else if (name === 'parseList') {
      const answer = this.#decoded.get(args[0] as Uint8Array) as number
      this.#answers.set((result as { handle: number }).handle, answer)
    } else if (name === 'view') {
      const [handle, walkId] = args as [number, number]
      const answer = this.#answers.get(handle) as number
      const span = this.#spans.get(walkId)
      if (span === undefined) this.#spans.set(walkId, { first: answer, last: answer, viewed: [answer] })
      else {
        span.first = Math.min(span.first, answer)
        span.last = Math.max(span.last, answer)
        span.viewed.push(answer)
      }
    } else if (name === 'takeIn') {
      const step = args[0] as { skip: number; walkId: number | null; handle: number }
      const { newlyMet } = result as { newlyMet: number }
      this.#say(
        `    takes in ${step.skip} (#${this.#answers.get(step.handle)}, walk ${step.walkId}): ${newlyMet} newly met`,
      )
    } else if (name === 'setAsideItem') {
      const { skip, reason } = args[0] as { skip: number; reason: string }
      this.#say(`    sets aside ${skip} (${reason})`)
      for (const { skip: from, ids } of this.#service.broken) {
        const id = ids[skip - from]
        // Set aside is met: where it stood when it could not be read, it is excused.
        if (id !== undefined) this.#poisoned.add(id)
      }
    } else if (name === 'beginWalk') this.#say(`    begins ${args[0]} walk ${result}`)
    else if (name === 'endWalk') {
      const { walkId, verdict, reason, ordering, facts } = args[0] as WalkEnded
      this.#say(
        `    ends walk ${walkId}: ${verdict} ${reason ?? ''} ${ordering} ${JSON.stringify(facts)}, ${result} candidates`,
      )
    } else if (name === 'takeDetails') {
      for (const { taskId, outcome } of result as { taskId: string; outcome: string }[])
        this.#say(`    detail of ${taskId.slice(0, 6)}: ${outcome}`)
    }
  }

  #listed(): string {
    return this.#account
      .ids()
      .map((id) => `${id.slice(0, 6)}@${this.#ledger.lives.get(id)?.createdAt}`)
      .join(' ')
  }

  #say(line: string): void {
    this.#outcome.log.push(line)
  }

  #blame(sentence: string): void {
    this.#outcome.violations.push(sentence)
    this.#say(`VIOLATION ${sentence}`)
  }
}
