// The proof of the proof: in no small world a false claim is accepted, and without any one condition one is.
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { CONDITIONS } from '../../src/proof/conditions.ts'
import { LONG, QUICK } from './scopes.ts'
import { type Searched, search } from './small-worlds.ts'

/** Worlds of each scope that are searched here; `npm run test:soak` goes to the end, and beyond. */
const MOST = 3_000

describe('in the first small worlds', () => {
  const searched: Searched[] = []
  afterAll(() => {
    const sum = (of: (one: Searched) => number): number => searched.reduce((all, one) => all + of(one), 0)
    console.log(`${sum(({ worlds }) => worlds)} worlds, ${sum(({ claims }) => claims)} claims offered, none false`)
  })

  test.each(Object.entries(QUICK))(
    '%s: no claim that is accepted is false',
    (name, { needs: _, known: __, ...scope }) => {
      const result = search({ name, ...scope }, undefined, MOST)
      expect(result.found).toBeNull()
      searched.push(result)
    },
  )

  test.each([
    ['a deletion and an insertion around a look', ['held']],
    ['a tie that is hidden for a while', ['even-cuts', 'held', 'nothing-hidden-behind']],
  ])('%s deceives a look at an index', (name, broken) => {
    const { needs: _, ...scope } = QUICK[name] as (typeof QUICK)[string]
    const { excused } = search({ name, ...scope })
    expect(Object.keys(excused).toSorted()).toEqual(broken)
  })
})

describe('without the condition', () => {
  const needed = Object.entries(QUICK).flatMap(([name, { needs, known, ...scope }]) =>
    needs.map((condition) => ({ condition, name, scope: { ...scope, ...(known && { inTurn: known }) } })),
  )

  test.each(needed)('"$condition" a false claim is accepted', ({ condition, name, scope }) => {
    expect(search({ name, ...scope }, condition).found).not.toBeNull()
  })

  test('every condition is tried', () => {
    const tried = [...Object.values(QUICK), ...Object.values(LONG)].flatMap(({ needs }) => needs)
    expect(CONDITIONS.filter((condition) => !tried.includes(condition))).toEqual([])
    expect(tried.filter((condition) => !CONDITIONS.some((one) => one === condition))).toEqual([])
  })
})

test('docs/proof.md names every condition, and no other', () => {
  const page = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8')
  const named = [...page.matchAll(/^- `([^`]+)`$/gm)].map(([, name]) => name as string)
  expect(named.toSorted()).toEqual([...CONDITIONS].toSorted())
})

test('docs/proof.md names functions that there are', () => {
  const page = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8')
  const named = [...page.matchAll(/`(\w+)` in `(\w+\.ts)`/g)]
  expect(named.length).toBeGreaterThan(5)
  for (const [, name, file] of named)
    expect(readFileSync(new URL(`../../src/proof/${file}`, import.meta.url), 'utf8')).toContain(`function ${name}(`)
})
