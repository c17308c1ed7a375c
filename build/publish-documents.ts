// `npm run docs`: docs/schema.md from the migrations, docs/commands.md from the commands, docs/json.md from the lines about fields,
// the columns in docs/scale.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { migrations } from '../src/mirror/schema.ts'
import { commandsDocument, namedCommands } from './commands-document.ts'
import { jsonDocument, refuseUntold } from './json-document.ts'
import { withColumns } from './scale-document.ts'
import { schemaDocument } from './schema-document.ts'

const place = (name: string) => new URL(`../docs/${name}`, import.meta.url)
writeFileSync(place('schema.md'), schemaDocument(migrations().map(({ sql }) => sql)))
writeFileSync(place('commands.md'), await commandsDocument())
refuseUntold((await namedCommands()).map(({ name }) => name))
writeFileSync(place('json.md'), jsonDocument())
writeFileSync(place('scale.md'), withColumns(readFileSync(place('scale.md'), 'utf8')))
