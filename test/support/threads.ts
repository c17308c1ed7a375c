// Writer threads are used again by the next run in the same process; each takes as long to come up as several short runs
// take. A thread of its own for every run is what the built command line has.
import { setEnvironmentData } from 'node:worker_threads'
import { KEEPS_THREADS } from '../../src/threads/early.ts'

setEnvironmentData(KEEPS_THREADS, true)
