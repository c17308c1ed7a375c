// Writes config/task-mirror.schema.json from the schema: `npm run schema`. Not part of the command line.
import { writeFileSync } from 'node:fs'
import { jsonSchema } from './schema.ts'

const target = new URL('../../config/task-mirror.schema.json', import.meta.url)
writeFileSync(target, `${JSON.stringify(jsonSchema(), null, 2)}\n`)
