// The log: pino's JSON lines, made readable on a terminal. Written synchronously, so that no last line is lost.
// Callers log chosen fields, never whole requests, tasks or errors of the HTTP library.
import { pino } from 'pino'
import type { Facts } from './errors.ts'
import type { LogLevel } from './log-levels.ts'

export interface Log {
  debug(fields: Facts, message: string): void
  info(fields: Facts, message: string): void
  warn(fields: Facts, message: string): void
  error(fields: Facts, message: string): void
}

export interface LogOptions {
  level: LogLevel
  /** Takes whole lines; must write before it returns. */
  write: (line: string) => void
  /** For people instead of JSON. */
  pretty: boolean
  colour: boolean
}

export async function createLog(options: LogOptions): Promise<Log> {
  const format = options.pretty ? await prettyFormat(options.colour) : (line: string) => line
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => options.write(format(line)) },
  )
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  }
}

/** Loaded only for a terminal. The factory formats in place: a pino transport would do it in a worker, and lose lines. */
async function prettyFormat(colorize: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty')
  return prettyFactory({ colorize, singleLine: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' })
}
