// What a configuration may hold: one zod schema, from which the type and the published JSON Schema come.
import { z } from 'zod'
import { COMPRESSIONS } from '../export/encode/compression.ts'
import { FORMAT_NAMES } from '../export/formats.ts'
import { DEFAULTS } from './defaults.ts'
import {
  bytes,
  count,
  durationMs,
  expecting,
  HEADER_NAME,
  hasUserInfo,
  hostNames,
  httpUrl,
  isTimezone,
  text,
} from './kinds.ts'

const auth = z.strictObject({
  placement: z
    .enum(['header', 'query', 'none'])
    .default(DEFAULTS.service.auth.placement)
    .describe('Where the API key is sent: in a header, in the query of the URL, or not at all.'),
  name: z
    .string()
    .regex(HEADER_NAME, expecting('the name of a header or query parameter'))
    .default(DEFAULTS.service.auth.name)
    .describe('Name of the header or query parameter.'),
  prefix: z
    .string()
    .regex(/^[\x20-\x7e]*$/, expecting('printable ASCII text'))
    .default(DEFAULTS.service.auth.prefix)
    .describe('Text before the key; "" for the key alone.'),
  on: z
    .enum(['all', 'detail'])
    .default(DEFAULTS.service.auth.on)
    .describe('Which requests carry the key: all, or only those for one task.'),
})

const service = z.strictObject({
  baseUrl: httpUrl('an http or https URL')
    .refine((value) => !URL.canParse(value) || !hasUserInfo(value), expecting('a URL without user and password'))
    .refine((value) => !/[?#]/.test(value), expecting('a URL without query and fragment'))
    .nullable()
    .default(DEFAULTS.service.baseUrl)
    .describe('Base address of the service, such as https://tasks.example.com/v1.'),
  auth: auth.prefault({}).describe('How the API key is sent; the key itself comes from the environment.'),
  connectTimeoutMs: durationMs(1)
    .default(DEFAULTS.service.connectTimeoutMs)
    .describe('How long a connection may take to open.'),
  requestTimeoutMs: durationMs(1)
    .default(DEFAULTS.service.requestTimeoutMs)
    .describe('Total deadline of one request, its body included.'),
  maxResponseBytes: bytes(1024)
    .default(DEFAULTS.service.maxResponseBytes)
    .describe('Largest accepted body, counted after decompression.'),
  concurrency: count(1, 64).default(DEFAULTS.service.concurrency).describe('Maximum number of requests in flight.'),
  maxBytesInFlight: bytes(65_536)
    .default(DEFAULTS.service.maxBytesInFlight)
    .describe(
      'About how many bytes of answers may be under way or waiting to be taken in; an answer with few tasks may be larger.',
    ),
  requestsPerSecond: z
    .number()
    .gt(0)
    .max(10_000)
    .nullable()
    .default(DEFAULTS.service.requestsPerSecond)
    .describe('Maximum requests per second; null for no limit except what the service asks for.'),
  maxRetries: count(0, 100)
    .default(DEFAULTS.service.maxRetries)
    .describe('How often a failed request is repeated before it counts as failed.'),
  maxRetryAfterMs: durationMs(0)
    .default(DEFAULTS.service.maxRetryAfterMs)
    .describe('Longest Retry-After that a run waits for; a longer one ends it with exit 4.'),
  allowInsecure: z
    .boolean()
    .default(DEFAULTS.service.allowInsecure)
    .describe('Allows plain http to a host other than this machine.'),
  proxy: z
    .union(
      [z.literal('environment'), httpUrl('"environment" or an http URL')],
      expecting('"environment" or an http URL'),
    )
    .nullable()
    .default(DEFAULTS.service.proxy)
    .describe('A proxy: its URL, or "environment" for HTTPS_PROXY (http_proxy) and NO_PROXY; null for none.'),
})

const sync = z.strictObject({
  window: count(1, 1000)
    .default(DEFAULTS.sync.window)
    .describe('Items asked for in one request; the service allows 1000.'),
  overlap: count(1, 500)
    .default(DEFAULTS.sync.overlap)
    .describe('Items that neighbouring windows share, which proves that nothing lies between them.'),
  settleMs: durationMs(0)
    .default(DEFAULTS.sync.settleMs)
    .describe('How late a task may appear in the list, and how far createdAt may be out of order.'),
  fullEveryMs: durationMs(0)
    .default(DEFAULTS.sync.fullEveryMs)
    .describe('Age of the last complete full walk at which the next one is due.'),
  openEveryMs: durationMs(0)
    .default(DEFAULTS.sync.openEveryMs)
    .describe(
      'Longest that an open task waits for its next check; it waits a tenth of its age, and a minute at least.',
    ),
  details: z
    .enum(['auto', 'always', 'never'])
    .default(DEFAULTS.sync.details)
    .describe('When single tasks are asked for: where needed, always or never.'),
  finalStatuses: z
    .array(text())
    .default([...DEFAULTS.sync.finalStatuses])
    .describe('Values of systemStatus after which a task no longer changes.'),
  maxDurationMs: durationMs(1)
    .nullable()
    .default(DEFAULTS.sync.maxDurationMs)
    .describe('Longest a run may take; it ends with exit 4 and its progress kept. null for no limit.'),
  massDeleteFraction: z
    .number()
    .min(0)
    .max(1)
    .default(DEFAULTS.sync.massDeleteFraction)
    .describe('Share of the mirror beyond which deletions need --allow-mass-delete.'),
  massDeleteMinimum: count(0, Number.MAX_SAFE_INTEGER)
    .default(DEFAULTS.sync.massDeleteMinimum)
    .describe('Number of deletions that is always allowed, whatever their share.'),
  deletionPauseMs: durationMs(0)
    .default(DEFAULTS.sync.deletionPauseMs)
    .describe('Minimum time between the two look-ups that a deletion needs, if many are to be decided.'),
})

const mirror = z.strictObject({
  path: text()
    .default(DEFAULTS.mirror.path)
    .describe('The SQLite file; a relative path starts at the working directory.'),
  busyTimeoutMs: durationMs(0)
    .default(DEFAULTS.mirror.busyTimeoutMs)
    .describe('How long to wait for a lock that another program holds on the file.'),
  fileMode: z
    .string(expecting('an octal file mode as text, such as "0640"'))
    .regex(/^0?6[046][046]$/, expecting('an octal file mode as text, such as "0640"'))
    .default(DEFAULTS.mirror.fileMode)
    .describe('Octal mode of a newly created mirror.'),
})

const rejected = z.strictObject({
  maxBytes: bytes(0)
    .default(DEFAULTS.rejected.maxBytes)
    .describe('Maximum size of set-aside raw text; the run stops with exit 3 before the window that would exceed it.'),
})

const s3 = z.strictObject({
  encryption: z
    .enum(['sse-s3', 'sse-kms'])
    .nullable()
    .default(DEFAULTS.export.s3.encryption)
    .describe(
      'Encryption to request from the storage; the export fails if the storage does not confirm it. null leaves it to the bucket.',
    ),
  kmsKeyId: text()
    .nullable()
    .default(DEFAULTS.export.s3.kmsKeyId)
    .describe("Id or ARN of the key for sse-kms; null for the storage's own."),
  insecureHosts: hostNames()
    .default([...DEFAULTS.export.s3.insecureHosts])
    .describe('Hosts other than this machine whose storage may be reached over plain http.'),
})

const exporting = z.strictObject({
  dir: text()
    .default(DEFAULTS.export.dir)
    .describe('Where snapshots are published; relative to the working directory.'),
  format: z.enum(FORMAT_NAMES).default(DEFAULTS.export.format).describe('Format of a snapshot.'),
  compression: z
    .enum(COMPRESSIONS)
    .default(DEFAULTS.export.compression)
    .describe('Compression of a snapshot; snappy is for Parquet only.'),
  keep: count(1, 1_000_000)
    .nullable()
    .default(DEFAULTS.export.keep)
    .describe('How many snapshots to keep; null keeps all.'),
  invalidJson: z
    .enum(['keep', 'replace'])
    .default(DEFAULTS.export.invalidJson)
    .describe(
      'Lone surrogates in JSON, which DuckDB, polars and others refuse: keep is exact, replace puts U+FFFD in their place.',
    ),
  s3: s3.prefault({}).describe('Object storage; credentials and endpoint come from the environment.'),
  redactHeaders: z
    .array(text())
    .default([...DEFAULTS.export.redactHeaders])
    .describe(
      'Headers of recorded requests and responses whose values are replaced in snapshots, beside all whose names sound like credentials, and credentials in URLs; an empty list keeps everything.',
    ),
})

const schedule = z.strictObject({
  sync: text().nullable().default(DEFAULTS.schedule.sync).describe('Cron expression for sync; null for never.'),
  export: text().nullable().default(DEFAULTS.schedule.export).describe('Cron expression for export; null for never.'),
  timezone: text()
    .refine(isTimezone, expecting('a time zone such as "UTC" or "Europe/Berlin"'))
    .default(DEFAULTS.schedule.timezone)
    .describe('Time zone of the cron expressions.'),
  jitterMs: durationMs(0)
    .default(DEFAULTS.schedule.jitterMs)
    .describe('A scheduled run begins later by a random time up to this, so that many schedulers do not ask at once.'),
  maxAgeMs: durationMs(1)
    .nullable()
    .default(DEFAULTS.schedule.maxAgeMs)
    .describe('Age of the mirror beyond which /healthz answers 503; null for three times the pause between syncs.'),
  listen: z
    .string()
    .regex(/^(.+:)?\d{1,5}$/, expecting('an address such as "127.0.0.1:8080"'))
    .refine((value) => Number(/\d+$/.exec(value)?.[0]) <= 65_535, expecting('a port of at most 65535'))
    .nullable()
    .default(DEFAULTS.schedule.listen)
    .describe(
      'Address of /healthz, /metrics and the status page; a port alone is on this machine only; null for none.',
    ),
  hosts: hostNames()
    .default([...DEFAULTS.schedule.hosts])
    .describe(
      'Host names under which the pages may be requested, besides IP addresses and localhost; others are refused (403).',
    ),
  tokenFile: text()
    .nullable()
    .default(DEFAULTS.schedule.tokenFile)
    .describe(
      'File with a token that the status page and /metrics require, as Bearer token or as the password of Basic authentication; read at the start; null for none.',
    ),
})

const notify = z.strictObject({
  healthcheckUrl: httpUrl('an http or https URL')
    .nullable()
    .default(DEFAULTS.notify.healthcheckUrl)
    .describe(
      'URL that is pinged when a run of sync or backfill starts (/start) and ends (as it is, or with /<exit code>); null for none.',
    ),
  exportHealthcheckUrl: httpUrl('an http or https URL')
    .nullable()
    .default(DEFAULTS.notify.exportHealthcheckUrl)
    .describe('The same for export, as a separate check; null for none.'),
  insecureHosts: hostNames()
    .default([...DEFAULTS.notify.insecureHosts])
    .describe('Hosts other than this machine that may be pinged over plain http.'),
  metricsFile: text()
    .nullable()
    .default(DEFAULTS.notify.metricsFile)
    .describe("File for metrics of the last runs, for node_exporter's textfile collector; null for none."),
})

export const configSchema = z.strictObject({
  $schema: z.string().optional().describe('For editors; not read.'),
  service: service.prefault({}),
  sync: sync.prefault({}),
  mirror: mirror.prefault({}),
  rejected: rejected.prefault({}),
  export: exporting.prefault({}),
  schedule: schedule.prefault({}),
  notify: notify.prefault({}),
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
