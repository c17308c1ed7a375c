// What a configuration may hold: one zod schema, from which the type and the published JSON Schema come.
import { z } from 'zod'
import { COMPRESSIONS } from '../export/encode/compression.ts'
import { FORMAT_NAMES } from '../export/formats.ts'
import { HEADER_NAME } from '../http-policy.ts'
import { DEFAULTS } from './defaults.ts'
import {
  bytes,
  count,
  databaseFile,
  durationMs,
  expecting,
  filePath,
  hasUserInfo,
  hostNames,
  httpUrl,
  isTimezone,
  text,
} from './kinds.ts'

/** A section of keys: each takes its default from `defaults` by name; nested sections bring defaults of their own. */
function section<Shape extends Record<string, z.ZodType>>(defaults: Record<keyof Shape, unknown>, shape: Shape) {
  const keys = Object.entries(shape).map(([name, schema]) => {
    if (schema instanceof z.ZodPrefault) return [name, schema]
    return [name, schema.default(structuredClone(defaults[name])).describe(schema.description ?? '')]
  })
  return z.strictObject(Object.fromEntries(keys) as Shape).prefault({} as never)
}

const auth = section(DEFAULTS.service.auth, {
  placement: z
    .enum(['header', 'query', 'none'])
    .describe('Where the API key is sent: in a header, in the query of the URL, or not at all.'),
  name: z
    .string()
    .regex(HEADER_NAME, expecting('the name of a header or query parameter'))
    .describe('Name of the header or query parameter.'),
  prefix: z
    .string()
    .regex(/^[\x20-\x7e]*$/, expecting('printable ASCII text'))
    .describe('Text before the key, its space included; "" for the key alone.'),
  on: z.enum(['all', 'detail']).describe('Which requests carry the key: all, or only those for one task.'),
})

const service = section(DEFAULTS.service, {
  baseUrl: httpUrl('a valid URL that begins with http:// or https://, such as https://tasks.example.com')
    .refine((value) => !URL.canParse(value) || !hasUserInfo(value), expecting('a URL without user and password'))
    .refine((value) => !/[?#]/.test(value), expecting('a URL without query and fragment'))
    .nullable()
    .describe('Base address of the service, such as https://tasks.example.com/v1.'),
  auth: auth.describe('How the API key is sent; the key itself comes from the environment.'),
  connectTimeoutMs: durationMs(1).describe('How long a connection may take to open.'),
  requestTimeoutMs: durationMs(1).describe('Total deadline of one request, its body included.'),
  maxResponseBytes: bytes(1024).describe('Largest accepted body, counted after decompression.'),
  concurrency: count(1, 64).describe('Maximum number of requests in flight.'),
  maxBytesInFlight: bytes(65_536).describe(
    'About how many bytes of answers may be under way or waiting to be taken in; an answer with few tasks may be larger.',
  ),
  requestsPerSecond: z
    .number()
    .gt(0)
    .max(10_000)
    .nullable()
    .describe('Maximum requests per second; null for no limit except what the service asks for.'),
  maxRetries: count(0, 100).describe(
    'How often a failed request is repeated before it counts as failed; one that is answered 429 without Retry-After three times more, unless this is 0.',
  ),
  maxRetryAfterMs: durationMs(0).describe(
    'Longest Retry-After that a run waits for; a longer one ends it with exit 4.',
  ),
  allowInsecure: z.boolean().describe('Allows plain http to a host other than this machine.'),
  proxy: z
    .union(
      [z.literal('environment'), httpUrl('"environment" or an http URL')],
      expecting('"environment" or an http URL'),
    )
    .nullable()
    .describe(
      'A proxy: its URL, with user and password if it wants them, or "environment" for HTTPS_PROXY (http_proxy) and NO_PROXY; null for none.',
    ),
})

const sync = section(DEFAULTS.sync, {
  window: count(1, 1000).describe('Items asked for in one request; the service allows 1000.'),
  overlap: count(1, 500).describe(
    'Items that neighbouring windows share, about half of an answer at most; they prove that nothing lies between.',
  ),
  settleMs: durationMs(0).describe(
    'How late a task may appear in the list, and how far createdAt may be out of order.',
  ),
  fullEveryMs: durationMs(0).describe('Age of the last complete full walk at which the next one is due.'),
  openEveryMs: durationMs(0).describe(
    'Longest that an open task waits for its next check; it waits a tenth of its age, and a minute at least.',
  ),
  details: z
    .enum(['auto', 'always', 'never'])
    .describe('When single tasks are asked for: where needed, always or never.'),
  finalStatuses: z.array(text()).describe('Values of systemStatus after which a task no longer changes.'),
  maxDurationMs: durationMs(1)
    .nullable()
    .describe('Longest a run may take; it ends with exit 4 and its progress kept. null for no limit.'),
  massDeleteFraction: z
    .number()
    .min(0)
    .max(1)
    .describe('Share of the mirror beyond which deletions need --allow-mass-delete.'),
  massDeleteMinimum: count(0, Number.MAX_SAFE_INTEGER).describe(
    'Number of deletions that is always allowed, whatever their share.',
  ),
  deletionPauseMs: durationMs(0).describe(
    'Minimum time between the two look-ups that a deletion needs, if many are to be decided.',
  ),
})

const mirror = section(DEFAULTS.mirror, {
  path: databaseFile().describe('The SQLite file; a relative path starts at the working directory.'),
  busyTimeoutMs: durationMs(0).describe('How long to wait for a lock that another program holds on the file.'),
  fileMode: z
    .string(expecting('an octal file mode as text, such as "0640"'))
    .regex(/^0?6[046][046]$/, expecting('an octal file mode as text, such as "0640"'))
    .describe('Octal mode of a newly created mirror.'),
})

const rejected = section(DEFAULTS.rejected, {
  maxBytes: bytes(0).describe(
    'Maximum size of what is set aside: raw text, reason in words and 200 bytes for each item. The run stops with exit 3 before the window that would exceed it.',
  ),
})

const s3 = section(DEFAULTS.export.s3, {
  encryption: z
    .enum(['sse-s3', 'sse-kms'])
    .nullable()
    .describe(
      'Encryption to request from the storage; the export fails if the storage does not confirm it. null leaves it to the bucket.',
    ),
  kmsKeyId: text().nullable().describe("Id or ARN of the key for sse-kms; null for the storage's own."),
  insecureHosts: hostNames().describe('Hosts other than this machine whose storage may be reached over plain http.'),
})

const exporting = section(DEFAULTS.export, {
  dir: filePath().describe('Where snapshots are published if --out is not given; relative to the working directory.'),
  format: z.enum(FORMAT_NAMES).describe('Format of a snapshot in export.dir; --out has its own.'),
  compression: z.enum(COMPRESSIONS).describe('Compression of a snapshot in export.dir; snappy is for Parquet only.'),
  keep: count(1, 1_000_000)
    .nullable()
    .describe('How many snapshots to keep in export.dir; null keeps all. Elsewhere --keep says it.'),
  invalidJson: z
    .enum(['keep', 'replace'])
    .describe(
      'Lone surrogates in JSON, which DuckDB and others refuse, and polars reads as NUL: keep is exact, replace puts U+FFFD in their place.',
    ),
  s3: s3.describe('Object storage; credentials and endpoint come from the environment.'),
  redactHeaders: z
    .array(text())
    .describe(
      'Headers of recorded requests and responses whose values are replaced in snapshots, beside all whose names sound like credentials, and credentials in URLs; an empty list keeps everything.',
    ),
})

const TIMEZONE = 'a time zone such as "UTC" or "Europe/Berlin"'

const schedule = section(DEFAULTS.schedule, {
  sync: text().nullable().describe('Cron expression for sync; null for never.'),
  export: text().nullable().describe('Cron expression for export; null for never.'),
  timezone: text(TIMEZONE).refine(isTimezone, expecting(TIMEZONE)).describe('Time zone of the cron expressions.'),
  jitterMs: durationMs(0).describe(
    'A scheduled run begins later by a random time up to this, so that many schedulers do not ask at once.',
  ),
  maxAgeMs: durationMs(1)
    .nullable()
    .describe(
      'Age of the mirror beyond which /healthz answers 503; null for what the last three pauses between syncs took, a pause that goes on included, a minute at least.',
    ),
  listen: z
    .string()
    .regex(/^(.+:)?\d{1,5}$/, expecting('an address such as "127.0.0.1:8080"'))
    .refine((value) => Number(/\d+$/.exec(value)?.[0]) <= 65_535, expecting('a port of at most 65535'))
    .nullable()
    .describe(
      'Address of /healthz, /metrics and the status page; a port alone is on this machine only; null for none.',
    ),
  hosts: hostNames().describe(
    'Host names under which the pages may be requested, besides IP addresses and localhost; others are refused (403).',
  ),
  tokenFile: filePath()
    .nullable()
    .describe(
      'File with a token that the status page and /metrics require, as Bearer token or as the password of Basic authentication; read at the start; null for none.',
    ),
})

const notify = section(DEFAULTS.notify, {
  healthcheckUrl: httpUrl('an http or https URL')
    .nullable()
    .describe(
      'URL that is pinged when a run of sync or backfill starts (/start) and ends (as it is, or with /<exit code>); null for none.',
    ),
  exportHealthcheckUrl: httpUrl('an http or https URL')
    .nullable()
    .describe('The same for export, as a separate check; null for none.'),
  insecureHosts: hostNames().describe('Hosts other than this machine that may be pinged over plain http.'),
  metricsFile: filePath()
    .nullable()
    .describe("File for metrics of the last runs, for node_exporter's textfile collector; null for none."),
})

export const configSchema = z.strictObject({
  $schema: z.string().optional().describe('For editors; not read.'),
  service,
  sync,
  mirror,
  rejected,
  export: exporting,
  schedule,
  notify,
})

/** The whole configuration, every key set. Durations are milliseconds, sizes are bytes. */
export type Config = Omit<z.output<typeof configSchema>, '$schema'>

/** The schema of the value of `key`. */
export function schemaOfKey(key: string): z.ZodType {
  let schema: z.ZodType = configSchema
  for (const name of key.split('.')) {
    const shape: Record<string, z.ZodType> = (inner(schema) as z.ZodObject).shape as Record<string, z.ZodType>
    const next = shape[name]
    if (next === undefined) throw new Error(`No such key: ${key}`)
    schema = next
  }
  return schema
}

function inner(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault
    ? inner(schema.unwrap() as z.ZodType)
    : schema
}

/** The JSON Schema of the configuration file, as published in config/task-mirror.schema.json. */
export function jsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' })
  return { ...schema, title: 'task-mirror.json', description: 'Configuration of task-mirror; every key is optional.' }
}
