// What one or two requests show of the service, the key and the clocks. Pure.
import prettyMilliseconds from 'pretty-ms'
import { isApart } from '../clock.ts'
import { CHECK_ADDRESS } from '../config/target.ts'
import { clockIs } from '../sync/conclude.ts'
import type { Reached, Said } from '../sync/one-off/reach.ts'
import { type Check, note, ok, wrong, wrongBy } from './check.ts'

/** `origin`: scheme, host and port. */
export function serviceCheck(origin: string, { list, tookMs }: Reached): Check {
  const name = 'service'
  const took = prettyMilliseconds(Math.max(1, Math.round(tookMs)))
  if (list.kind === 'ok') {
    return ok(name, `${origin} lists tasks, in ${took}${list.items === 0 ? '; the list is empty' : ''}`)
  }
  if (list.kind === 'key-refused') return ok(name, `${origin} answers, in ${took}`)
  if (list.kind === 'error') return wrongBy(name, list.error)
  const said = statusText(list)
  // The HTTP status is a success, but the answer has no items.
  const isBare = list.kind === 'refused' && list.httpStatus !== null && list.httpStatus < 300
  return list.kind === 'refused'
    ? wrong(
        name,
        `${origin} refuses to list tasks: ${said}`,
        `${isBare ? 'An account that has no task yet may be answered so. ' : ''}${CHECK_ADDRESS}`,
      )
    : wrong(
        name,
        `${origin} does not answer as it should: ${said}`,
        'Try again later, or ask whoever runs the service.',
      )
}

export function keyCheck(hasKey: boolean, { list, get }: Reached): Check {
  const name = 'key'
  if (list.kind === 'key-refused') return wrongBy(name, list.error)
  if (get?.kind === 'key-refused') return wrongBy(name, get.error)
  if (list.kind !== 'ok' || get === null) return note(name, 'not told: the service did not list anything')
  const without = 'the service answers without one'
  if (get.kind === 'ok') return ok(name, hasKey ? 'accepted for the list and for a single task' : without)
  if (get.kind === 'refused' && get.httpStatus === 403) {
    return wrong(
      name,
      `the service lists tasks but forbids single ones: ${statusText(get)}`,
      'Check the rights of the key, and service.auth.on: single tasks may need it too.',
    )
  }
  if (get.kind === 'refused' && list.firstId === null) {
    return ok(name, hasKey ? 'accepted for the list, and not refused for a single task' : without)
  }
  const why = get.kind === 'error' ? get.error.message : statusText(get)
  return note(name, `${hasKey ? 'accepted for the list' : without}; a single task was not to be had: ${why}`)
}

function statusText({ httpStatus, message }: Said): string {
  return httpStatus === null || message.startsWith('HTTP ') ? message : `HTTP ${httpStatus}: ${message}`
}

export function clockCheck({ skew }: Pick<Reached, 'skew'>): Check {
  const name = 'clock'
  if (skew === null) return note(name, 'not compared: no answer with a Date')
  if (!isApart(skew)) return ok(name, "this machine's agrees with the service's to 30 s")
  return wrong(
    name,
    `this machine's is ${clockIs(skew)}`,
    'Set it right (NTP, `timedatectl`). If it is right, the service or a cache on the way is wrong.',
  )
}
