// `datasette-config`: prints the file that makes Datasette show a mirror well.
import { EXIT } from '../errors.ts'
import type { CommandSpec } from './shared/command.ts'

export const datasetteConfig: CommandSpec<{ name?: string }> = {
  name: 'datasette-config',
  summary: 'print a datasette.yaml: titles, descriptions of columns, facets and canned queries',
  examples: ['task-mirror datasette-config > datasette.yaml', 'task-mirror datasette-config --name tasks'],
  flags: [
    {
      flags: '--name <name>',
      description: 'what Datasette calls the database (default: the name of the mirror without its ending)',
    },
  ],
  async run(context, { name }) {
    const { config } = await context.config()
    const { datasetteConfigOf: text } = await import('../export/datasette.ts')
    const { parse } = await import('node:path')
    const database = name ?? parse(config.mirror.path).name
    const yaml = text(database)
    await context.print(context.json ? { schemaVersion: 1, database, yaml } : yaml.trimEnd())
    return EXIT.done
  },
}
