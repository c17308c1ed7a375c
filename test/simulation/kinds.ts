// The kinds of worlds that the soak searches, by name: each makes the world of a seed.
import {
  ascendingScenarioOf,
  blankScenarioOf,
  oddScenarioOf,
  type Scenario,
  scenarioOf,
  sizedScenarioOf,
  sparingScenarioOf,
  twiceOddScenarioOf,
  unsortedScenarioOf,
} from './scenario.ts'

export const KINDS: Record<string, (seed: number) => Scenario> = {
  plain: scenarioOf,
  // Services that are odd (oddities.ts), and odd in two ways at once.
  odd: oddScenarioOf,
  'twice-odd': twiceOddScenarioOf,
  // The oldest writing comes first.
  ascending: ascendingScenarioOf,
  // Answers hold nothing now and then.
  blank: blankScenarioOf,
  // A list shows less than details do, and some runs ask for none.
  sparing: sparingScenarioOf,
  // The sequence of the list depends on the window.
  unsorted: unsortedScenarioOf,
  // Windows with too many bytes are refused.
  sized: sizedScenarioOf,
}
