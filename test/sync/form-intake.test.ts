// What a comparison of list and details adds to what is known of the service.
import { expect, test } from 'vitest'
import { learnedBy } from '../../src/sync/writer/form-intake.ts'

const JUDGED = { final: 0, open: 0, unfinished: 0, forms: { summary: [], uneven: [] } }
const CUT = { path: ['result', 'body'], how: 'cut' as const, from: 10 }
const BEFORE = { at: 1, final: 2, open: 1, longest: { result: 50, data: 5, cut: 1 } }
const withSigns = (signs: Record<string, number>) => ({ signs: Object.entries(signs) })

test('comparisons are counted up, with the most of each sign that was compared', () => {
  const tasks = [withSigns({ result: 10, data: 90, cut: 1 }), withSigns({ result: 70, truncated: 1 })]
  const judged = { ...JUDGED, final: 1, open: 1 }
  expect(learnedBy(judged, tasks, 9, { forms_compared: BEFORE })).toEqual({
    forms_compared: { at: 9, final: 3, open: 2, longest: { result: 70, data: 90, cut: 1, truncated: 1 } },
  })
  const first = { final: 1, open: 1, longest: { result: 70, data: 90 } }
  expect(learnedBy(judged, tasks, 9, {}).forms_compared).toMatchObject(first)
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`s${n}`, 1]))
  expect(Object.keys(learnedBy(judged, [withSigns(many)], 9, {}).forms_compared!.longest!)).toHaveLength(18)
})

test('a comparison of a build before 1.0.0, which kept no signs, is counted on', () => {
  const facts = learnedBy({ ...JUDGED, final: 1 }, [], 9, { forms_compared: { at: 1, final: 2, open: 1 } })
  expect(facts.forms_compared).toEqual({ at: 9, final: 3, open: 1, longest: {} })
})

test.each([
  ['too little of it was answered', { final: 3 }, null],
  ['none of it says anything', { final: 0, open: 0 }, 9],
])('a comparison does not count where %s', (_, more, at) => {
  expect(learnedBy({ ...JUDGED, ...more }, [], at, { forms_compared: BEFORE })).not.toHaveProperty('forms_compared')
})

test('that no final task had a result is a comparison of none', () => {
  const facts = learnedBy({ ...JUDGED, unfinished: 3 }, [], 9, {})
  expect(facts).toMatchObject({ forms_compared: { at: 9, final: 0, open: 0 } })
})

test('only fields that were not known before have all rows looked through again', () => {
  const uneven = [{ path: ['cost'], how: 'volatile' as const }]
  const forms = { summary: [CUT], uneven }
  expect(learnedBy({ ...JUDGED, forms }, [], 9, {})).toEqual({
    summary_fields: [CUT],
    summary_sweep: 1,
    uneven_fields: uneven,
  })
  const even = { summary: [CUT], uneven: [] }
  expect(learnedBy({ ...JUDGED, forms: even }, [], 9, { summary_fields: [CUT] })).toEqual({})
})
