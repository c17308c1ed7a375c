// What requests cost, time and bytes by operation, as the answers of a run show it. Watches, and changes nothing.
import type { Answer, Decoded, Service } from '../service/service.ts'

export interface ObservedCosts {
  /** Median of the last look-ups by id that brought something, ms; null where there was none. */
  requestMs: number | null
  /** Mean size of their answers, bytes. */
  detailBytes: number
  /** Items that windows brought, and what those windows took in all: ms and bytes. */
  windows: { count: number; items: number; ms: number; bytes: number }
}

interface WatchedService {
  service: Service
  costs(): ObservedCosts
}

const LAST = 32

/** `now`: epoch ms. */
export function watchCosts(service: Service, now: () => number): WatchedService {
  const lookUps: number[] = []
  const details = { count: 0, bytes: 0 }
  const windows = { count: 0, items: 0, ms: 0, bytes: 0 }

  /** From sending a request to having its answer decoded; null where that says nothing of the service. */
  function tookMs(answer: Answer<Decoded>): number | null {
    if (answer.kind !== 'ok' || (answer.ageMs ?? 0) > 0 || !answer.value.hasPayload) return null
    return Math.max(0, now() - answer.startedAt)
  }

  return {
    service: {
      async list(window, decode, options) {
        const answer = await service.list(window, decode, options)
        const ms = tookMs(answer)
        if (ms !== null && answer.kind === 'ok') {
          const { value, bytes } = answer
          windows.count += 1
          windows.items += (value as { count?: number }).count ?? 0
          windows.ms += ms
          windows.bytes += bytes
        }
        return answer
      },
      async get(id, decode, options) {
        const answer = await service.get(id, decode, options)
        const ms = tookMs(answer)
        if (ms !== null && answer.kind === 'ok') {
          lookUps.push(ms)
          if (lookUps.length > LAST) lookUps.shift()
          details.count += 1
          details.bytes += answer.bytes
        }
        return answer
      },
      traffic: () => service.traffic(),
      trouble: () => service.trouble(),
      close: () => service.close(),
    },
    costs() {
      const sorted = lookUps.toSorted((a, b) => a - b)
      return {
        requestMs: sorted[Math.floor(sorted.length / 2)] ?? null,
        detailBytes: details.count === 0 ? 0 : details.bytes / details.count,
        windows: { ...windows },
      }
    },
  }
}
