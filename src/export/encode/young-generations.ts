// What V8 may do while rows pass through: saves memory, changes nothing written. Of the whole process; set back after.
import { setFlagsFromString } from 'node:v8'

/**
 * Whether V8's young generation may go on growing. On the main thread, which cannot be given a limit
 * as other threads can, V8 doubles it up to 128 MB as long as rows pass through, and nothing gets faster by it. V8 reads the
 * flag each time it thinks of growing.
 */
export function letYoungGenerationsGrow(isWanted: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${isWanted ? 2 : 1}`)
}

/** Whether more threads may clear a young generation; with every core at work that costs a thirtieth of the time. */
export function letScavengesSpread(isWanted: boolean): void {
  setFlagsFromString(isWanted ? '--parallel-scavenge' : '--no-parallel-scavenge')
}
