// What a comparison of list and details adds to what is known of the service.
import { expect, test } from 'vitest'
import { fieldFacts, learnedBy } from '../../src/sync/learned-forms.ts'

const NO_FORMS = { summary: [], uneven: [] }
const NOTHING = { at: 9, isTold: true, final: 0, open: 0, unfinished: 0, forms: NO_FORMS, bodies: [], signs: [] }
const CUT = { path: ['result', 'body'], how: 'cut' as const, from: 10 }
const BEFORE = { at: 1, final: 2, open: 1, longest: { result: 50, data: 5 }, signs: ['cut'] }

test('comparisons are counted up, with the longest bodies that were compared, and the signs', () => {
  const bodies = [
    { result: 10, data: 90 },
    { result: 70, data: 0 },
  ]
  const shown = { ...NOTHING, final: 1, open: 1, bodies, signs: ['cut', 'truncated'] }
  expect(learnedBy(shown, { forms_compared: BEFORE })).toEqual({
    forms_compared: { at: 9, final: 3, open: 2, longest: { result: 70, data: 90 }, signs: ['cut', 'truncated'] },
  })
  expect(learnedBy(shown, {}).forms_compared).toMatchObject({ final: 1, open: 1, longest: { result: 70, data: 90 } })
  const many = Array.from({ length: 40 }, (_, n) => `${n}`)
  expect(learnedBy({ ...shown, signs: many }, {}).forms_compared?.signs).toHaveLength(16)
})

test.each([
  ['too little of it was answered', { final: 3, isTold: false }],
  ['none of it says anything', { final: 0, open: 0 }],
])('a comparison does not count where %s', (_, more) => {
  expect(learnedBy({ ...NOTHING, ...more }, { forms_compared: BEFORE }).forms_compared).toBe(BEFORE)
})

test('that no final task had a result is a comparison of none', () => {
  expect(learnedBy({ ...NOTHING, unfinished: 3 }, {})).toMatchObject({ forms_compared: { at: 9, final: 0, open: 0 } })
})

test('only fields that were not known before have all rows looked through again', () => {
  const uneven = [{ path: ['cost'], how: 'volatile' as const }]
  expect(fieldFacts({ summary: [CUT], uneven }, {})).toEqual({
    summary_fields: [CUT],
    summary_sweep: 1,
    uneven_fields: uneven,
  })
  expect(fieldFacts({ summary: [CUT], uneven: [] }, { summary_fields: [CUT] })).toEqual({})
})
