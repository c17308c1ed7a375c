// Entry of the thread that reads for commands; see reading.ts.
import { serve } from '../mirror/reading-worker.ts'
import { reading } from './reading.ts'

serve(reading)
