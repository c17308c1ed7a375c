// The log: pino's JSON lines, formatted on a terminal; synchronous. Callers log chosen fields, never requests or tasks.
import { createRequire } from 'node:module'
import type { ErrorFacts } from './errors.ts'
import { printable, withoutPasswords } from './shown.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export interface Log {
  debug(fields: ErrorFacts, message: string): void
  info(fields: ErrorFacts, message: string): void
  warn(fields: ErrorFacts, message: string): void
  error(fields: ErrorFacts, message: string): void
}

interface LogOptions {
  level: LogLevel
  /** Takes whole lines; must write before it returns. */
  write: (line: string) => void
  /** Formatted for people instead of JSON. */
  pretty: boolean
  colour: boolean
}

export async function createLog(options: LogOptions): Promise<Log> {
  const format = options.pretty ? await prettyFormat(options.colour) : printable
  let logger: Log | null = null

  /** Loads the library with the first line: a quiet run writes none. */
  function log(level: keyof Log, fields: ErrorFacts, message: string): void {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(options.level)) return
    logger ??= makeLogger(options.level, (line) => options.write(format(line)))
    logger[level](masked(fields), withoutPasswords(message))
  }

  return {
    debug: (fields, message) => log('debug', fields, message),
    info: (fields, message) => log('info', fields, message),
    warn: (fields, message) => log('warn', fields, message),
    error: (fields, message) => log('error', fields, message),
  }
}

function masked(fields: ErrorFacts): ErrorFacts {
  const entries = Object.entries(fields)
  return Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === 'string' ? withoutPasswords(value) : value]),
  )
}

function makeLogger(level: LogLevel, write: (line: string) => void): Log {
  const { pino } = createRequire(import.meta.url)('pino') as typeof import('pino')
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write },
  )
}

/** Loaded for a terminal only. Formats in this thread: a pino transport would use a worker, and lose lines. */
async function prettyFormat(colorize: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({ colorize, singleLine: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' })
  return (line) => format(spelledOut(line))
}

/** Doubles the backslash of escapes in JSON strings, or the formatter would turn them into line breaks and controls. */
function spelledOut(line: string): string {
  return printable(line).replace(/\\(?:u[0-9a-f]{4}|.)/g, (part) => (/["\\/]$/.test(part) ? part : `\\${part}`))
}
