// What must hold after every run, whatever happened: compares the mirror with what the service really had.
import Database from 'better-sqlite3'
import type { Db } from '../../src/mirror/connect.ts'
import { judgeWalks } from '../../src/mirror/maintenance/proof.ts'
import { taskText } from '../../src/mirror/shape.ts'
import { evidenceOf } from '../../src/mirror/tables/evidence.ts'
import type { Facts } from '../../src/mirror/tables/facts.ts'
import type { WalkKind } from '../../src/mirror/tables/walks.ts'
import { linesOf } from '../../src/proof/evidence.ts'
import type { Line } from '../../src/proof/judge.ts'
import { TASK_COLUMNS } from '../../src/task/columns.ts'
import type { TaskRow, Verdict } from '../../src/task.ts'
import { canonical } from '../support/json-canon.ts'
import { brokenFor, restsOf } from './assumptions.ts'
import type { Ledger } from './ledger.ts'
import { detailLagOf, hidesNews, ofKind, placesByWindow } from './oddities.ts'
import { odditiesOf, type Scenario } from './scenario.ts'

/** The answers a walk consists of, over all runs it took. */
export interface Span {
  first: number
  last: number
  /** Numbers of those that the walk was given, in that order. */
  viewed: number[]
}

export interface Row {
  id: string
  text: string
  isTombstone: boolean
}

export interface EndedWalk {
  id: number
  kind: WalkKind
  verdict: Verdict
  reason: string | null
  since: number | null
  until: number | null
  ordering: string | null
  startedAt: number
}

export interface MirrorState {
  rows: Map<string, Row>
  /** Ids of tasks that are still to be asked for: for their details, or because no walk met them. */
  owed: Set<string>
  facts: Facts
  ended: EndedWalk[]
  /** One sentence for each complete walk that the mirror does not prove. */
  unproven: string[]
  isInterrupted: boolean
}

export function readMirror(path: string): MirrorState {
  const db = new Database(path, { readonly: true })
  try {
    const rows = db
      .prepare(`SELECT ${TASK_COLUMNS.join(', ')}, deleted_at FROM tasks`)
      .safeIntegers()
      .all() as (TaskRow & {
      deleted_at: bigint | null
    })[]
    const facts = db.prepare('SELECT key, value FROM service_facts').all() as { key: string; value: string }[]
    return {
      rows: new Map(
        rows.map((row) => [row.id, { id: row.id, text: taskText(row), isTombstone: row.deleted_at !== null }]),
      ),
      owed: new Set(
        db.prepare("SELECT task_id FROM open_checks WHERE reason IN ('detail', 'candidate')").pluck().all() as string[],
      ),
      facts: Object.fromEntries(facts.map(({ key, value }) => [key, JSON.parse(value)])),
      ended: db
        .prepare(
          `SELECT id, kind, verdict, reason, range_since AS since, range_until AS until, ordering, started_at AS startedAt
           FROM walks
           WHERE finished_at IS NOT NULL ORDER BY id`,
        )
        .all() as EndedWalk[],
      unproven: unprovenWalks(db),
      isInterrupted:
        db
          .prepare(
            `SELECT 1 FROM walks WHERE kind = 'full' AND finished_at IS NULL AND windows > 0
             AND id > coalesce((SELECT max(id) FROM walks WHERE kind = 'full' AND finished_at IS NOT NULL), 0)`,
          )
          .get() !== undefined,
    }
  } finally {
    db.close()
  }
}

/** What the mirror at `path` holds as the proof of a walk. */
function evidenceIn(path: string, walkId: number): Line[] {
  const db = new Database(path, { readonly: true })
  try {
    return [...evidenceOf(db, walkId)].flatMap(({ lines }) => linesOf(lines))
  } finally {
    db.close()
  }
}

/** Complete walks of which the mirror holds no proof, among those that it has to: the last full one and those since. */
function unprovenWalks(db: Db): string[] {
  const { walks, faults } = judgeWalks(db)
  const proven = new Set(walks.map(({ walkId }) => walkId))
  const due = db
    .prepare(
      `SELECT id FROM walks WHERE verdict = 'complete'
       AND id >= (SELECT max(id) FROM walks WHERE kind = 'full' AND verdict = 'complete')`,
    )
    .pluck()
    .all() as number[]
  const reasons = new Map(faults.map(({ walkId, message }) => [walkId, message]))
  return due
    .filter((id) => !proven.has(id))
    .map((id) => `unproven: walk ${id}: ${reasons.get(id) ?? 'there is no evidence'}`)
}

export interface Observed {
  path: string
  before: MirrorState
  after: MirrorState
  spans: ReadonlyMap<number, Span>
  /** Ids that the service was asked for during the run and truly did not know. */
  refusedIds: ReadonlySet<string>
  /** Ids of tasks that break every window they are in. */
  poisoned: ReadonlySet<string>
  /** Whether the run ended with 0. */
  isDone: boolean
  /** First answer of the last full walk that ended `complete` before this run; -1 where there was none. */
  lastFullFrom: number
}

/** One sentence for everything that is not as promised. */
export function violations(scenario: Scenario, ledger: Ledger, observed: Observed): string[] {
  const { before, after } = observed
  const known = new Set(before.ended.map(({ id }) => id))
  // What a summary shows is no whole task; the run that leaves it at that must say so.
  const areWhole = !isSummary(scenario)
  const altered = areWhole || observed.isDone ? alteredRows(ledger, observed, areWhole) : []
  const found = [...altered, ...falseTombstones(observed), ...after.unproven]
  let lastFullFrom = observed.lastFullFrom
  const missed = new Set<string>()
  // In the order in which they ended: a full walk that was gone on with may have a lower number than one before its end.
  const endOf = ({ id }: EndedWalk): number => observed.spans.get(id)?.last ?? 0
  for (const walk of after.ended.toSorted((a, b) => endOf(a) - endOf(b))) {
    if (known.has(walk.id) || walk.verdict !== 'complete') continue
    const span = claimed(walk, after.ended, observed.spans)
    if (span === undefined) continue
    found.push(...missedByWalk(scenario, ledger, observed, walk, span, lastFullFrom, missed))
    if (walk.kind === 'full') lastFullFrom = span.first
  }
  found.push(...behindFrontier(scenario, ledger, observed, lastFullFrom, missed))
  return found
}

/** The answers that a complete walk speaks of: those of the full walks before it, too, that its verdict rests on (src/sync/steps/full.ts). */
export function claimed(
  { id, kind, startedAt }: EndedWalk,
  ended: readonly EndedWalk[],
  spans: ReadonlyMap<number, Span>,
): Span | undefined {
  const span = spans.get(id)
  const firsts = ended
    .filter((walk) => walk.kind === kind && walk.startedAt === startedAt && walk.id < id)
    .flatMap((walk) => spans.get(walk.id)?.first ?? [])
  return span === undefined ? undefined : { ...span, first: Math.min(span.first, ...firsts) }
}

/** Promise 2: every row is a state that the service really had. */
function* alteredRows(ledger: Ledger, { before, after, refusedIds }: Observed, areWhole: boolean): Generator<string> {
  for (const { id, text, isTombstone } of after.rows.values()) {
    if (areWhole && before.rows.get(id)?.text === text) continue
    // Deleted before its detail could be asked for.
    if (!areWhole && (refusedIds.has(id) || isTombstone)) continue
    // What the list showed of a task that is still to be asked for is no whole task yet.
    if (after.owed.has(id)) continue
    const had = ledger.textsOf(id)
    if (had.includes(text)) continue
    const mine = canonical(text)
    if (had.some((other) => canonical(other) === mine)) continue
    // Only a comparison with the task itself shows that the list cuts it, and that can no longer be asked for.
    const excuse = !areWhole && ledger.isGone(id) ? `${BROKEN} "the list shows whole tasks": ` : ''
    yield `${excuse}altered: ${id.slice(0, 6)} never was ${text}`
  }
}

/** Whether the list shows less of a task than its detail, beyond a part that is missing as a whole. */
function isSummary({ account: { listOmits = [], listBodyBytes = 0, resultAfterReads = 0 } }: Scenario): boolean {
  return listOmits.length > 0 || listBodyBytes > 0 || resultAfterReads > 0
}

/** Promise 6: no tombstone without the service's word that the id is unknown. */
function* falseTombstones({ before, after, refusedIds }: Observed): Generator<string> {
  for (const { id, isTombstone } of after.rows.values()) {
    if (!isTombstone || before.rows.get(id)?.isTombstone === true || refusedIds.has(id)) continue
    yield `false tombstone: ${id.slice(0, 6)} was never refused by id`
  }
}

/** Promise 1: what was listed throughout a complete walk and lies in its range is in the mirror, as it was then. */
function* missedByWalk(
  scenario: Scenario,
  ledger: Ledger,
  observed: Observed,
  walk: EndedWalk,
  span: Span,
  lastFullFrom: number,
  missed: Set<string>,
): Generator<string> {
  const { before, after, poisoned } = observed
  if (hidesNews(odditiesOf(scenario)) && walk.kind !== 'full') return
  // An old detail stays until the task is asked for again (docs/reliability.md).
  const showsNewest = scenario.account.listCarries === 'whole' && !isSummary(scenario) && !mayLookUpsLag(scenario)
  const name = `${walk.kind} walk ${walk.id} (answers ${span.first} to ${span.last}, ${walk.ordering})`
  for (const [id, life] of ledger.listedThroughout(span.first, span.last)) {
    if (poisoned.has(id)) continue
    const isFull = walk.kind === 'full'
    // What comes later than `settleMs` after its createdAt stands where only a full walk looks, unless a range is asked
    // for and the list itself keeps it in its place.
    const isSorted = scenario.account.order === 'created_desc' || scenario.account.order === 'created_asc'
    if (!isFull && !(walk.kind === 'range' && isSorted) && ledger.isLate(life, scenario.settleMs, lastFullFrom))
      continue
    if (walk.since !== null && life.createdAt < walk.since) continue
    if (walk.until !== null && life.createdAt >= walk.until) continue
    const row = after.rows.get(id)
    if (row === undefined) {
      missed.add(id)
      yield `${excuseFor(scenario, ledger, walk, span, after) ?? brokenIn(scenario, observed, ledger, walk, { id, createdAt: life.createdAt })}missed: ${id.slice(0, 6)}@${life.createdAt} was listed throughout the complete ${name}`
    } else if (row.isTombstone && before.rows.get(id)?.isTombstone === true && isFull)
      yield `not restored: ${id.slice(0, 6)} was listed throughout the complete ${name}`
    // One that contradicts the list is asked for again.
    else if (isFull && showsNewest && !row.isTombstone && !after.owed.has(id)) {
      const had = ledger.textsSince(id, span.first)
      if (!had.includes(row.text) && !had.some((other) => canonical(other) === canonical(row.text)))
        yield `stale: ${id.slice(0, 6)} is older than the complete ${name}`
    }
  }
}

/** What begins so is false because the world broke an assumption of docs/proof.md or docs/limits.md, which no reader can tell. */
export const BROKEN = 'broken assumption'

/** More tasks in a row are hidden than an answer spans: the list seems to end before them. */
function hiddenExcuse({ account, window }: Scenario, ledger: Ledger): string {
  return account.hiddenFraction > 0 && ledger.mostHidden >= window ? `${BROKEN} "nothing-hidden-behind": ` : ''
}

function excuseFor(
  scenario: Scenario,
  ledger: Ledger,
  walk: EndedWalk,
  span: Span,
  mirror: MirrorState,
): string | null {
  const { first, last } = span
  if (placesByWindow(odditiesOf(scenario)) && !isCounted(ledger, walk, span, mirror)) return `${BROKEN} "order": `
  const flip = ofKind(odditiesOf(scenario), 'flip')
  const hasFlipped = flip !== undefined && flip.at > first && flip.at <= last
  if (hasFlipped) return `${BROKEN} "order": `
  // One alone deceives nobody.
  const blanks = ledger.blanks.filter((answer) => answer >= first && answer <= last).length
  if (blanks > 1) return `${BROKEN} "mistakes": `
  return null
}

/**
 * Whether the number of tasks tells that some were passed over, where their places depend on the window: not if as many came or went
 * meanwhile, and in an order not if answers were uneven.
 */
function isCounted(ledger: Ledger, { ordering }: EndedWalk, { first, last }: Span, { rows }: MirrorState): boolean {
  const isWithin = (answer: number) => answer >= first && answer <= last
  const missed = [...ledger.listedThroughout(first, last)].filter(([id]) => !rows.has(id))
  const changed = [...ledger.lives.values()].filter(({ listed }) =>
    listed.some(({ from, to }) => isWithin(from) || isWithin(to)),
  )
  const answers = [...ledger.listings].flatMap(([answer, it]) => (isWithin(answer) && it.isTrue ? it : []))
  const largest = Math.max(...answers.map(({ count }) => count))
  // By a number that varies, or as some items are left out.
  const wasCut = answers.some(
    ({ skip, asked, count, listed }) => count < Math.min(asked, largest) && skip + count < listed.length,
  )
  return missed.length > changed.length && (ordering === 'none' || !wasCut)
}

/** It moved during the walk, and all that the last look at the head showed stood there as in the first one. */
function standsAsBefore({ lives, listings }: Ledger, missedId: string, viewed: readonly number[]): boolean {
  const [first, last] = [viewed[0], viewed.at(-1)].map((answer) => listings.get(answer ?? -1))
  if (first?.skip !== 0 || last?.skip !== 0) return false
  const hasMoved =
    lives.get(missedId)?.moves.some((at) => at >= (viewed[0] ?? 0) && at <= (viewed.at(-1) ?? 0)) === true
  const shown = Math.min(first.count, last.count)
  return hasMoved && last.listed.slice(0, shown).every((id, index) => id === first.listed[index])
}

/** In some answer's list it stands between others, by createdAt, in neither order, and by more than is tolerated. */
function isOutOfPlace(
  { lives, listings }: Ledger,
  { id, createdAt }: { id: string; createdAt: number },
  viewed: readonly number[],
  settleMs: number,
): boolean {
  return viewed.some((answer) => {
    const listed = listings.get(answer)?.listed ?? []
    const at = listed.indexOf(id)
    const by = (ids: readonly string[]): number[] =>
      ids.map((other) => (lives.get(other)?.createdAt ?? createdAt) - createdAt)
    const [before, behind] = [by(listed.slice(0, at)), by(listed.slice(at + 1))]
    const isNewestFirst = before.every((apart) => apart >= -settleMs) && behind.every((apart) => apart <= settleMs)
    const isOldestFirst = before.every((apart) => apart <= settleMs) && behind.every((apart) => apart >= -settleMs)
    return at >= 0 && !isNewestFirst && !isOldestFirst
  })
}

/** What the proof of the walk rests on, and the world broke, so that the task was missed. */
function brokenIn(
  { account, settleMs }: Scenario,
  { path, spans, poisoned }: Observed,
  ledger: Ledger,
  walk: EndedWalk,
  missed: { id: string; createdAt: number },
): string {
  const viewed = spans.get(walk.id)?.viewed ?? []
  const rests = restsOf(evidenceIn(path, walk.id))
  const isBeside = (id: string): boolean => id !== missed.id && ledger.lives.get(id)?.createdAt === missed.createdAt
  if (account.shuffleTies) {
    // What cannot be read may have taken its place among those of its createdAt, wherever that was looked at.
    if ([...poisoned].some(isBeside) && rests.includes('unread-apart')) return `${BROKEN} "unread-apart": `
    const hasTies = viewed.some((answer) => ledger.listings.get(answer)?.listed.some(isBeside))
    if (hasTies && rests.includes('ties-keep-places')) return `${BROKEN} "ties-keep-places": `
  }
  if (isOutOfPlace(ledger, missed, viewed, settleMs) && rests.includes('created-order'))
    return `${BROKEN} "created-order": `
  if (standsAsBefore(ledger, missed.id, viewed)) return `${BROKEN} "order": `
  const broken = brokenFor(missed, evidenceIn(path, walk.id), viewed, ledger.listings)
  return broken === null ? '' : `${BROKEN} "${broken}": `
}

/** The frontier: what was created before it, and not listed late, is in the mirror. */
function* behindFrontier(
  scenario: Scenario,
  ledger: Ledger,
  { after, poisoned }: Observed,
  lastFullFrom: number,
  missed: ReadonlySet<string>,
): Generator<string> {
  const { frontier } = after.facts
  if (frontier === undefined || hidesNews(odditiesOf(scenario))) return
  for (const [id, life] of ledger.listedThroughout(ledger.answer, ledger.answer)) {
    // What a walk has missed is told already.
    if (life.createdAt >= frontier || after.rows.has(id) || poisoned.has(id) || missed.has(id)) continue
    if (!ledger.isLate(life, scenario.settleMs, lastFullFrom))
      yield `${hiddenExcuse(scenario, ledger)}behind the frontier: ${id.slice(0, 6)}@${life.createdAt} is not in the mirror, the frontier is ${frontier}`
  }
}

function mayLookUpsLag(scenario: Scenario): boolean {
  return (scenario.account.detailLag ?? 0) > 0 || detailLagOf(odditiesOf(scenario)) > 0
}

/** Once the service stands still, one full walk makes both equal, but for old details (docs/reliability.md). */
export function* differences(
  scenario: Scenario,
  ledger: Ledger,
  texts: ReadonlyMap<string, string>,
  mirror: MirrorState,
  poisoned: ReadonlySet<string>,
) {
  for (const [id, text] of texts) {
    if (poisoned.has(id)) continue
    const row = mirror.rows.get(id)
    if (row === undefined || row.isTombstone)
      yield `not equal: ${id.slice(0, 6)} is ${row === undefined ? 'missing' : 'a tombstone'} at rest`
    else if (!mayLookUpsLag(scenario) && row.text !== text && canonical(row.text) !== canonical(text))
      yield `not equal: ${id.slice(0, 6)} is stale at rest`
  }
  for (const { id, isTombstone } of mirror.rows.values()) {
    if (!isTombstone && !texts.has(id) && !ledger.lives.has(id)) yield `not equal: ${id} never was`
  }
}
