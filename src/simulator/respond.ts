// The service's answer to one request: key, the two operations, envelope. Pure but for the account it reads.
import type { Account } from './account.ts'
import type { NotFoundStyle, SimulatorOptions } from './options.ts'

/** What a request asks for, according to method, path and body. */
export interface ParsedRequest {
  operation: 'list' | 'get' | 'other'
  skip: number | null
  take: number | null
  id: string | null
  /** What is wrong with the request body; null where nothing is. */
  problem: string | null
}

export interface SimulatedAnswer {
  /** HTTP status. */
  status: number
  /** JSON text. */
  body: string
  /** How many tasks it carries. */
  items: number
}

const NOTHING = { skip: null, take: null, id: null, problem: null }

/** `target` is the path and query as sent; `body` the text of the request body. */
export function parseRequest(options: SimulatorOptions, method: string, target: string, body: string): ParsedRequest {
  const path = target.split('?', 1)[0]!
  const tasks = `${options.path}/tasks/`
  if (!path.startsWith(tasks)) return { ...NOTHING, operation: 'other' }
  const rest = path.slice(tasks.length)
  if (method === 'POST' && rest === 'list') return { ...NOTHING, ...windowAsked(options, body), operation: 'list' }
  if (method === 'GET' && rest !== '' && !rest.includes('/')) return { ...NOTHING, operation: 'get', id: decoded(rest) }
  return { ...NOTHING, operation: 'other' }
}

/** `headers` have lower-case names, as node:http gives them. */
export function answerTo(
  options: SimulatorOptions,
  account: Account,
  asked: ParsedRequest,
  { target, headers }: { target: string; headers: Readonly<Record<string, string | string[] | undefined>> },
): SimulatedAnswer {
  if (asked.operation === 'other') return failure(404, 'No such operation')
  if (!isAuthorized(options, asked, target, headers)) {
    const status = Number(options.keyRefusal)
    return failure(status, status === 401 ? 'Unauthorized' : 'Forbidden')
  }
  if (asked.problem !== null) return failure(400, asked.problem)
  if (asked.operation === 'get') {
    const text = account.detail(asked.id!)
    return text === null ? notFound(options.notFound) : success(`{"item":${text}}`, 1)
  }
  const window = account.list(asked.skip!, asked.take!)
  if (window.kind === 'refusal') return failure(window.status, window.message)
  return success(`{"items":[${window.texts.join(',')}]}`, window.texts.length)
}

/** An answer without content; `statusCode` of the envelope is the HTTP status unless given. */
export function failure(status: number, message: string, statusCode = status): SimulatedAnswer {
  return { status, body: envelope(statusCode, message, '{}'), items: 0 }
}

function success(body: string, items: number): SimulatedAnswer {
  return { status: 200, body: envelope(200, 'OK', body), items }
}

function envelope(statusCode: number, message: string, body: string): string {
  return `{"statusCode":${statusCode},"message":${JSON.stringify(message)},"body":${body}}`
}

function notFound(style: NotFoundStyle): SimulatedAnswer {
  if (style === '204') return { status: 204, body: '', items: 0 }
  if (style === 'item-null') return success('{"item":null}', 0)
  if (style === 'item-absent') return success('{}', 0)
  if (style === 'envelope-404') return failure(200, 'Task not found', 404)
  return style === '400' ? failure(400, 'Invalid task id') : failure(404, 'Task not found')
}

/** Missing fields have defaults; anything but a whole number from 0 is a problem. */
function windowAsked(options: SimulatorOptions, body: string): Pick<ParsedRequest, 'skip' | 'take' | 'problem'> {
  let sent: unknown
  try {
    sent = body === '' ? {} : JSON.parse(body)
  } catch {
    return { skip: null, take: null, problem: 'The request body is not JSON' }
  }
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    return { skip: null, take: null, problem: 'The request body must be an object' }
  }
  const { skip = 0, take = options.defaultTake } = sent as { skip?: unknown; take?: unknown }
  if (!isCount(skip)) return { skip: null, take: null, problem: 'skip must be a whole number from 0' }
  if (!isCount(take) || take === 0) return { skip, take: null, problem: 'take must be a whole number from 1' }
  return { skip, take, problem: null }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function isAuthorized(
  options: SimulatorOptions,
  asked: ParsedRequest,
  target: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): boolean {
  const { key, keyPlacement, keyName, keyPrefix, keyOn } = options
  if (key === '' || keyPlacement === 'none' || (keyOn === 'detail' && asked.operation === 'list')) return true
  if (keyPlacement === 'header') return headers[keyName.toLowerCase()] === keyPrefix + key
  return new URLSearchParams(target.split('?')[1] ?? '').get(keyName) === key
}
