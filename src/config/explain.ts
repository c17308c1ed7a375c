// What zod finds wrong with a configuration, in sentences. Repeats no text that may be a secret, misplaced or not.
import { z } from 'zod'
import { listed, printable } from '../shown.ts'
import { KEYS, valueAt } from './keys.ts'
import { nearest } from './nearest.ts'
import { schemaOfKey } from './schema.ts'

type Issue = z.core.$ZodIssue

/** One sentence per problem of a whole configuration, such as "sync.window: expected a whole number ..., got 0". */
export function explainIssues(issues: readonly Issue[], input: unknown): string[] {
  return issues.flatMap((issue) => {
    const key = issue.path.map(String).join('.')
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((name) => explainUnknown(key === '' ? name : `${key}.${name}`))
    }
    if (key === '') return [`expected an object, got ${typeName(input)}`]
    return [`${key}: ${explainValue(key, issue, valueAt(input, key))}`]
  })
}

/** What is wrong with the value of `key`, such as "expected a whole number from 1 to 64, got 0". */
export function explainValue(key: string, issue: Issue, value: unknown): string {
  const own = /^expected /.test(issue.message) ? issue.message : `expected ${expectation(key)}`
  const isOfKey = KEYS.some((other) => `${key}.`.startsWith(`${other}.`))
  if (typeof value !== 'string' || value === '' || !isOfKey) return `${own}, got ${typeName(value)}`
  if (MAY_BE_SECRET.test(key)) return `${own}, got text (not shown: it may hold a secret)`
  const short = value.length > MOST_SHOWN ? `${value.slice(0, MOST_SHOWN)}...` : value
  return `${own}, got ${printable(JSON.stringify(short))}`
}

const MOST_SHOWN = 40

/** Keys where users may put a secret: in a URL (also in place of a host), behind a header's name, in `service.auth`. */
const MAY_BE_SECRET = /Url$|hosts\b|redactHeaders|^service\.(auth\.|proxy$)/i

/** Such as `service` and `service.auth`. */
const SECTIONS = new Set(KEYS.map((key) => key.slice(0, key.lastIndexOf('.'))))

function explainUnknown(key: string): string {
  const name = key.split('.').at(-1) ?? key
  if (/^(api[-_]?)?(key|token|secret)$/i.test(name)) {
    return `${key}: the API key is never part of the configuration; set TASK_MIRROR_API_KEY or TASK_MIRROR_API_KEY_FILE`
  }
  if (KEYS.includes(key)) {
    const nested = key.split('.').reduceRight((inner, part) => `{"${part}": ${inner}}`, '...')
    return `${key}: sections are written as objects: ${nested}`
  }
  const near = nearest(key, [...KEYS, ...SECTIONS])
  return near === null ? `${key}: there is no such key` : `${key}: there is no such key; did you mean ${near}?`
}

/** What `key` accepts, in words, from its JSON Schema. */
export function expectation(key: string): string {
  if (KEYS.includes(key)) {
    const unit = /Ms$/.test(key) ? ' of milliseconds' : /Bytes/.test(key) ? ' of bytes' : ''
    return describe(z.toJSONSchema(schemaOfKey(key), { io: 'input' }) as JsonSchema, unit)
  }
  const isItem = KEYS.some((other) => key.startsWith(`${other}.`))
  return isItem ? 'text' : 'an object'
}

interface JsonSchema {
  type?: string
  enum?: unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  anyOf?: JsonSchema[]
}

function describe(schema: JsonSchema, unit: string): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map((one) => describe(one, unit)).join(' or ')
  if (schema.enum !== undefined)
    return listed(
      schema.enum.map((value) => JSON.stringify(value)),
      'or',
    )
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'integer') return `a whole number${unit}${range(schema)}`
  if (schema.type === 'number') return `a number${range(schema)}`
  if (schema.type === 'array') return 'a list of texts'
  if (schema.type === 'boolean') return 'true or false'
  if (schema.type === 'null') return 'null'
  return 'text'
}

function range({ minimum, maximum, exclusiveMinimum }: JsonSchema): string {
  const least = exclusiveMinimum !== undefined ? ` above ${exclusiveMinimum}` : undefined
  if (maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return least ?? ` of at least ${minimum}`
  return least === undefined ? ` from ${minimum} to ${maximum}` : `${least}, at most ${maximum}`
}

/** The type of a value in words; only numbers are shown as they are. */
function typeName(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'text'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return 'true or false'
  return 'an object'
}
