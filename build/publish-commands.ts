// `npm run docs`: docs/commands.md.
import { writeFileSync } from 'node:fs'
import { commandsDocument } from './commands-document.ts'

writeFileSync(new URL('../docs/commands.md', import.meta.url), await commandsDocument())
