// Open tasks that this run has not met: by id, by windows, or some of both, as open-plan.ts finds cheapest.
import { isCreatedOrder } from '../../walk/order.ts'
import { seeAccount } from '../account.ts'
import { forEachConcurrently } from '../concurrently.ts'
import type { Run } from '../context.ts'
import { itemBytesOf, windowCapacity } from '../window-size.ts'
import { readWindows } from './beside.ts'
import { askForAll, countedAs } from './details.ts'
import {
  budgetOf,
  costOf,
  marginOf,
  type OpenLimit,
  type OpenPlan,
  planOpenTasks,
  type RequestCosts,
  wantedWindows,
  widestGap,
} from './open-plan.ts'

/** So few tasks are asked for by id without a plan. */
const ALWAYS_BY_ID = 20
/**
 * So many look-ups come first, and show what they cost: at random places, for the list may go on showing a task as open
 * that has ended, and where windows are cheaper nothing else asks for it by id.
 */
const FIRST = 8
/** Bytes of an item before any was seen: those of a small task. */
const UNKNOWN_BYTES = 1_000
/** What taking in a listed item costs this machine, ms per byte, as bench/ shows it. */
const OWN_MS_PER_BYTE = 1e-5

/**
 * Asks for the open tasks that are due, the most overdue first; no more than `limit` and what open-plan.ts allows one
 * run. Returns of how many nothing is known, as the service did not answer.
 */
export async function askOpenTasks(run: Run, { most, until }: OpenLimit): Promise<number> {
  const { writer, now, config, facts } = run
  if (config.sync.details === 'never') return 0
  const due = await writer.openDue(now(), most)
  if (due.length === 0) return 0
  await seeAccount(run)
  const tell = countedAs(run, 'open tasks', due.length)
  const first = new Set(due.length > ALWAYS_BY_ID ? spreadOver(due, FIRST, run.random) : due)
  let silent = await ask([...first])
  if (due.length > first.size && now() < until) silent += await askByPlan(due.filter((id) => !first.has(id)))
  run.log.debug({ due: due.length, silent }, 'Open tasks')
  return silent

  async function ask(ids: string[], told = tell): Promise<number> {
    const { asked, late, missing } = await askForAll(run, { ids, reason: 'open', until }, told)
    return ids.length - late - asked + missing.filter(({ answer }) => answer.kind === 'failed').length
  }

  /** Where each of `ids` stands in the list, but for a constant; null where it is not known. */
  async function placesOf(ids: string[], costs: RequestCosts): Promise<(number | null)[]> {
    if (!isCreatedOrder(facts.order ?? null) || facts.filtered_pages === true) return ids.map(() => null)
    const sign = facts.order === 'created_desc' ? -1 : 1
    const distances = await writer.openDistances(ids, widestGap(costs))
    return Array.from(distances, (at) => (Number.isNaN(at) ? null : sign * at))
  }

  async function askByPlan(ids: string[]): Promise<number> {
    const costs = costsOf(run)
    const margin = marginOf(costs.capacity, run.config.sync.overlap)
    const plan = planOpenTasks(await placesOf(ids, costs), costs, margin)
    const asked = plan.byId.map((index) => ids[index] as string)
    const listed = plan.spans.flatMap(({ members }) => members.map((index) => ids[index] as string))
    tell(0, first.size + asked.length + listed.length)
    run.log.debug({ due: ids.length, byId: asked.length, listed: listed.length, ...plan.cost, ...costs }, 'Open tasks')
    const windows = wantedWindows(plan.spans, await startsOf(run, plan.spans, ids), {
      capacity: costs.capacity,
      margin,
    })
    let silent = 0
    const read = () => readWindows(run, windows, costs.itemBytes, ({ members }) => tell(members))
    const askById = async () => {
      silent += await ask(asked)
    }
    await forEachConcurrently([read, askById], 2, (work) => work())
    // If the list has moved, or has other places than the mirror thinks: by id, as far as the run's budget goes.
    const unmet = listed.length === 0 ? [] : await writer.openUnmet(listed, now())
    const left = budgetOf(costs).ms - plan.cost.ms
    const most = Math.max(ALWAYS_BY_ID, Math.floor(left / costOf({ byId: 1, windows: 0, items: 0 }, costs).ms))
    return silent + (await ask(unmet.slice(0, most), () => tell(0)))
  }
}

/** `count` of `ids`, in their order: one at a random place in each of as many equal parts. `random` gives 0 to 1. */
function spreadOver(ids: readonly string[], count: number, random: () => number): string[] {
  return Array.from({ length: count }, (_, part) => {
    const at = Math.floor(((part + random()) / count) * ids.length)
    // The sum of the last part and a number just below 1 is rounded up to the end.
    return ids[Math.min(at, ids.length - 1)] as string
  })
}

/** Where in the list the first task of each span stands, by what the mirror holds. */
async function startsOf({ writer, facts }: Run, spans: OpenPlan['spans'], ids: readonly string[]): Promise<number[]> {
  if (spans.length === 0) return []
  const first = spans.map(({ members }) => ids[members[0] as number] as string)
  return writer.listIndexes(first, facts.order === 'created_desc')
}

function costsOf(run: Run): RequestCosts {
  const { requestMs: shown, detailBytes, windows } = run.service.costs()
  const { concurrency, requestsPerSecond } = run.config.service
  const inForce = run.service.traffic().allowed ?? concurrency
  const itemBytes = itemBytesOf(run) ?? Math.max(detailBytes, UNKNOWN_BYTES)
  const requestMs = Math.max(1, shown ?? windows.ms / Math.max(1, windows.count))
  const itemMs = windows.items === 0 ? 0 : (windows.ms - windows.count * requestMs) / windows.items
  return {
    requestMs,
    itemMs: Math.max(itemMs, itemBytes * OWN_MS_PER_BYTE * inForce),
    itemBytes,
    detailBytes: Math.max(detailBytes, 1),
    concurrency: inForce,
    requestsPerSecond,
    capacity: windowCapacity(run),
    total: run.facts.total ?? run.opened.liveTasks,
  }
}
