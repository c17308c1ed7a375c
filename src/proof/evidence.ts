// The evidence of a walk as text: what the kernel was told, a short array of JSON for each line. `verify --proof` gives it to
// a judge again, alone. Pure.
import type { Fact } from './facts.ts'
import { Judge, type Line } from './judge.ts'
import type { Basis, Range } from './state.ts'

/** Which values a line of an answer has, in this order: those of 0.1.0's successors are read for ever, so add at the end. */
const FACT: Record<keyof Fact, true> = {
  skip: true,
  asked: true,
  sent: true,
  received: true,
  kind: true,
  count: true,
  metPrefix: true,
  anchor: true,
  showsPassed: true,
  anchorId: true,
  firstId: true,
  lastId: true,
  first: true,
  last: true,
  oldest: true,
  newest: true,
  trail: true,
  beforeTrail: true,
  floorAt: true,
  tiedRising: true,
  tiedFalling: true,
  runStart: true,
  runEnd: true,
  runGoesOn: true,
  hasMember: true,
  isWhole: true,
  fresh: true,
}
const NAMES = Object.keys(FACT) as (keyof Fact)[]

/** `lines` as the JSON text of an array. */
export function textOf(lines: readonly Line[]): string {
  return JSON.stringify(
    lines.map((line) => {
      if (line.op === 'told') return [line.op, line.handle, line.ahead, ...NAMES.map((name) => line.fact[name])]
      return Object.values(line)
    }),
  )
}

/** The lines of `textOf`. Throws where they are none; values are believed, as their digest is compared. */
export function linesOf(text: string): Line[] {
  return (JSON.parse(text) as unknown[][]).map(([op, ...values]): Line => {
    if (op === 'told') {
      const [handle, ahead, ...fact] = values
      if (fact.length !== NAMES.length) throw new Error('an answer has too few or too many values')
      return {
        op,
        handle,
        ahead,
        fact: Object.fromEntries(NAMES.map((name, at) => [name, fact[at]])),
      } as unknown as Line
    }
    if (op === 'begun') return { op, range: values[0] as Range | null }
    if (op === 'taken') return { op, handle: Number(values[0]), ahead: values[1] === true }
    if (op === 'complete') return { op, isWhole: values[0] === true }
    if (op === 'marked' || op === 'owed' || op === 'filtered' || op === 'ended' || op === 'resumed') return { op }
    throw new Error(`'${String(op)}' is no line of evidence`)
  })
}

/** What the evidence of a walk proves. */
export interface Proven {
  /** Null for the whole list. */
  range: Range | null
  /** The whole list or range; else what stands at or before the end of the window that joined last. */
  isWhole: boolean
  answers: number
  /** Windows that were taken in, and on what the links between them rest, beside what one answer shows: how often each. */
  windows: number
  rests: Partial<Record<Basis, number>>
  /** What the end of the list rests on; empty where it was not claimed. */
  end: Basis[]
}

/** Judges the evidence anew. Throws with the reason, in words, where it does not prove that the walk was complete. */
export function prove(lines: Iterable<Line>): Proven {
  let judge: Judge | null = null
  let proven: Proven | null = null
  let isOver = false
  for (const line of lines) {
    if (isOver) throw new Error('it goes on behind its end')
    if (judge === null || proven === null) {
      if (line.op !== 'begun') throw new Error('its beginning is missing')
      judge = new Judge(line.range)
      proven = { range: line.range, isWhole: false, answers: 0, windows: 0, rests: {}, end: [] }
    } else if (line.op === 'complete') {
      const missing = judge.missing(line.isWhole)
      if (missing !== null) throw new Error(`nothing shows that ${missing}`)
      proven.isWhole = line.isWhole
      proven.end = judge.state.ended ?? []
      isOver = true
    } else {
      // What this line adds, and no earlier one.
      judge.state = { ...judge.state, basis: [] }
      judge.hear(line)
      for (const basis of judge.state.basis) proven.rests[basis] = (proven.rests[basis] ?? 0) + 1
      if (line.op === 'told') proven.answers += 1
      if (line.op === 'taken') proven.windows += 1
    }
  }
  if (proven === null || !isOver) throw new Error('its end is missing')
  return proven
}
