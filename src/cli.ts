#!/usr/bin/env node
// The process: checks Node's version before anything else is loaded, connects streams and signals to `run`, and exits
// with its code. The only file that does so. It imports nothing at the top: it must work on a Node on which the rest of
// the program would crash.

const NEEDED = [22, 19]
/** The time a run has to commit work in progress; on a busy machine, exiting takes a part of the 5 s as well. */
const GRACE_MS = 4000
/** Idle connections and the like may keep the process this long after its work. */
const LINGER_MS = 100
/** The longest wait for a full pipe; no signal is handled meanwhile. */
const LONGEST_STALL_MS = 5000
const PAUSE_MS = 20
/** The exit code when the machine refuses something, such as disk space; see EXIT in errors.ts. */
const EXIT_MACHINE = 7
const SHELL = '/bin/sh'
const SIGNALS = [
  { name: 'SIGHUP', exitCode: 129 },
  { name: 'SIGINT', exitCode: 130 },
  { name: 'SIGTERM', exitCode: 143 },
] as const

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < NEEDED[0]! || (major === NEEDED[0]! && minor < NEEDED[1]!)) {
  console.error(
    `task-mirror needs Node ${NEEDED.join('.')} or newer; this is Node ${process.versions.node}.\n` +
      'Install one; in a clone `npm ci` has brought one along: put its node_modules/.bin first in your PATH.',
  )
  process.exitCode = 2
} else {
  const stop = new AbortController()
  main(stop).then((exitCode) => leave(withLog(exitCode), stop.signal), crash)
}

/** Why lines of the log are missing, as an error code; null where none are. */
let logLost: string | null = null
/** How long stderr has taken nothing. */
let stalledMs = 0

async function main(stop: AbortController): Promise<number> {
  // Libraries open connections of their own, and must not read from this variable that certificates need no check.
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
  if (process.argv.length === 3 && process.argv[2] === '--version') return printVersion()
  const { writeSync } = process.getBuiltinModule('node:fs')
  const { startThreadOf } = await import('./commands/shared/early.ts')
  startThreadOf(process.argv[2])
  const { MirrorError } = await import('./errors.ts')
  const { run } = await import('./program.ts')

  let stopping = false
  for (const { name, exitCode } of SIGNALS) {
    process.on(name, () => {
      // When a terminal closes, both the kernel and the shell send SIGHUP.
      if (stopping && name === 'SIGHUP') return
      if (stopping) leaveNow(exitCode)
      stopping = true
      stop.abort(new MirrorError('interrupted', `Stopped by ${name}`, { facts: { signal: name, exitCode } }))
      setTimeout(leaveNow, GRACE_MS, exitCode).unref()
    })
  }
  // A reader of stdout that has gone (`| head`) is an ordinary end: stop writing for it, and say nothing.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') {
      stop.abort(new MirrorError('interrupted', 'stdout was closed', { facts: { signal: 'EPIPE', exitCode: 0 } }))
    }
  })

  return run(
    process.argv.slice(2),
    {
      stdout: process.stdout,
      stderr: {
        isTTY: process.stderr.isTTY === true,
        columns: () => process.stderr.columns,
        write: (text) => writeAll(writeSync, text),
      },
      env: process.env,
      onProgressRequest: (listener) => {
        if (process.platform !== 'win32') process.on('SIGUSR2', listener)
      },
    },
    stop.signal,
  )
}

/** Prints the version as the program itself does, without loading it. */
async function printVersion(): Promise<number> {
  const { toolVersion } = await import('./version.ts')
  // The reader of stdout has gone and wants no more.
  process.stdout.on('error', () => undefined)
  process.stdout.write(`${toolVersion()}\n`)
  return 0
}

/**
 * Writes to stderr synchronously, so that no last line is lost. A full disk, or a pipe that nobody reads, does not end
 * a run, but the exit code shows it.
 */
function writeAll(writeSync: typeof import('node:fs').writeSync, text: string): void {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(2, rest))
      stalledMs = 0
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'EAGAIN' && stalledMs < LONGEST_STALL_MS) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
        stalledMs += PAUSE_MS
        continue
      }
      // A stderr that fails must not end the run.
      if (/^(EAGAIN|ENOSPC|EDQUOT|EIO)$/.test(code)) logLost = code
      return
    }
  }
}

/** The exit code of a run that ended, but whose log may have lost lines. */
function withLog(exitCode: number): number {
  if (logLost === null) return exitCode
  const todo = logLost === 'EAGAIN' ? 'read it' : 'make room for it'
  console.error(`task-mirror: lines of this log are missing: it could not be written (${logLost}); ${todo}`)
  return exitCode === 0 ? EXIT_MACHINE : exitCode
}

/**
 * Ends the process once stdout has been written; after a signal it does not wait for a slow reader. The process ends by
 * itself where nothing is left open: `process.exit` may wait forever for a V8 compiler thread that waits for the
 * garbage collection of a thread that is already exiting (https://github.com/nodejs/node/issues/54918).
 */
function leave(exitCode: number, signal: AbortSignal): void {
  if (signal.aborted) process.exit(exitCode)
  process.exitCode = exitCode
  process.stdout.write('', () => setTimeout(() => process.exit(exitCode), LINGER_MS).unref())
}

/**
 * Ends the process whatever its threads are doing. `process.exit` waits for them, and a long SQLite statement cannot be
 * interrupted; replacing the process by another program (exec) ends them all, even where this is PID 1. A shell starts
 * in a millisecond. Where there is none Node is started, which may take a second on a busy machine.
 */
function leaveNow(exitCode: number): void {
  const { LD_LIBRARY_PATH } = process.env
  if (process.platform !== 'win32' && process.execve !== undefined) {
    const isShell = process.getBuiltinModule('node:fs').existsSync(SHELL)
    const [file, ...args] = isShell
      ? ([SHELL, '-c', `exit ${exitCode}`] as const)
      : ([process.execPath, '-e', `process.exit(${exitCode})`] as const)
    process.execve(file, [file, ...args], { ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }) })
  }
  process.exit(exitCode)
}

/** The last resort for an error that `run` itself did not catch: one line, exit 1. */
function crash(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  // Happens while the program is being loaded, before anything could report it in better words.
  if (/EMFILE|ENFILE|too many open files/i.test(message)) {
    console.error(
      'task-mirror: the limit of open files is too low: raise it (ulimit -n) and run the same command again',
    )
    process.exit(EXIT_MACHINE)
  }
  const debug = process.argv.includes('debug') || process.env.TASK_MIRROR_LOG_LEVEL === 'debug'
  console.error(
    debug && error instanceof Error
      ? (error.stack ?? message)
      : `task-mirror: unforeseen failure: ${message.split('\n')[0]} (--log-level debug shows where)`,
  )
  process.exit(1)
}
