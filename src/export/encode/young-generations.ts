// What V8 may do with the part of its heaps where objects begin, while rows pass through: it saves memory, never changes
// what is written. Of the whole process: both are to be set back.
import { setFlagsFromString } from 'node:v8'

/**
 * Whether the part of the heaps where objects begin may go on growing. On the main thread, which cannot be given a limit
 * as other threads can, V8 doubles it up to 128 MB as long as rows pass through, and nothing gets faster by it. V8 reads the
 * flag each time it thinks of growing.
 */
export function letYoungGenerationsGrow(isWanted: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${isWanted ? 2 : 1}`)
}

/**
 * Whether clearing a young generation may take more threads than the one whose it is. With a key range in work on every
 * core that only costs: a thirtieth of the time. V8 reads the flag at each clearing.
 */
export function letScavengesSpread(isWanted: boolean): void {
  setFlagsFromString(isWanted ? '--parallel-scavenge' : '--no-parallel-scavenge')
}
