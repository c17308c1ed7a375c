// Writes config/task-mirror.schema.json and docs/configuration.md from the schema: `npm run schema`.
import { writeFileSync } from 'node:fs'
import { jsonSchema } from '../src/config/schema.ts'
import { configurationDocument } from './configuration-document.ts'

const place = (name: string) => new URL(`../${name}`, import.meta.url)
writeFileSync(place('config/task-mirror.schema.json'), `${JSON.stringify(jsonSchema(), null, 2)}\n`)
writeFileSync(place('docs/configuration.md'), configurationDocument())
