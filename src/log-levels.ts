// The levels of the log, apart from log.ts so that the help can name them without loading the logger.
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
