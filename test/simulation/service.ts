// The service of a scenario: answers from a simulated account that lives between any two answers, with the scenario's
// failures. Answers to requests in flight at once come in any order. Everything follows from the seed.
import { MirrorError } from '../../src/errors.ts'
import type { Answer, Decode, Decoded, Service, Traffic, Window } from '../../src/service/service.ts'
import { type Account, createAccount } from '../../src/simulator/account.ts'
import { type Random, seeded } from '../../src/simulator/random.ts'
import type { Ledger } from './ledger.ts'
import { detailLagOf, lagOf, type OddAnswer, type Oddity, OddList, ofKind } from './oddities.ts'
import { type ChangeKind, odditiesOf, type Scenario } from './scenario.ts'

/** No run over so few tasks needs more, and for each that the mirror holds: it may be looked up twice, beside witnesses. */
const MOST_REQUESTS = 5_000
const REQUESTS_PER_HELD = 3

/** Whoever reads a list that changes faster than that needs as long as it lasts: then it comes to rest. */
const MOST_RESTLESS = 1_000

const BLANK = { kind: 'window', texts: [] as string[] } as const

/** An account that grows faster than it is read would be another test. */
const MOST_TASKS = 120

/** Epoch ms; the machine's own clock is behind the service's by `skewMs`. */
export interface SimulatedClock {
  service: number
}

export class SimulatedService implements Service {
  /** False once the service stands still: no changes, no failures. */
  isAlive = true
  /** Number of the answer whose body is being decoded. */
  decoding = 0
  /** What stood at the places of windows that failed for no reason, the last ones of the run. */
  readonly broken: { skip: number; ids: string[] }[] = []
  /** Ids that were truly unknown when they were asked for since the run began. */
  readonly refusedIds = new Set<string>()
  readonly #account: Account
  readonly #scenario: Scenario
  readonly #clock: SimulatedClock
  readonly #ledger: Ledger
  readonly #random: Random
  readonly #oddities: readonly Oddity[]
  readonly #log: (line: string) => void
  readonly #odd: OddList | null
  /** Another account with the same ids, in the runs in which it answers. */
  #other: Account | null = null
  #runs = 0
  #lookUps = 0
  #begun = 0
  #requests = 0
  #most = MOST_REQUESTS
  #inFlight = 0
  #outageFrom = Number.POSITIVE_INFINITY

  constructor(
    account: Account,
    scenario: Scenario,
    clock: SimulatedClock,
    ledger: Ledger,
    random: Random,
    log: (line: string) => void,
  ) {
    this.#account = account
    this.#scenario = scenario
    this.#clock = clock
    this.#ledger = ledger
    this.#random = random
    this.#log = log
    const oddities = odditiesOf(scenario)
    this.#oddities = oddities
    ledger.lag = lagOf(oddities)
    ledger.textLag = Math.max(lagOf(oddities), detailLagOf(oddities))
    const chance = seeded(scenario.seed, 0x0dd1)
    this.#odd = oddities.length === 0 ? null : new OddList(oddities, account.options, ledger, chance, scenario.window)
    // When it changed, and not when somebody asked next: a replica is behind by answers of any kind.
    account.subscribe(() => this.#odd?.remember(account.ids()))
  }

  /** Another account answers in this run. */
  get isOther(): boolean {
    return this.#other !== null
  }

  /** Ids that could not be listed at some answer. */
  get concealed(): ReadonlySet<string> {
    return this.#odd?.concealed ?? new Set()
  }

  /**
   * `held`: live tasks of the mirror. One that shares none of them with another account cannot know that, unless it is large. `canFail`: with --allow-mass-delete on an empty list nobody is asked whether the answers can be trusted.
   */
  beginRun(canFail: boolean, held: string[]): void {
    this.#requests = 0
    this.#most = MOST_REQUESTS + REQUESTS_PER_HELD * held.length
    this.#begun += 1
    const other = this.#begun === this.#scenario.takeover ? otherAccount(this.#scenario, this.#clock) : null
    this.#other = held.some((id) => other?.get(id) != null) ? other : null
    this.refusedIds.clear()
    this.broken.length = 0
    const { outages } = this.#scenario
    this.#outageFrom =
      outages && canFail && this.isAlive && this.#random.chance(0.5) ? this.#random.int(60) : Number.POSITIVE_INFINITY
  }

  async list<T extends Decoded>({ skip, take }: Window, decode: Decode<T>): Promise<Answer<T>> {
    const { failures } = this.#scenario
    const startedAt = await this.#arrive()
    const answer = this.#ledger.answer
    const name = `#${answer} list ${skip}+${take}`
    const failed = this.#fail(name, failures.list, failures.refusedList)
    if (failed !== null) {
      this.broken.push({ skip, ids: this.#account.ids().slice(skip, skip + take) })
      if (this.broken.length > 20) this.broken.shift()
      return failed
    }
    // At rest every server and cache has had its time.
    const odd = !this.isAlive && this.#ledger.lag > 0 ? null : this.#odd
    const isBlank = this.#isBlank()
    if (isBlank) this.#ledger.blanks.push(answer)
    const listed = isBlank
      ? BLANK
      : odd === null
        ? (this.#other ?? this.#account).list(skip, take)
        : odd.list(this.#account.ids(), skip, take)
    const shown = listed.kind === 'refusal' ? [] : listed.texts.map((text) => (JSON.parse(text) as { id: string }).id)
    this.#ledger.listings.set(answer, {
      ...{ skip, asked: take, count: shown.length, lastId: shown.at(-1) ?? null },
      listed: (listed as OddAnswer).sequence ?? this.#sequence(),
      isTrue: listed.kind === 'window' && !isBlank,
    })
    if (listed.kind === 'refusal') {
      const { status, message } = listed
      this.#log(`${name} -> ${status}`)
      if (status >= 500) return { kind: 'failed', reason: 'status', httpStatus: status, message }
      return { kind: 'refused', httpStatus: status, statusCode: status, message }
    }
    this.#log(`${name} -> ${listed.texts.length}: ${listed.texts.map((text) => text.slice(7, 13)).join(' ')}`)
    const body = `{"statusCode":200,"message":"OK","body":{"items":[${listed.texts.join(',')}]}}`
    const said = await this.#ok(body, answer, startedAt, decode)
    const { madeAt } = listed as OddAnswer
    if (madeAt === undefined || said.kind !== 'ok') return said
    const ageMs = Math.max(1, this.#clock.service - (this.#ledger.times[madeAt] ?? 0))
    return { ...said, startedAt: said.startedAt - ageMs, ageMs }
  }

  /** Ids in list order, hidden ones included. */
  #sequence(): string[] {
    return Array.from({ length: this.#account.listed }, (_, index) => this.#account.idAt(index))
  }

  async get<T extends Decoded>(id: string, decode: Decode<T>): Promise<Answer<T>> {
    const { failures, notFound } = this.#scenario
    const startedAt = await this.#arrive()
    const answer = this.#ledger.answer
    const name = `#${answer} get ${id.slice(0, 6)}`
    const failed = this.#fail(name, failures.get, 0)
    if (failed !== null) return failed
    this.#lookUps += 1
    const { outageLength = Number.POSITIVE_INFINITY, isHalfBlind = false } = this.#scenario
    const isDown = this.#requests >= this.#outageFrom && this.#requests < this.#outageFrom + outageLength
    const isOut = isDown || (isHalfBlind && this.isAlive && this.#lookUps % 2 === 0)
    const account = this.#other ?? this.#account
    const text = isOut ? null : this.isAlive ? account.detail(id) : account.get(id)
    if (text !== null) {
      this.#log(`${name} -> found`)
      const shown = this.#shownDetail(id, text)
      return this.#ok(`{"statusCode":200,"message":"OK","body":{"item":${shown}}}`, answer, startedAt, decode)
    }
    this.#log(`${name} -> not found${isOut ? ' (outage)' : ''}`)
    // Neither listed nor found, and no other task is there to show that look-ups fail: nobody can tell that from a deletion.
    const isUntold = isHalfBlind && this.#account.ids().length === 0
    if (!isOut || isUntold || this.#account.get(id) === null) this.refusedIds.add(id)
    if (notFound === 'item-null' || notFound === 'item-absent') {
      const body = notFound === 'item-null' ? '{"item":null}' : '{}'
      return this.#ok(`{"statusCode":200,"message":"OK","body":${body}}`, answer, startedAt, decode)
    }
    const httpStatus = notFound === 'envelope-404' ? 200 : Number(notFound)
    return { kind: 'refused', httpStatus, statusCode: httpStatus === 200 ? 404 : httpStatus, message: 'Not found' }
  }

  /** The detail of a task that is there, as an odd service may answer. */
  #shownDetail(id: string, text: string): string {
    const lag = detailLagOf(this.#oddities)
    if (lag > 0 && this.isAlive && this.#ledger.lives.has(id))
      return this.#ledger.textAt(id, this.#ledger.answer - this.#random.int(lag))
    if (!this.#has('other-detail') || !this.isAlive || !this.#random.chance(0.2)) return text
    return this.#account.get(this.#random.pick(this.#account.ids())) ?? text
  }

  #has(kind: Oddity['kind']): boolean {
    return ofKind(this.#oddities, kind) !== undefined
  }

  trouble(): null {
    return null
  }

  traffic(): Traffic {
    return { requests: this.#requests, retries: 0, bytes: 0, waitedMs: 0, inFlight: this.#inFlight }
  }

  async close(): Promise<void> {}

  /** Between two answers: time passes, tasks come and go. */
  live(count: number): void {
    this.#runs += 1
    if (this.#has('replaced') && this.#runs === 2) {
      const all = this.#account.ids()
      this.#account.remove(all)
      this.#account.insert(all.length)
    }
    for (let index = 0; index < count; index += 1) this.#change()
  }

  async #arrive(): Promise<number> {
    const startedAt = this.#clock.service - this.#scenario.skewMs
    this.#requests += 1
    if (this.#requests > this.#most) throw new Error(`more than ${this.#most} requests in one run`)
    this.#inFlight += 1
    await this.#turns()
    this.#inFlight -= 1
    this.#ledger.answer += 1
    this.#clock.service += this.#random.int(this.#scenario.latencyMs + 1)
    this.#ledger.times[this.#ledger.answer] = this.#clock.service
    const changes = this.isAlive && this.#requests < MOST_RESTLESS ? this.#scenario.changes : 0
    while (this.#random.chance(changes / 2)) this.#change()
    return startedAt
  }

  /** With requests in flight at once, answers are made and come in any order. */
  async #turns(): Promise<void> {
    if (this.#scenario.concurrency === 1) return
    for (let turns = this.#random.int(25); turns > 0; turns -= 1) await null
  }

  /** Whether the answer holds nothing, whatever there is. */
  #isBlank(): boolean {
    const { blankShare } = this.#scenario
    return blankShare !== undefined && this.isAlive && this.#random.chance(blankShare)
  }

  #fail(name: string, failing: number, refusing: number): Answer<never> | null {
    if (!this.isAlive) return null
    if (this.#random.chance(this.#scenario.failures.unreachable)) {
      this.#log(`${name} -> unreachable`)
      throw new MirrorError('service-unreachable', 'Nobody answers')
    }
    if (this.#random.chance(failing)) {
      const reason = this.#random.pick(['status', 'timeout', 'reset', 'truncated', 'not-json', 'too-large'] as const)
      this.#log(`${name} -> failed (${reason})`)
      return { kind: 'failed', reason, httpStatus: reason === 'status' ? 503 : null, message: 'It keeps failing' }
    }
    if (!this.#random.chance(refusing)) return null
    this.#log(`${name} -> refused`)
    return { kind: 'refused', httpStatus: 400, statusCode: 400, message: 'No reason' }
  }

  async #ok<T extends Decoded>(body: string, answer: number, startedAt: number, decode: Decode<T>): Promise<Answer<T>> {
    const { dateHeader } = this.#scenario
    const off = this.#has('date-jumps') ? this.#random.int(7_200_000) - 3_600_000 : 0
    const serviceDate = dateHeader ? Math.floor((this.#clock.service + off) / 1000) * 1000 : null
    await this.#turns()
    const raw = new TextEncoder().encode(body)
    this.decoding = answer
    const value = await decode(raw)
    if (value.statusCode !== 200) throw new Error('The envelope is always 200 here')
    return { kind: 'ok', value, startedAt, serviceDate, bytes: raw.length }
  }

  #change(): void {
    const account = this.#account
    const kind = this.#random.pick(this.#scenario.changeKinds)
    const ids = this.#changeOne(kind)
    if (ids.length > 0) {
      this.#log(`  ${kind} ${ids.map((id) => `${id.slice(0, 6)}@${createdAtOf(account, id)}`).join(' ')}`)
    }
  }

  #changeOne(kind: ChangeKind): string[] {
    const account = this.#account
    const random = this.#random
    const where = random.pick(['any', 'front', 'middle', 'behind'] as const)
    const few = random.chance(0.75) ? 1 : 1 + random.int(2 * this.#scenario.window)
    switch (kind) {
      case 'insert':
        if (account.listed > MOST_TASKS) return account.remove(few, { where })
        return account.insert(few, { where: this.#place(), openShare: random.pick([0, 0.3, 1]) })
      case 'remove':
        return account.remove(few, { where })
      case 'delist':
        return account.delist(1, { where })
      case 'restore': {
        const gone = [...this.#ledger.lives].filter(([, { listed }]) => listed.at(-1)?.to !== Number.POSITIVE_INFINITY)
        return gone.length === 0 ? [] : account.restore([random.pick(gone)[0]])
      }
      case 'finish':
        return account.finish(few)
      case 'update':
        return account.update(few)
      case 'move':
        return account.move(few)
    }
  }

  #place(): 'now' | 'front' | 'middle' | 'behind' | 'future' | number {
    const { places, lateMs } = this.#scenario
    const place = this.#random.pick(places)
    const now = this.#clock.service
    if (place === 'late') return now - this.#random.int(lateMs)
    if (place === 'past') return now - this.#random.int(3 * 86_400_000)
    if (place === 'tie') {
      const ids = this.#account.ids()
      return ids.length === 0 ? now : (createdAtOf(this.#account, this.#random.pick(ids)) ?? now)
    }
    return place
  }
}

/** It has the ids of all tasks that the account of the scenario ever has, and some more. */
function otherAccount({ seed, account }: Scenario, clock: SimulatedClock): Account {
  const tasks = account.tasks + 200
  return createAccount({ ...account, seed: seed + 1, idSeed: seed, tasks, taskBytes: 650, now: () => clock.service })
}

function createdAtOf(account: Account, id: string): number | null {
  const text = account.get(id)
  return text === null ? null : (JSON.parse(text) as { createdAt: number }).createdAt
}
