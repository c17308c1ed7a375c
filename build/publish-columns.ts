// `npm run columns`: the code that names every column, from src/task/columns.ts.
import { writeFileSync } from 'node:fs'
import { ORDINARY_TEXT, ordinaryTextSource, TASK_ROW, taskRowSource } from './spelled-out.ts'

writeFileSync(TASK_ROW, taskRowSource())
writeFileSync(ORDINARY_TEXT, ordinaryTextSource())
