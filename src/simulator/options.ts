// Every option of the simulator in one table, the source of types, checks and the flags of `simulate`.
import { z } from 'zod'
import { MirrorError } from '../errors.ts'
import { flagOf } from '../shown.ts'

// Each kind's description says which values it takes; the table's descriptions say what an option does.
const decimal = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/)
    .transform(Number),
])
const whole = (least = 0, most = Number.MAX_SAFE_INTEGER) =>
  decimal
    .pipe(z.number().int().min(least).max(most))
    .describe(`a whole number${most < Number.MAX_SAFE_INTEGER ? ` from ${least} to ${most}` : atLeast(least)}`)
const fraction = decimal.pipe(z.number().min(0).max(1)).describe('a number from 0 to 1')
const rate = decimal.pipe(z.number().min(0)).describe(`a number${atLeast(0)}`)
const flag = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
  .describe('true or false')
const list = z.union([
  z.array(z.string()),
  z.string().transform((text) => text.split(',').filter((part) => part !== '')),
])
const filled = z.string().min(1).describe('a text that is not empty')
const moment = z
  .union([decimal, z.string().transform(Date.parse).pipe(z.number())])
  .describe('a moment, such as 2026-11-20, or epoch milliseconds')

function atLeast(least: number): string {
  return least === Number.MIN_SAFE_INTEGER ? '' : ` of at least ${least}`
}

const ORDERS = [
  'created_desc',
  'created_asc',
  'id_asc',
  'id_desc',
  'insertion',
  'updated_desc',
  'updated_asc',
  'completed_desc',
  'completed_asc',
  'shuffled',
] as const
export const CARRIES = ['whole', 'noResult', 'noData', 'bare'] as const
const LONG_BODIES = ['cut', 'omit', 'mark'] as const
export const NOT_FOUND = ['404', '400', '204', 'item-null', 'item-absent', 'envelope-404'] as const
/** How an answer shows that it is from the cache: its age, a header that says so, its old Date, or not at all. */
const CACHE_SIGNS = ['age', 'x-cache', 'date', 'nothing'] as const
const FAULT_KINDS = ['500', '503', '429', 'reset', 'truncate', 'html', 'empty', 'envelope-500', 'hang'] as const

const faultKind = z.enum(FAULT_KINDS)

const table = {
  // The account
  seed: whole().default(1).describe('the same seed, clock and requests give the same account'),
  idSeed: whole()
    .optional()
    .describe('take only the ids from the account of this seed, a whole number (default: the seed)'),
  tasks: whole().default(5000).describe('tasks at the start'),
  taskBytes: whole(1)
    .default(1000)
    .describe('mean size of a task in bytes, from about 650 upwards; sizes are long-tailed'),
  openFraction: fraction.default(0.02).describe('share of tasks that are not finished at the start, mostly new ones'),
  newest: moment
    .optional()
    .describe('latest createdAt at the start, ISO or epoch ms (default: now); the same one gives the same texts'),
  spanDays: rate.default(90).describe('days between the oldest and the newest task at the start'),
  tieGroup: whole(1).default(1).describe('how many neighbouring tasks share one createdAt at the start'),
  lateFraction: fraction.default(0).describe('share of tasks that appear later than their createdAt says'),
  lateMs: whole(1).default(30_000).describe('how late at most, ms'),
  stampJitterMs: whole()
    .default(0)
    .describe('createdAt is off by up to so many ms, as several servers stamp it; the list keeps the true order'),
  futureFraction: fraction.default(0).describe('share of tasks dated in the future'),
  futureMs: whole(1).default(86_400_000).describe('how far ahead at most, ms'),
  oddities: fraction
    .default(0)
    .describe('share of tasks with unknown fields, 17-digit integers, 1.0, nulls, lone surrogates'),
  openInserts: fraction.default(1).describe('share of newly inserted tasks that are open'),
  // The list
  order: z.enum(ORDERS).default('created_desc').describe('order of the list'),
  openTasksStand: z
    .enum(['front', 'behind'])
    .default('front')
    .describe('where tasks that are not finished stand in orders completed_desc and completed_asc'),
  shuffleTies: flag.default(false).describe('tasks with equal createdAt come in another order at every read'),
  listCarries: z.enum(CARRIES).default('whole').describe('what listed tasks carry; details always carry all'),
  listOmits: list
    .default([])
    .describe('fields that listed tasks lack, such as result.body, comma-separated; details always carry all'),
  listNulls: list.default([]).describe('fields that listed tasks have as null, such as result, comma-separated'),
  listBodyBytes: whole()
    .default(0)
    .describe('in the list a body of the request or the result that is longer is no whole one; 0: no limit'),
  listLongBodies: z
    .enum(LONG_BODIES)
    .default('cut')
    .describe('what the list has of such a body: its beginning, nothing, or nothing and "truncated": true'),
  resultAfterReads: whole()
    .default(0)
    .describe('list and detail of a finished task lack its result until its detail was asked for so many times'),
  detailLag: whole().default(0).describe('details show a change only after so many further answers'),
  capItems: whole().default(0).describe('windows hold at most so many items, silently; 0: no cap'),
  capBytes: whole()
    .default(0)
    .describe('windows hold at most so many bytes of tasks, and at least one task; 0: no cap'),
  shortBy: whole().default(0).describe('windows are so many items short of what was asked, and hold at least one'),
  pageOfOne: flag.default(false).describe('windows hold one item, whatever was asked'),
  hiddenFraction: fraction
    .default(0)
    .describe('share of tasks that are dropped after skip and take, and refused by id'),
  takeLimit: whole(1).default(1000).describe('a larger take is answered with 400'),
  defaultTake: whole(1).default(100).describe('take of a request that gives none'),
  cutTo: fraction.default(1).describe('share of what was asked for that windows hold while they are cut'),
  cutFrom: whole().default(0).describe('windows are cut from this answer on'),
  cutFor: whole().default(0).describe('for so many answers'),
  stillFrom: whole()
    .default(0)
    .describe('from this answer on, one of two servers that answer at random returns stale data'),
  stillMs: whole().default(0).describe('how long its data stays stale, ms; 0: there is one server'),
  stillAgain: flag.default(false).describe('then it copies the list and gets stale again, as a replica does'),
  skipLimit: whole().default(0).describe('a window that ends beyond this index is answered with 400; 0: no limit'),
  ignoreSkip: flag.default(false).describe('every window starts at 0'),
  wrap: flag.default(false).describe('skip beyond the end starts again at the front'),
  repeatLast: flag.default(false).describe('skip beyond the end gives the last window again'),
  pastEnd: z
    .enum(['empty', '200', '400', '404'])
    .default('empty')
    .describe('answer to a skip beyond the end; 200: a success without items'),
  poison: list.default([]).describe('indexes or ids, comma-separated: windows that hold one are answered with 500'),
  // The server
  host: filled.default('127.0.0.1').describe('address to listen on'),
  port: whole(0, 65_535).default(0).describe('port to listen on; 0: any free one'),
  path: z
    .string()
    .regex(/^(\/[^/?#]+)*$/)
    .describe('a path such as /api/v1, without a slash at its end')
    .default('')
    .describe('path before /tasks'),
  key: z.string().default('').describe('made-up API key the simulator wants; empty: none'),
  keyPlacement: z.enum(['header', 'query', 'none']).default('header').describe('where the key is looked for'),
  keyName: filled.default('authorization').describe('name of the header or query parameter'),
  keyPrefix: z.string().default('Bearer ').describe('text before the key'),
  keyOn: z.enum(['all', 'detail']).default('all').describe('which operations want the key'),
  keyRefusal: z.enum(['401', '403']).default('401').describe('answer to a missing or wrong key'),
  notFound: z.enum(NOT_FOUND).default('404').describe('answer to an unknown id'),
  latencyMs: whole().default(0).describe('wait before every answer, ms'),
  compression: z.enum(['none', 'gzip', 'br', 'zstd']).default('gzip').describe('used where the client accepts it'),
  dateHeader: flag.default(true).describe('send a Date header, by the simulated clock'),
  cacheMs: whole().default(0).describe('a cache answers the same request the same for so long, ms; 0: there is none'),
  cacheSigns: z.enum(CACHE_SIGNS).default('age').describe('how an answer shows that it came from the cache'),
  cacheHeeds: flag.default(true).describe('the cache asks the service where the client sends cache-control: no-cache'),
  clockSkewMs: whole(Number.MIN_SAFE_INTEGER).default(0).describe('how far the simulated clock is ahead, ms'),
  faultRate: fraction.default(0).describe('share of requests answered with a fault'),
  faultKinds: list
    .pipe(z.array(faultKind).min(1))
    .describe(`some of ${FAULT_KINDS.join(', ')}`)
    .default(['500', '503', '429', 'reset', 'truncate', 'html'])
    .describe(`kinds of faults, comma-separated: ${FAULT_KINDS.join(', ')}`),
  // Changes while the simulator runs; 0.1 means every tenth time
  insertsPerRequest: rate.default(0).describe('tasks inserted before every request'),
  deletesPerRequest: rate.default(0).describe('tasks deleted before every request'),
  finishesPerRequest: rate.default(0).describe('open tasks finished before every request'),
  updatesPerRequest: rate.default(0).describe('tasks whose content changes before every request'),
  movesPerRequest: rate.default(0).describe('tasks moved to the front before every request (order updated_desc)'),
  where: z.enum(['front', 'middle', 'behind']).default('front').describe('where in the list those appear and go'),
  insertsPerSecond: rate.default(0).describe('tasks created per second, with the time as createdAt'),
  finishesPerSecond: rate.default(0).describe('open tasks finished per second'),
  deletesPerSecond: rate.default(0).describe('tasks deleted per second'),
}

const schema = z.strictObject(table)

export type SimulatorOptions = z.output<typeof schema>
export type ListOrderName = (typeof ORDERS)[number]
export type Carries = (typeof CARRIES)[number]
export type NotFoundStyle = (typeof NOT_FOUND)[number]
export type FaultKind = (typeof FAULT_KINDS)[number]

/** The options where none is given. */
export const SIMULATOR_DEFAULTS: Readonly<SimulatorOptions> = Object.freeze(schema.parse({}))

/** Options as values or as texts of flags, with defaults added. Throws `usage-invalid` that names every wrong one. */
export function simulatorOptions(input: Readonly<Record<string, unknown>> = {}): SimulatorOptions {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') return `unknown option ${issue.keys.map(flagOf).join(', ')}`
    const key = issue.path[0] as keyof SimulatorOptions
    return `${flagOf(key)} ${JSON.stringify(given[key])}: ${wanted(key)}`
  })
  throw new MirrorError('usage-invalid', `The simulator cannot start: ${[...new Set(problems)].join('; ')}`, {
    hint: 'Run `task-mirror simulate --help` for the options and their defaults.',
  })
}

/** One command-line flag of `simulate`. */
interface SimulatorFlag {
  key: keyof SimulatorOptions
  /** The flag, such as `--cap-items`; `value` is its placeholder, such as `<number>`, where it takes a value. */
  flag: string
  value: string | null
  about: string
  /** Text for the help; null where there is no default. */
  default: string | null
}

/** The flags of `simulate` in the order of the table; `simulatorOptions` takes their values under `key`. */
export function simulatorFlags(): SimulatorFlag[] {
  return (Object.keys(table) as (keyof SimulatorOptions)[]).map((key) => {
    const preset = SIMULATOR_DEFAULTS[key]
    return {
      key,
      flag: flagOf(key),
      value: valueTextOf(key),
      about: table[key].description ?? '',
      default:
        preset === undefined || preset === '' || (Array.isArray(preset) && preset.length === 0) ? null : `${preset}`,
    }
  })
}

/** A switch takes no value, unless it is on by default and can only be turned off. */
function valueTextOf(key: keyof SimulatorOptions): string | null {
  const preset = SIMULATOR_DEFAULTS[key]
  if (preset === false) return null
  if (preset === true) return '<true|false>'
  const choices = choicesOf(key)
  if (choices !== null) return `<${choices.join('|')}>`
  if (typeof preset === 'number') return key.endsWith('Ms') ? '<ms>' : '<number>'
  return Array.isArray(preset) ? '<list>' : '<text>'
}

function choicesOf(key: keyof SimulatorOptions): string[] | null {
  const kind = kindOf(key)
  return kind instanceof z.ZodEnum ? kind.options.map(String) : null
}

/** The schema of an option without its default. */
function kindOf(key: keyof SimulatorOptions) {
  return table[key].def.innerType
}

function wanted(key: keyof SimulatorOptions): string {
  return `must be ${kindOf(key).description ?? `one of ${choicesOf(key)?.join(', ')}`}`
}
