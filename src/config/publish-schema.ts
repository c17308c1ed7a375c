// Writes config/task-mirror.schema.json and docs/configuration.md from the schema: `npm run schema`. Not part of the
// command line.
import { writeFileSync } from 'node:fs'
import { configurationDocument } from './document.ts'
import { jsonSchema } from './schema.ts'

const place = (name: string) => new URL(`../../${name}`, import.meta.url)
writeFileSync(place('config/task-mirror.schema.json'), `${JSON.stringify(jsonSchema(), null, 2)}\n`)
writeFileSync(place('docs/configuration.md'), configurationDocument())
