// Writes row.ts and export/encode/ordinary-text.ts from the table of columns: `npm run columns`. Not part of the
// command line.
import { writeFileSync } from 'node:fs'
import { ORDINARY_TEXT, ordinaryTextSource, TASK_ROW, taskRowSource } from './spelled-out.ts'

writeFileSync(TASK_ROW, taskRowSource())
writeFileSync(ORDINARY_TEXT, ordinaryTextSource())
