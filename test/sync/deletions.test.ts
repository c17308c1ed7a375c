// Deletions against a look-up that fails in every way and for every length of time: a model of the service without HTTP, a
// model of the mirror without SQL, and the real decision between them.
import { describe, expect, test } from 'vitest'
import { seeded } from '../../src/simulator/random.ts'
import { UNBOUND } from '../../src/sync/account.ts'
import type { Run } from '../../src/sync/context.ts'
import { LookUpHealth } from '../../src/sync/look-up-health.ts'
import { decideDeletions } from '../../src/sync/steps/deletions.ts'
import { inAnySequence, isLossByChance } from '../../src/sync/steps/look-ups.ts'
import type { DetailStep } from '../../src/sync/writer/details-intake.ts'
import { prepareWindow } from '../../src/sync/writer/prepare.ts'
import { makeScratch } from '../support/scratch.ts'
import { openRun } from '../support/session.ts'

interface World {
  /** Tasks that the list no longer shows. */
  candidates: string[]
  /** Those of them, and the witnesses, that there really are. */
  there: ReadonlySet<string>
  witnesses: string[]
  /** Whether the look-up says "not found" to its n-th question, from 0, whatever there is. */
  isBlind(n: number, id: string): boolean
  /** What it says to those that are not there, in place of "not found". */
  answerTo?(id: string): object
  /** Those that the same run has found by id before. */
  found?: ReadonlySet<string>
  seed?: number
}

interface Decided {
  marked: string[]
  undecided: number
  asked: number
}

const NOT_FOUND = { kind: 'refused', httpStatus: 404, statusCode: 404, message: 'Not found' }

async function decide(world: World): Promise<Decided> {
  const { candidates, there, witnesses, isBlind, answerTo = () => NOT_FOUND, found = new Set(), seed = 1 } = world
  const random = seeded(seed, 0xde1e)
  const owed = new Set(candidates)
  const marked: string[] = []
  let asked = 0
  const ids: string[] = []
  const run = {
    config: { sync: { massDeleteFraction: 1, massDeleteMinimum: 0, deletionPauseMs: 0 } },
    request: { command: 'sync' },
    account: { ...UNBOUND, found },
    lookUps: new LookUpHealth(),
    signal: new AbortController().signal,
    now: () => 0,
    random: () => random.next(),
    progress: { set: () => undefined },
    service: {
      async get(id: string) {
        const isFound = there.has(id) && !isBlind(asked, id)
        asked += 1
        if (!isFound) return answerTo(id)
        ids.push(id)
        return { kind: 'ok', value: { handle: ids.length - 1, hasPayload: true, statusCode: 200 }, startedAt: 0 }
      },
    },
    writer: {
      dropListed: async () => undefined,
      dropDetail: async () => undefined,
      owedCount: async () => owed.size,
      due: async () => [...owed],
      async takeDetails(steps: DetailStep[]) {
        for (const step of steps) {
          if (step.kind === 'failed') continue
          owed.delete(step.taskId)
          if (step.kind === 'absent') marked.push(step.taskId)
        }
        return []
      },
    },
  } as unknown as Run
  const { undecided } = await decideDeletions(run, witnesses, 10_000, async () => false)
  return { marked, undecided, asked }
}

const named = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name}-${at}-00000000`)
const WITNESSES = named('witness', 50)
const HIDDEN = named('hidden', 20)

describe('tasks that the list hides and the look-up knows', () => {
  const there = new Set([...HIDDEN, ...WITNESSES])

  test('outlive an outage of every length in every phase', async () => {
    for (let from = 0; from < 75; from += 1) {
      for (let length = 1; length < 80; length += 1) {
        const isBlind = (n: number) => n >= from && n < from + length
        const { marked } = await decide({ candidates: HIDDEN, there, witnesses: WITNESSES, isBlind })
        expect({ from, length, marked }).toEqual({ from, length, marked: [] })
      }
    }
  })

  test.each([1, 2, 5, 20])(
    '%i of them outlive two servers that take turns, one of which holds nothing',
    async (count) => {
      for (const parity of [0, 1]) {
        for (const turns of [1, 2, 3]) {
          const isBlind = (n: number) => Math.floor(n / turns) % 2 === parity
          const world = { candidates: HIDDEN.slice(0, count), there, witnesses: WITNESSES, isBlind }
          for (let seed = 0; seed < 20; seed += 1) {
            expect({ parity, turns, seed, ...(await decide({ ...world, seed })) }).toMatchObject({ marked: [] })
          }
        }
      }
    },
  )

  test.each([1, 5, 20])('%i of them outlive a look-up that answers half of all questions by chance', async (count) => {
    let marked = 0
    for (let seed = 0; seed < 1_000; seed += 1) {
      const chance = seeded(seed, 0xb11d)
      const world = {
        candidates: HIDDEN.slice(0, count),
        there,
        witnesses: WITNESSES,
        isBlind: () => chance.chance(0.5),
      }
      marked += (await decide({ ...world, seed })).marked.length
    }
    // A single one needs two wrong answers, and eight right ones from witnesses.
    expect(marked).toBeLessThanOrEqual(count === 20 ? 0 : 4)
  })

  test.each([1, 20])('%i of them outlive a look-up that has lost half of all ids', async (count) => {
    let marked = 0
    for (let seed = 0; seed < 1_000; seed += 1) {
      const chance = seeded(seed, 0x1057)
      const lost = new Set([...there].filter(() => chance.chance(0.5)))
      const world = {
        candidates: HIDDEN.slice(0, count),
        there,
        witnesses: WITNESSES,
        isBlind: (_: number, id: string) => lost.has(id),
      }
      marked += (await decide({ ...world, seed })).marked.length
    }
    expect(marked).toBeLessThanOrEqual(count === 1 ? 8 : 0)
  })

  test('outlive it where the same run has found one of them before', async () => {
    const world = { there: new Set(WITNESSES), witnesses: WITNESSES, isBlind: () => false }
    const candidates = HIDDEN.slice(0, 3)
    const { marked, undecided } = await decide({ ...world, candidates, found: new Set([HIDDEN[1] as string]) })
    expect({ marked, undecided }).toEqual({ marked: [], undecided: 3 })
    expect((await decide({ ...world, candidates })).marked).toHaveLength(3)
  })

  test('are not asked for again and again while the look-up knows nothing', async () => {
    const many = named('hidden', 5_000)
    const world = { candidates: many, there: new Set([...many, ...WITNESSES]), witnesses: WITNESSES }
    const { marked, undecided, asked } = await decide({ ...world, isBlind: () => true })
    expect({ marked, undecided }).toEqual({ marked: [], undecided: 5_000 })
    expect(asked).toBeLessThan(10)
  })
})

describe('stays owed', () => {
  const FAILED = { kind: 'failed', reason: 'status', httpStatus: 500, message: 'Internal Server Error' }
  const candidates = HIDDEN.slice(0, 3)
  const isCandidate = (id: string) => candidates.includes(id)
  test.each<[string, (id: string) => object]>([
    ['what is not answered, although made-up ids are', (id) => (isCandidate(id) ? FAILED : NOT_FOUND)],
    ['what is not answered, as made-up ids are not', () => FAILED],
    [
      'what is refused in another way than made-up ids',
      (id) => ({ ...NOT_FOUND, statusCode: isCandidate(id) ? 403 : 404 }),
    ],
    ['what a cache says of it', (id) => ({ ...NOT_FOUND, ageMs: isCandidate(id) ? 5_000 : 0 })],
  ])('%s', async (_, answerTo) => {
    const world = { candidates, there: new Set(WITNESSES), witnesses: WITNESSES, isBlind: () => false, answerTo }
    expect(await decide(world)).toMatchObject({ marked: [], undecided: 3 })
  })
})

describe('tasks that are gone', () => {
  test.each([1, 11, 20, 499, 1_203])(
    '%i of them are marked, each asked for twice, and one witness for five of them',
    async (count) => {
      const gone = named('gone', count)
      const there = new Set([...WITNESSES, ...HIDDEN])
      const world = { candidates: [...gone, ...HIDDEN], there, witnesses: WITNESSES, isBlind: () => false }
      const { marked, undecided, asked } = await decide(world)
      expect(marked.toSorted()).toEqual(gone.toSorted())
      expect(undecided).toBe(0)
      expect(asked).toBeLessThanOrEqual(2.5 * count + 20 + 20)
    },
  )

  test.each([
    ['by the HTTP status', { kind: 'refused', httpStatus: 410, statusCode: null, message: 'Gone' }],
    ['by the envelope', { kind: 'refused', httpStatus: 200, statusCode: 410, message: 'Gone' }],
  ])('are marked where they are "gone" (410) and unknown ids "not found": %s', async (_, gone) => {
    const candidates = named('gone', 3)
    const answerTo = (id: string) => (candidates.includes(id) ? gone : NOT_FOUND)
    const world = { candidates, there: new Set(WITNESSES), witnesses: WITNESSES, isBlind: () => false, answerTo }
    expect(await decide(world)).toMatchObject({ marked: expect.arrayContaining(candidates), undecided: 0 })
    expect(await decide({ ...world, there: new Set(), answerTo: () => gone })).toMatchObject({ marked: [] })
  })

  test('are marked although a witness was deleted just now', async () => {
    const gone = named('gone', 200)
    const there = new Set(WITNESSES.slice(1))
    const { marked, undecided } = await decide({ candidates: gone, there, witnesses: WITNESSES, isBlind: () => false })
    expect(marked.length + undecided).toBe(200)
    expect(marked.length).toBeGreaterThan(150)
  })

  test('stay owed where a witness is not found once and found again', async () => {
    const gone = named('gone', 500)
    const once = new Set([WITNESSES[7]])
    const isBlind = (_: number, id: string) => once.delete(id)
    const world = { candidates: gone, there: new Set(WITNESSES), witnesses: WITNESSES, isBlind }
    expect(await decide(world)).toMatchObject({ marked: [], undecided: 500 })
  })

  test('stay owed where nobody can speak for the look-up', async () => {
    const { marked, undecided } = await decide({
      candidates: named('gone', 5),
      there: new Set(),
      witnesses: [],
      isBlind: () => false,
    })
    expect({ marked, undecided }).toEqual({ marked: [], undecided: 5 })
  })
})

test('ids that are counted from 1 and are all in use up to some number do not hide what is gone', async () => {
  const there = new Set(Array.from({ length: 999 }, (_, at) => `${at + 1}`))
  for (const id of ['17', '300', '999']) there.delete(id)
  const world = { candidates: ['17', '300', '999'], there, witnesses: ['1', '2', '3', '998'], isBlind: () => false }
  for (let seed = 0; seed < 20; seed += 1)
    expect(await decide({ ...world, seed })).toMatchObject({ marked: expect.arrayContaining(['17', '300', '999']) })
})

test.each([
  [8, 0, true],
  [19, 1, false],
  [20, 1, true],
  [39, 2, false],
  [40, 2, true],
])('of %i witnesses %i lost: by chance is %s', (asked, lost, expected) => {
  expect(isLossByChance(asked, lost)).toBe(expected)
})

test('any sequence holds everything once', () => {
  const random = seeded(3, 1)
  expect(inAnySequence(WITNESSES, () => random.next()).toSorted()).toEqual(WITNESSES.toSorted())
  expect(inAnySequence(WITNESSES, () => random.next())).not.toEqual(WITNESSES)
})

test('a run that has met nothing but the newest tasks has those as witnesses', () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const run = (now: number, from: number, to: number): string[] => {
    const session = openRun(path, now, { asksDetails: false })
    const items = Array.from({ length: to - from }, (_, at) => ({ id: `t${from + at}`, systemStatus: 'DONE' }))
    const raw = Buffer.from(JSON.stringify({ statusCode: 200, body: { items } }))
    session.hold(1, prepareWindow(raw, new Set(['DONE'])), null)
    session.takeIn({ handle: 1, walkId: null, skip: 0, readAt: now, now })
    const ids = session.witnesses([0.1, 0.5])
    session.close()
    return ids
  }
  run(1, 0, 2_500)
  expect(run(2, 2_497, 2_500)).toEqual(['t2499', 't2498'])
})
