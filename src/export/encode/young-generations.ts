// Flags of V8 while an export runs: they save memory and change no output. For the whole process; set back afterwards.
import { setFlagsFromString } from 'node:v8'

/**
 * Whether V8's young generation may go on growing. On the main thread, which cannot be given a limit as other threads
 * can, V8 doubles it up to 128 MB while rows pass through, and nothing gets faster by that. V8 reads the flag each time
 * it might let it grow.
 */
export function letYoungGenerationsGrow(isWanted: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${isWanted ? 2 : 1}`)
}

/** Whether V8 may use several threads to clear a young generation: with all cores busy, that costs 1/30 of the time. */
export function letScavengesSpread(isWanted: boolean): void {
  setFlagsFromString(isWanted ? '--parallel-scavenge' : '--no-parallel-scavenge')
}
