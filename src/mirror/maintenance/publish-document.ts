// Writes docs/schema.md from the migrations: `npm run docs`. Not part of the command line.
import { writeFileSync } from 'node:fs'
import { migrations } from '../schema.ts'
import { schemaDocument } from './schema-document.ts'

const target = new URL('../../../docs/schema.md', import.meta.url)
writeFileSync(target, schemaDocument(migrations().map(({ sql }) => sql)))
