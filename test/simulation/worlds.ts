// What the stories of a soak come to, world by world: how often a walk was complete, and what it cost. A story counts in
// every world it is of. Pure.

import { odditiesOf, type Scenario } from './scenario.ts'
import type { Outcome } from './simulate.ts'

interface Figures {
  seeds: number
  runs: number
  verdicts: number
  complete: number
  requests: number
  /** Windows that hold the list of the beginning, for each run: what a run that walks everything needs at least. */
  least: number
  failed: number
}

/** The names of the worlds that a story is of: its order first, then what is uncommon about its service. */
export function worldsOf(scenario: Scenario): string[] {
  const { account, takeover, outages } = scenario
  const traits: Record<string, boolean> = {
    'shuffled ties': account.shuffleTies && account.tieGroup > 1,
    'summary list': account.listCarries !== 'whole' || (account.listOmits ?? []).length > 0,
    'long bodies cut or left out': account.listLongBodies !== undefined,
    'done before its result': (account.resultAfterReads ?? 0) > 0,
    'details behind the list': (account.detailLag ?? 0) > 0,
    'pages capped': account.capItems > 0 || account.capBytes > 0 || account.shortBy > 0,
    'hidden tasks': account.hiddenFraction > 0,
    'look-up outages': outages,
    'another account': takeover !== undefined,
  }
  const odd = odditiesOf(scenario).map(({ kind }) => `odd: ${kind}`)
  return [account.order, ...Object.keys(traits).filter((name) => traits[name]), ...odd]
}

/** Adds up outcomes; `table` gives them as the lines of a Markdown table. */
export class WorldFigures {
  readonly #worlds = new Map<string, Figures>()

  add(scenario: Scenario, outcome: Outcome): void {
    const { account, window } = scenario
    const perWindow = Math.max(1, Math.min(window, account.pageOfOne ? 1 : account.capItems || window))
    for (const world of worldsOf(scenario)) {
      const figures = this.#worlds.get(world) ?? EMPTY()
      figures.seeds += 1
      figures.runs += outcome.runs
      figures.verdicts += outcome.verdicts.length
      figures.complete += outcome.verdicts.filter((verdict) => verdict === 'complete').length
      figures.requests += outcome.requests
      figures.least += outcome.runs * Math.max(1, Math.ceil(account.tasks / perWindow))
      figures.failed += outcome.violations.length > 0 ? 1 : 0
      this.#worlds.set(world, figures)
    }
  }

  table(): string {
    const rows = [...this.#worlds].map(([world, { seeds, runs, verdicts, complete, requests, least, failed }]) => [
      world,
      seeds,
      runs,
      verdicts === 0 ? '-' : `${Math.round((100 * complete) / verdicts)} %`,
      (requests / Math.max(1, runs)).toFixed(1),
      (requests / Math.max(1, least)).toFixed(1),
      failed,
    ])
    const head = ['world', 'seeds', 'runs', 'complete', 'requests a run', 'x windows of the list', 'failed']
    return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
  }
}

const EMPTY = (): Figures => ({ seeds: 0, runs: 0, verdicts: 0, complete: 0, requests: 0, least: 0, failed: 0 })
