// Makes the JSON text of a task from seed and state alone, so that a million tasks need no memory.
import type { Carries, SimulatorOptions } from './options.ts'
import { mix32, type Random, seeded, unitAt, unmix32 } from './random.ts'

/** What the account stores of a task; the rest follows from the seed. */
interface TaskState {
  /** Number of the task in its account, from 0 in order of insertion. */
  slot: number
  createdAt: number
  /** null while the task is open. */
  completedAt: number | null
  systemStatus: string
  /** How often the content has changed. */
  revision: number
}

export const OPEN_STATUSES = ['PENDING', 'PENDING', 'PENDING', 'RUNNING', 'SCHEDULED', 'RETRYING'] as const
export const FINAL_STATUSES: readonly string[] = [...Array<string>(9).fill('DONE'), 'FAILED']

const SALT = { odd: 11, oddKind: 12, data: 21, result: 22, id: 31, user: 32 } as const

const HOSTS = [
  'api.shop.example',
  'hooks.billing.example',
  'crm.example.org',
  'status.example.net:8443',
  'xn--bcher-kva.example',
  'internal.example',
]
const PATHS = ['/v1/orders/', '/v2/invoices/', '/webhooks/', '/customers/', '/health?probe=', '/search?q=a%20b&page=']
const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
const OUTCOMES: [number, string][] = [
  ...Array<[number, string]>(6).fill([200, 'OK']),
  [201, 'Created'],
  [202, 'Accepted'],
  [204, 'No Content'],
  [302, 'Found'],
  [400, 'Bad Request'],
  [401, 'Unauthorized'],
  [404, 'Not Found'],
  [429, 'Too Many Requests'],
  [500, 'Internal Server Error'],
  [503, 'Service Unavailable'],
]
const WORDS =
  'order invoice customer parcel returned shipped paid open total amount street city note reference internal ' +
  'please deliver before noon thank you for your patience item size colour blue green basket voucher refund '
const FILLER = WORDS.repeat(400)
const WORDS_LENGTH = WORDS.length

/** The UUID-like id of a task. Its first eight digits are a bijection of the slot: ids need no storage or search. */
export function idOf(seed: number, slot: number): string {
  const head = hex(headOf(seed, slot))
  const a = hex(mix32(slot ^ mix32(seed + SALT.id)))
  const b = hex(mix32(slot ^ mix32(seed + 2 * SALT.id)))
  const c = hex(mix32(slot ^ mix32(seed + 3 * SALT.id)))
  return `${head}-${a.slice(0, 4)}-4${a.slice(4, 7)}-${'89ab'[slot & 3]}${b.slice(0, 3)}-${b.slice(3)}${c.slice(0, 7)}`
}

/** The first 32 bits of the id as a number: ids sort as their heads do. */
export function headOf(seed: number, slot: number): number {
  return mix32(slot ^ mix32(seed))
}

/** The slot an id belongs to, whether or not such a task exists; null for text that is no id of this seed. */
export function slotOf(seed: number, id: string): number | null {
  if (!/^[0-9a-f]{8}-/.test(id)) return null
  const slot = (unmix32(Number.parseInt(id.slice(0, 8), 16)) ^ mix32(seed)) >>> 0
  return idOf(seed, slot) === id ? slot : null
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0')
}

/** The text of a task as the detail shows it, or the list, which may show less (`carries`). */
export function simulatedText(options: SimulatorOptions, state: TaskState, carries: Carries = 'whole'): string {
  const { seed } = options
  const { slot, createdAt, completedAt } = state
  const oddity = unitAt(seed, slot, SALT.odd) < options.oddities ? mix32(slot + SALT.oddKind) % ODDITIES.length : -1
  const odd: Oddity = ODDITIES[oddity] ?? {}
  const random = seeded(seed, slot, SALT.data)
  const fillerBytes = fillerFor(options.taskBytes, random)

  let text = `{"id":"${idOf(options.idSeed ?? seed, slot)}","userId":"${userOf(seed)}"`
  if (carries === 'whole' || carries === 'noResult') text += `,"data":${dataText(random, fillerBytes, state, odd)}`
  text += `,"timeframe":${odd.timeframe ?? Math.floor(createdAt / 60_000) * 60_000 + (5 + state.revision) * 60_000}`
  text += `,"accuracy":${odd.accuracy ?? '"MINUTE"'},"systemStatus":"${state.systemStatus}","createdAt":${createdAt}`
  if (completedAt === null) text += odd.open ?? ''
  else {
    text += `,"completedAt":${completedAt}`
    if (carries === 'whole' || carries === 'noData') {
      text += `,"result":${resultText(seeded(seed, slot, SALT.result), fillerBytes, state, odd)}`
    }
  }
  return `${text}${odd.more ?? ''}}`
}

function userOf(seed: number): string {
  return `user-${hex(mix32(seed ^ mix32(SALT.user)))}`
}

/** Long-tailed: most tasks are small, one in a thousand has twenty times the mean. About 650 bytes are not filler. */
function fillerFor(taskBytes: number, random: Random): number {
  const mean = Math.max(0, taskBytes - 640)
  return Math.min(FILLER.length / 2, Math.floor((mean * 0.42) / (1 - random.next()) ** 0.6))
}

function filler(random: Random, bytes: number): string {
  const start = random.int(WORDS_LENGTH)
  return FILLER.slice(start, start + bytes)
}

function dataText(random: Random, fillerBytes: number, state: TaskState, odd: Oddity): string {
  const method = random.pick(METHODS)
  const number = random.int(1_000_000)
  const url = `https://${random.pick(HOSTS)}${random.pick(PATHS)}${number}`
  const withBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
  const note = withBody ? filler(random, fillerBytes) : ''
  const mark = number % 32 === 0 ? ' \u00e9\u20ac \ud83d\ude00' : ''
  const body = withBody ? `{\\"orderId\\":${number},\\"note\\":\\"${note}${mark}\\"}` : ''
  const secret = hex(random.int(0x1_0000_0000)) + hex(random.int(0x1_0000_0000))
  const credentials = random.pick([
    `"authorization":"Bearer made-up-${secret}",`,
    `"Authorization":"Basic bWFkZTp1cA${secret}==",`,
    `"x-api-key":"made-up-${secret}",`,
    `"cookie":"session=${secret}",`,
    '',
  ])
  const revision = state.revision > 0 ? `,"x-revision":"${state.revision}"` : ''
  const header = random.chance(0.1)
    ? state.revision > 0
      ? `{${revision.slice(1)}}`
      : '{}'
    : `{${credentials}"content-type":"application/json","user-agent":"task-runner/${1 + random.int(4)}.${random.int(20)}"${revision}}`
  return `{"method":"${method}","url":"${url}","body":"${odd.dataBody ?? body}","header":${odd.dataHeader ?? header}}`
}

function resultText(random: Random, fillerBytes: number, state: TaskState, odd: Oddity): string {
  const [code, statusText] = state.systemStatus === 'FAILED' ? [504, 'Gateway Timeout'] : random.pick(OUTCOMES)
  const request = hex(random.int(0x1_0000_0000))
  const cookie = random.chance(0.2) ? `"set-cookie":"sid=${request}; HttpOnly",` : ''
  const body =
    code >= 400
      ? `{"error":{"code":"E${random.int(900)}","message":"${statusText}"},"requestId":"${request}"}`
      : `{"ok":true,"requestId":"${request}","total":${random.int(100_000) / 100},"items":[{"sku":"A-${random.int(5000)}",` +
        `"quantity":${1 + random.int(9)}},{"sku":"B-${random.int(5000)}","quantity":1}],"note":"${filler(random, fillerBytes)}"}`
  const header =
    `{"content-type":"application/json; charset=utf-8","date":"${dateText(state.completedAt ?? 0)}",${cookie}` +
    `"x-request-id":"${request}","cache-control":"no-store"}`
  return `{"body":${odd.resultBody ?? body},"header":${header},"statusCode":${code},"statusText":"${statusText}"}`
}

function dateText(moment: number): string {
  return new Date(moment).toUTCString()
}

/** JSON texts that replace a part of the task, or follow its last field. */
interface Oddity {
  timeframe?: string
  accuracy?: string
  /** Text between the quotes. */
  dataBody?: string
  dataHeader?: string
  resultBody?: string
  /** Fields of an open task. */
  open?: string
  more?: string
}

const ODDITIES: Oddity[] = [
  { more: ',"tags":["a","b"],"priority":{"level":3,"by":null},"":true' },
  { timeframe: '12345678901234567', resultBody: '{"orderNo":90071992547409931,"huge":123456789012345678901234567890}' },
  { timeframe: '1.0', resultBody: '{"ratio":1.0,"zero":-0,"big":1E+2,"tiny":1e-400,"vast":1e400}' },
  { accuracy: 'null', open: ',"completedAt":null,"result":null' },
  { dataBody: 'cut \\ud83d here', resultBody: '{"text":"\\udc00 alone","pair":"\\ud83d\\ude00"}' },
  { resultBody: '"plain text"' },
  { resultBody: '[1,[2,[3]],null]' },
  { resultBody: 'null' },
  { dataHeader: '{"__proto__":"kept","constructor":"kept","":"empty name"}' },
  { dataBody: '\\/escaped\\u0041\\n\\t\\u0000 nul', accuracy: '"HOUR"', more: ',"systemstatus":"other case"' },
]
