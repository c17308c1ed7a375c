// Scenarios that once broke a promise, whole, so that they stay what they were when the making of scenarios changes.
// kept-seeds.jsonl has a line for each: what it showed in one sentence, and the scenario as a failing seed prints it; what
// is as in CALM and PLAIN may be left out; those that are `long`, or `like` another, or like a small test of the walk, are the
// soak's.
import { readFileSync } from 'node:fs'
import { CALM, PLAIN, type Scenario } from './scenario.ts'

export const KEPT: { story: string; scenario: Scenario; inSoak: boolean }[] = readFileSync(
  new URL('kept-seeds.jsonl', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => {
    const { story, scenario, long = false, like = false } = JSON.parse(line)
    return {
      story,
      inSoak: long || like,
      scenario: { ...CALM, ...scenario, account: { ...PLAIN, ...scenario.account } },
    }
  })
