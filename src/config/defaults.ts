// The defaults of every configuration key, in one literal; units are part of the names. Imports nothing.

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const MIB = 1024 * 1024

export const DEFAULTS = {
  service: {
    baseUrl: null,
    auth: { placement: 'header', name: 'authorization', prefix: 'Bearer ', on: 'all' },
    connectTimeoutMs: 10_000,
    requestTimeoutMs: MINUTE_MS,
    maxResponseBytes: 256 * MIB,
    concurrency: 8,
    maxBytesInFlight: 32 * MIB,
    requestsPerSecond: null,
    maxRetries: 6,
    maxRetryAfterMs: 5 * MINUTE_MS,
    allowInsecure: false,
    proxy: null,
  },
  sync: {
    window: 1000,
    overlap: 10,
    settleMs: MINUTE_MS,
    fullEveryMs: 24 * HOUR_MS,
    openEveryMs: 24 * HOUR_MS,
    details: 'auto',
    finalStatuses: ['DONE'],
    maxDurationMs: null,
    massDeleteFraction: 0.1,
    massDeleteMinimum: 100,
    deletionPauseMs: 1_000,
  },
  mirror: { path: 'task-mirror.sqlite', busyTimeoutMs: 10_000, fileMode: '0600' },
  rejected: { maxBytes: 256 * MIB },
  export: {
    dir: 'snapshots',
    format: 'parquet',
    compression: 'zstd',
    keep: null,
    s3: { encryption: null, kmsKeyId: null, insecureHosts: [] },
    invalidJson: 'keep',
    redactHeaders: ['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key'],
  },
  schedule: {
    sync: '*/5 * * * *',
    export: null,
    timezone: 'UTC',
    jitterMs: 10_000,
    maxAgeMs: null,
    listen: '127.0.0.1:8080',
    hosts: [],
    tokenFile: null,
  },
  notify: { healthcheckUrl: null, exportHealthcheckUrl: null, insecureHosts: [], metricsFile: null },
} as const
