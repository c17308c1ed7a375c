// The evidence of a walk as text: what the kernel was told, each line as a short JSON array. `verify --proof` gives it
// to a judge again, by itself. Pure.
import type { Fact } from './facts.ts'
import { Judge, type Line, OtherRules, RULES_NUMBER, Unproven } from './judge.ts'
import type { Basis, WalkRange } from './state.ts'

/**
 * The order in which the values of a fact are written, those that are mostly empty last, each with the value that may
 * be left out at the end of a line. Whoever changes this raises `RULES_NUMBER`.
 */
const FACT: Record<keyof Fact, null | false | 0> = {
  skip: 0,
  asked: 0,
  sent: 0,
  received: 0,
  kind: null,
  count: 0,
  metPrefix: 0,
  anchor: null,
  lastId: null,
  first: null,
  last: null,
  trail: 0,
  tiesRise: false,
  tiesFall: false,
  tiedMet: 0,
  floorAt: null,
  firstId: null,
  anchorId: null,
  runStart: null,
  runEnd: null,
  runGoesOn: null,
  behindId: null,
  behind: null,
  hasMember: false,
  fresh: 0,
  oldest: null,
  newest: null,
}
/** The kinds of lines that hold nothing else. */
const BARE = ['owed', 'filtered', 'unordered', 'ended', 'resumed'] as const
const EMPTY = Object.entries(FACT) as [keyof Fact, null | false | 0][]

/** `lines` as the JSON text of an array. */
export function textOf(lines: readonly Line[]): string {
  return JSON.stringify(
    lines.map((line) => {
      if (line.op !== 'told') return Object.values(line)
      const values = EMPTY.map(([name]) => line.fact[name])
      return [
        line.handle,
        line.ahead,
        ...values.slice(0, 1 + EMPTY.findLastIndex(([, empty], at) => values[at] !== empty)),
      ]
    }),
  )
}

/** The inverse of `textOf`. Throws at a line of no known kind. Values are not checked: the digest tells of changes. */
export function linesOf(text: string): Line[] {
  return (JSON.parse(text) as unknown[][]).map(([op, ...values]): Line => {
    if (op === null || typeof op === 'number') {
      const [ahead, ...fact] = values
      const told = Object.fromEntries(EMPTY.map(([name, empty], at) => [name, at < fact.length ? fact[at] : empty]))
      return { op: 'told', handle: op, fact: told as unknown as Fact, ahead: ahead === true }
    }
    if (op === 'begun') return { op, range: values[0] as WalkRange | null, rules: Number(values[1]) }
    if (op === 'taken') return { op, handle: Number(values[0]), ahead: values[1] === true }
    if (op === 'marked') return { op, ahead: values[0] === true }
    if (op === 'complete') return { op, isWhole: values[0] === true }
    const bare = BARE.find((name) => name === op)
    if (bare === undefined) throw new Unproven('a line of it is of no kind that is known')
    return { op: bare }
  })
}

/** Whether a walk whose evidence begins with `lines` (JSON text) was begun by these rules, and so may go on. */
export function mayGoOn(lines: string): boolean {
  try {
    const [first] = linesOf(lines)
    return first?.op === 'begun' && first.rules === RULES_NUMBER
  } catch {
    return false
  }
}

/** What the evidence of a walk proves. */
export interface Proven {
  /** Null for the whole list. */
  range: WalkRange | null
  /** It is the whole list or range; else all up to the floor (see `Floor`). */
  isWhole: boolean
  answers: number
  /** Windows that were taken in; and how many links between them rest on each assumption, by its name. */
  windows: number
  rests: Partial<Record<Basis, number>>
  /** What the end of the list rests on; empty where no end was claimed. */
  end: Basis[]
}

/** Judges the evidence anew. Throws `OtherRules`, and `Unproven` where it does not prove that the walk was complete. */
export function prove(lines: Iterable<Line>): Proven {
  let judge: Judge | null = null
  let proven: Proven | null = null
  let isOver = false
  for (const line of lines) {
    if (isOver) throw new Unproven('it goes on behind its end')
    if (judge === null || proven === null) {
      if (line.op !== 'begun') throw new Unproven('its beginning is missing')
      if (line.rules !== RULES_NUMBER) throw new OtherRules('it was made by the rules of another version')
      judge = new Judge(line.range)
      proven = { range: line.range, isWhole: false, answers: 0, windows: 0, rests: {}, end: [] }
    } else if (line.op === 'complete') {
      judge.state = { ...judge.state, basis: Object.keys(proven.rests) as Basis[] }
      const missing = judge.missing(line.isWhole)
      if (missing !== null) throw new Unproven(`nothing shows that ${missing}`)
      proven.isWhole = line.isWhole
      proven.end = judge.state.ended ?? []
      isOver = true
    } else {
      // The basis is emptied, so that it then holds only what this line adds.
      judge.state = { ...judge.state, basis: [] }
      hear(judge, line)
      for (const basis of judge.state.basis) proven.rests[basis] = (proven.rests[basis] ?? 0) + 1
      if (line.op === 'told') proven.answers += 1
      if (line.op === 'taken') proven.windows += 1
    }
  }
  if (proven === null || !isOver) throw new Unproven('its end is missing')
  return proven
}

function hear(judge: Judge, line: Line): void {
  try {
    judge.hear(line)
  } catch (error) {
    // Any other error: the line holds values that the program never writes.
    throw error instanceof Unproven ? error : new Unproven('a line of it cannot be judged')
  }
}
