// `probe`: finds out by observation what the interface leaves open, in 60 requests at most. Has their sequence.
import { EXIT } from '../../errors.ts'
import type { Facts } from '../../mirror/tables/facts.ts'
import type { ResponseInfo } from '../../service/response-info.ts'
import {
  type Cap,
  findCap,
  findPastEnd,
  findTakeLimit,
  OutOfRequests,
  type PastEnd,
  readStart,
  type Start,
} from '../../walk/measure/paging.ts'
import { findTotal, type Total } from '../../walk/measure/total.ts'
import { unlisted } from '../../walk/read-window.ts'
import { openClient } from '../begin.ts'
import { learn, type Run, type RunContext } from '../context.ts'
import { runOneOff } from '../one-off/one-off-run.ts'
import type { ParsedList } from '../writer/writing.ts'
import {
  beyondFinding,
  capFinding,
  clockFindings,
  compressionFinding,
  describeReply,
  type Finding,
  isReordered,
  limitsFinding,
  listKeyFinding,
  orderFinding,
  pastEndFinding,
  timeframeFinding,
  totalFinding,
  untold,
} from './answers.ts'
import { Asker } from './asker.ts'
import { askAboutDetails, type DetailFindings } from './details.ts'
import { judgeTimeframe } from './timeframe.ts'

/** The questions in the order they are told. */
export const QUESTIONS = {
  listNeedsKey: 'does the list need the key',
  detailNeedsKey: 'does a single task need the key',
  order: 'order of the list',
  takeCap: 'is take capped',
  takeBeyond1000: 'take beyond 1000',
  pastEnd: 'past the end',
  total: 'how many tasks',
  listWhole: 'does the list carry whole tasks',
  notFound: 'an id that does not exist',
  badId: 'an id of another form',
  badWindow: 'skip -1',
  timeframe: 'does timeframe read as a moment',
  date: 'Date header',
  clockSkewMs: 'clock ahead, ms',
  compression: 'compression',
  limits: 'limits told in headers',
} as const

export interface ProbeResult {
  schemaVersion: 1
  runId: number
  /** Epoch ms. */
  askedAt: number
  /** Retries included. */
  requests: number
  bytes: number
  durationMs: number
  answers: Record<keyof typeof QUESTIONS, Finding>
}

interface ProbeDone {
  result: ProbeResult
  /** 5 where the service refuses the configured key for single tasks, else 0: "cannot tell" is an answer. */
  exitCode: number
}

export const MOST_REQUESTS = 60
const SPENT = `not asked: the ${MOST_REQUESTS} requests of a probe were used up`

/** Throws `key-refused`, `service-failing` or `service-refused` where no list can be had, and as `runOneOff`. */
export async function probeService(context: RunContext): Promise<ProbeDone> {
  let asker: Asker | null = null
  const onResponse = (facts: ResponseInfo) => asker?.observed.noteResponse(facts)
  const { apiKey } = context
  const keyless = apiKey === null ? null : await openClient({ ...context, apiKey: null }, { onResponse })
  const work = async (run: Run) => {
    asker = new Asker(run, MOST_REQUESTS, keyless)
    const value = await probe(run, asker, apiKey !== null)
    return { value, exitCode: value.exitCode, traffic: asker.traffic() }
  }
  try {
    return await runOneOff(context, 'probe', work, { onResponse })
  } finally {
    await keyless?.close()
  }
}

async function probe(run: Run, asker: Asker, hasKey: boolean): Promise<ProbeDone> {
  const { now, config } = run
  const askedAt = now()
  /** Returns `otherwise` where the requests are used up before the question is answered. */
  const ask = async <T>(phase: string, otherwise: T, work: () => Promise<T>): Promise<T> => {
    run.progress.set({ phase: `probe: ${phase}`, requests: asker.traffic().requests })
    try {
      return await work()
    } catch (error) {
      if (error instanceof OutOfRequests) return otherwise
      throw error
    }
  }

  const { start, page } = await readFirst(run, asker)
  const listNeedsKey = await ask('key', untold(SPENT), () => askListKey(run, asker, start, hasKey))
  const details = await ask('single tasks', UNASKED, () => askAboutDetails(run, asker, page, hasKey))
  await run.writer.dropWindow(page.handle)
  const cap = await ask<Cap>('cap', { kind: 'unknown', items: null, why: SPENT }, () => findCap(asker, start))
  const isTakeRefused = start.larger?.answer.kind === 'refused'
  const limit = await ask('cap', start.take, async () => (isTakeRefused ? findTakeLimit(asker, start) : start.take))
  const past = await ask<PastEnd>('end', { kind: 'unknown', why: SPENT, lastId: null }, () => findPastEnd(asker, start))
  const noTotal: Total = { total: null, lastId: null, atLeast: start.ids.length, why: SPENT }
  const found = await ask('total', noTotal, () => findTotal(asker, start, past, run.facts.total ?? null))
  const total = cap.kind === 'filtered' ? { ...noTotal, why: 'items are dropped from pages after paging' } : found
  const beyond = await ask('take', untold(SPENT), async () =>
    beyondFinding(start.larger === null ? await asker.list(0, 1001) : null, start, total),
  )
  const badWindow = await ask('errors', untold(SPENT), async () => describeReply(await asker.list(-1, 1)))
  const swapped = await ask('order', false, async () => {
    const again = await asker.list(0, start.take)
    return again.kind === 'ok' && isReordered(page, again.value)
  })

  const { isKeyRefused, ...aboutDetails } = details
  const { timeframes } = asker.observed
  const timeframe = judgeTimeframe(timeframes)
  const answers = {
    listNeedsKey,
    ...aboutDetails,
    order: orderFinding(asker.observed, swapped, config.sync.settleMs),
    takeCap: capFinding(cap, start, limit),
    takeBeyond1000: beyond,
    pastEnd: pastEndFinding(past),
    total: totalFinding(total),
    badWindow,
    timeframe: timeframeFinding(timeframes, timeframe?.isMoment ?? null),
    ...clockFindings(asker.observed),
    compression: compressionFinding(asker.observed),
    limits: limitsFinding(asker.observed),
  }
  const { requests, bytes } = asker.traffic()
  const inferred: Facts = timeframe === null ? {} : { timeframe }
  await learn(run, { ...provenFacts(run, cap, total), ...inferred, probe: { askedAt, requests, answers } })
  const { runId } = run.opened
  const result = { schemaVersion: 1, runId, askedAt, requests, bytes, durationMs: now() - askedAt, answers } as const
  return { result, exitCode: isKeyRefused ? EXIT.keyRefused : EXIT.done }
}

const UNASKED: DetailFindings = {
  detailNeedsKey: untold(SPENT),
  listWhole: untold(SPENT),
  notFound: untold(SPENT),
  badId: untold(SPENT),
  isKeyRefused: false,
}

/** What a handful of windows proves; order and frontier are left to complete walks. */
function provenFacts(run: Run, cap: Cap, total: Total): Facts {
  const facts: Facts = {}
  if (cap.kind === 'count') facts.page_cap = cap.items as number
  if (cap.kind === 'none') facts.page_cap = undefined
  if (cap.kind === 'filtered') facts.filtered_pages = true
  // Walks keep a known total in step with what the mirror has taken in: a newer one would mislead them.
  if (total.total !== null && total.lastId !== null && run.facts.total === undefined) {
    Object.assign(facts, { total: total.total, last_id: total.lastId })
  }
  return facts
}

/** Reads the start of the list, which shows the account, too. */
async function readFirst(run: Run, asker: Asker): Promise<{ start: Start; page: ParsedList }> {
  const start = await readStart(asker)
  if ('kind' in start) throw unlisted(start)
  const page = asker.first() as ParsedList
  await run.account.saw(await run.writer.view(page.handle, 0))
  return { start, page }
}

async function askListKey(run: Run, asker: Asker, start: Start, hasKey: boolean): Promise<Finding> {
  const { placement, on } = run.config.service.auth
  if (!hasKey) return { value: false, seen: 'the list answers without a key' }
  if (placement === 'none' || on === 'detail') {
    return { value: false, seen: 'the list answers without the key, which service.auth does not send' }
  }
  return listKeyFinding(await asker.list(0, Math.min(start.take, 10), { withoutKey: true }), start.ids)
}
