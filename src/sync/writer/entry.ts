// Where the writer's thread begins. Apart from the rest, which is loaded while it starts.
import { entryBeside } from '../../threads/early.ts'

export const WRITER_THREAD = entryBeside(import.meta.url, 'worker')
