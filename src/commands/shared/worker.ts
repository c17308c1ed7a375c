// Entry of the thread that reads for commands; see reading.ts.
import { serveWork } from '../../mirror/reading-thread.ts'
import { reading } from './reading.ts'

serveWork(reading)
