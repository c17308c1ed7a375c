// What `probe` makes of what it saw: one finding per question, with what was seen for it. Pure.
import type { Decoded } from '../../service/service.ts'
import type { Moment } from '../../task.ts'
import type { Cap, PastEnd, Start } from '../../walk/measure/paging.ts'
import type { Total } from '../../walk/measure/total.ts'
import { orderShown } from '../../walk/order.ts'
import type { ComparedForms } from '../writer/form-intake.ts'
import type { Summary } from '../writer/prepare.ts'
import type { Observations, ProbeAnswer } from './asker.ts'
import type { TimeframeEvidence } from './timeframe.ts'

/** The answer to one question; `value` is null where it was not seen or cannot be told, and `seen` says why. */
export interface Finding {
  value: string | number | boolean | null
  seen: string
}

export const untold = (seen: string): Finding => ({ value: null, seen })

/** A reply in a few words, such as "HTTP 404, statusCode 404"; `seen`: its message, such as "Task not found". */
export function describeReply(reply: ProbeAnswer<Decoded>): Finding {
  if (reply.kind === 'failed') return untold(`${httpOf(reply.httpStatus)} again and again: ${reply.message}`)
  if (reply.kind === 'key-refused') return untold(`${httpOf(reply.httpStatus)}: ${reply.message}`)
  if (reply.kind === 'refused') {
    const { httpStatus, statusCode, message } = reply
    const envelope = statusCode === null || statusCode === httpStatus ? '' : `, statusCode ${statusCode}`
    return { value: `${httpOf(httpStatus)}${envelope}`, seen: message }
  }
  const { statusCode, message, hasPayload } = reply.value
  if (hasPayload) return { value: 'answered', seen: 'a success with content' }
  return { value: `HTTP 200, statusCode ${statusCode}, no item`, seen: message ?? 'no message' }
}

const httpOf = (status: number | null): string => (status === null ? 'no answer' : `HTTP ${status}`)

/** `ids`: those of the list that was read with the key. */
export function listKeyFinding(reply: ProbeAnswer<Summary>, ids: string[]): Finding {
  if (reply.kind === 'key-refused') return { value: true, seen: `${httpOf(reply.httpStatus)} without the key` }
  if (reply.kind !== 'ok') return untold(`without the key: ${describeReply(reply).value ?? describeReply(reply).seen}`)
  const shown = new Set(reply.value.ids)
  if (ids.length === 0 || ids.some((id) => shown.has(id)))
    return { value: false, seen: 'the list answers without the key' }
  if (shown.size === 0) return { value: true, seen: 'without the key the list is empty' }
  return untold('without the key the list holds other tasks')
}

/** `reply`: the one for an id that the list has just shown. */
export function detailKeyFinding(reply: ProbeAnswer<Decoded>): Finding {
  if (reply.kind === 'key-refused') return { value: true, seen: `${httpOf(reply.httpStatus)} without the key` }
  if (reply.kind === 'failed') return untold(`without the key: ${describeReply(reply).seen}`)
  if (reply.kind === 'ok' && reply.value.hasPayload)
    return { value: false, seen: 'a listed task answers without the key' }
  return { value: true, seen: `a listed task is not given without the key: ${describeReply(reply).value}` }
}

/** `isReordered`: two reads of the same window showed another order. */
export function orderFinding({ order, windows }: Observations, isReordered: boolean, settleMs: number): Finding {
  const shown = orderShown({ ...order, unstable: order.unstable || isReordered }, settleMs)
  const pairs = `${order.pairs} neighbouring pairs in ${windows} windows`
  if (isReordered) return { value: 'none', seen: 'two tasks changed places between two reads of the same window' }
  if (order.values.length < 3) return untold(`${pairs}, fewer than three different createdAt among them`)
  if (shown.order === null || order.pairs < 2) return untold(pairs)
  const back = shown.inversionMs === 0 ? '' : `, out of order by up to ${shown.inversionMs} ms`
  return { value: shown.order, seen: `${pairs}${back}; only a full walk proves it` }
}

/** Whether two tasks of different createdAt changed places. */
export function isReordered(before: { ids: string[]; moments: Moment[] }, after: { ids: string[] }): boolean {
  const places = new Map(after.ids.map((id, index) => [id, index]))
  let last = -1
  let lastMoment: Moment = null
  return before.ids.some((id, index) => {
    const place = places.get(id)
    if (place === undefined) return false
    const moment = before.moments[index] as Moment
    const swapped = place < last && (moment === null || moment !== lastMoment)
    if (place > last) {
      last = place
      lastMoment = moment
    }
    return swapped
  })
}

export function capFinding(cap: Cap, { take, larger }: Start, limit: number): Finding {
  if (larger !== null) {
    const { answer } = larger
    const status = httpOf(answer.status)
    if (answer.kind === 'failed')
      return untold(`take ${larger.take} fails (${status}: ${answer.message}), take ${take} is answered`)
    return { value: limit, seen: `a larger take is refused (${status}: ${answer.message})` }
  }
  if (cap.kind === 'none') return { value: 'none', seen: cap.why }
  if (cap.kind === 'count') return { value: cap.items, seen: cap.why }
  if (cap.kind === 'unknown') return untold(cap.why)
  const words = { bytes: 'by size', short: `${cap.items} short`, filtered: 'filtered after paging' }
  return { value: words[cap.kind], seen: cap.why }
}

/** `asked`: the answer to take 1001; null where that was not asked. */
export function beyondFinding(asked: ProbeAnswer<Summary> | null, start: Start, total: Total): Finding {
  if (asked === null) {
    const seen = `take ${start.larger?.take} is not answered already`
    return start.larger?.answer.kind === 'refused' ? { value: 'refused', seen } : untold(seen)
  }
  if (asked.kind === 'refused' || asked.kind === 'key-refused')
    return { value: 'refused', seen: `${httpOf(asked.httpStatus)}: ${asked.message}` }
  if (asked.kind === 'failed') return untold(`take 1001 fails: ${asked.message}`)
  const held = asked.value.count
  if (held > 1000) return { value: 'answered', seen: `take 1001 brought ${held} items` }
  if (total.atLeast > 1000)
    return { value: 'cut', seen: `take 1001 brought ${held} items of at least ${total.atLeast}` }
  return untold(`take 1001 is not refused, but the list is too short to tell more`)
}

export function pastEndFinding({ kind, why }: PastEnd): Finding {
  return kind === 'unknown' ? untold(why) : { value: kind, seen: why }
}

export function totalFinding({ total, atLeast, why }: Total): Finding {
  return { value: total, seen: total === null ? `at least ${atLeast}: ${why}` : why }
}

export function wholeFinding({ tasks, hasFinal, missing, differing }: ComparedForms): Finding {
  if (tasks === 0) return untold('no listed task could be asked for by id')
  const many = `${tasks === 1 ? 'one listed task' : `${tasks} listed tasks`} compared with the detail`
  if (missing.length > 0) return { value: false, seen: `the list leaves out ${missing.join(', ')}; ${many}` }
  if (differing.length > 0) return untold(`${differing.join(', ')} differ, which may have changed in between; ${many}`)
  if (!hasFinal) return untold(`${many}, all equal, but none is final`)
  return { value: true, seen: `${many}, all equal` }
}

/** `judged`: what the evidence was found to show. */
export function timeframeFinding(
  { tasks, afterCreated, ended, nearCompleted }: TimeframeEvidence,
  judged: boolean | null,
): Finding {
  if (tasks === 0) return untold('no listed task has timeframe and createdAt as integers')
  const share = (part: number, whole: number) => `${Math.round((1000 * part) / whole) / 10} %`
  const after = `${share(afterCreated, tasks)} of ${tasks} listed tasks have it after createdAt`
  const near =
    ended === 0
      ? 'none of them has ended'
      : `${share(nearCompleted, ended)} of the ${ended} that ended did so within a day of it`
  return { value: judged, seen: `${after}, ${near}` }
}

export function clockFindings({ skews, answers }: Observations): { date: Finding; clockSkewMs: Finding } {
  if (skews.length === 0) {
    return {
      date: { value: false, seen: `${answers} answers without a Date header` },
      clockSkewMs: untold('no Date header'),
    }
  }
  const middle = [...skews].sort((a, b) => a - b)[Math.floor(skews.length / 2)] as number
  const isSmall = Math.abs(middle) < 1500
  const where = middle > 0 ? 'ahead of' : 'behind'
  const seconds = Math.round(Math.abs(middle) / 1000)
  return {
    date: { value: true, seen: `in ${skews.length} of ${answers} answers` },
    clockSkewMs: {
      value: isSmall ? 0 : Math.round(middle),
      seen: isSmall ? "no further from this machine's clock than can be told" : `${seconds} s ${where} this machine`,
    },
  }
}

export function compressionFinding({ codings, answers }: Observations): Finding {
  if (codings.size === 0) return { value: 'none', seen: `${answers} answers came uncompressed` }
  return { value: [...codings].sort().join(', '), seen: 'the Content-Encoding of answers' }
}

export function limitsFinding({ limits, answers }: Observations): Finding {
  if (limits.size === 0) return untold(`none seen in ${answers} answers`)
  return { value: [...limits].sort().join('; '), seen: 'headers of answers' }
}
