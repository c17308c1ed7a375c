// Where the writer's thread begins. Apart from the rest of it, so that the thread starts before that is loaded.
import { entryBeside } from '../../threads/early.ts'

export const WRITER_THREAD = entryBeside(import.meta.url, 'worker')
