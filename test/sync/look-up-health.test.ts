import { expect, test } from 'vitest'
import { LookUpHealth } from '../../src/sync/look-up-health.ts'

/** `x` failed, `o` answered, `?` another task was asked for and noted: what is decided by it. */
test.each([
  ['nothing was asked', '', 'goes on'],
  ['four in a row', 'xxxx', 'goes on'],
  ['four, and four, with an answer between them', 'xxxxoxxxx', 'goes on'],
  ['five in a row', 'xxxxx', 'in doubt'],
  ['and another task, too', 'xxxxxx?', 'over'],
  ['another task is answered', 'xxxxxo?', 'goes on'],
  ['five more after that', 'xxxxxo?xxxxx', 'in doubt'],
  ['an answer that came late changes nothing any more', 'xxxxxx?o', 'over'],
  ['nothing in doubt is decided', 'xxx?', 'goes on'],
])('%s: %s: %s', (_, answers, expected) => {
  const health = new LookUpHealth()
  for (const answer of answers) {
    if (answer === '?') health.decide()
    else health.note(answer === 'x')
  }
  expect(health.isOver ? 'over' : health.isInDoubt ? 'in doubt' : 'goes on').toBe(expected)
})
