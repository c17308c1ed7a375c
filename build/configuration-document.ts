// docs/configuration.md out of the schema: every key with what it takes, its default and what it is for. Pure.
import { DEFAULTS } from '../src/config/defaults.ts'
import { expectation } from '../src/config/explain.ts'
import { environmentName, KEYS, valueAt } from '../src/config/keys.ts'
import { schemaOfKey } from '../src/config/schema.ts'

const SECTIONS: Record<string, string> = {
  service: 'The service: address, key, limits.',
  sync: 'How a run reads the service.',
  mirror: 'The SQLite file.',
  rejected: 'Items that cannot be stored as tasks.',
  export: 'Snapshots.',
  schedule: 'The scheduler, `task-mirror schedule`.',
  notify: 'Notifications about runs.',
}

const INTRODUCTION = `# Configuration

Made from the schema by \`npm run schema\`; do not edit it by hand.

Everything has a default but \`service.baseUrl\`. A value comes from, in this order: a flag of the command line, an
environment variable, the configuration file, the default. \`task-mirror config show\` prints every key with its value
and where it came from.

The file is \`task-mirror.json\` in the working directory, or what \`--config\` names. It is plain JSON; editors complete it
with [config/task-mirror.schema.json](../config/task-mirror.schema.json) named under \`$schema\`.
[config/task-mirror.example.json](../config/task-mirror.example.json) is a start: in a clone, copy it to \`task-mirror.json\` beside \`config/\`.

In the environment a key is written in capitals: \`service.baseUrl\` is \`TASK_MIRROR_SERVICE_BASE_URL\`. Lists are separated
by commas there, \`null\` is the word, for flags too, and empty is as good as not set. Flags have environment variables too: \`--base-url\` is \`TASK_MIRROR_BASE_URL\`,
which wins over the key's own variable. A misspelt one
causes a warning. A path that is \`~\` or begins with \`~/\` is refused, as only a shell expands it. Durations are milliseconds here, and \`90s\`, \`50m\` or \`7d\` on the command line.

The API key is never part of the configuration: it comes from \`TASK_MIRROR_API_KEY\`, or from the file that
\`TASK_MIRROR_API_KEY_FILE\` names.
`

/** The whole document. */
export function configurationDocument(): string {
  const sections = Object.entries(SECTIONS).map(([section, about]) => {
    const keys = KEYS.filter((key) => key.startsWith(`${section}.`))
    return `## ${section}\n\n${about}\n\n${keys.map(keyText).join('\n')}\n`
  })
  return [INTRODUCTION, ...sections].join('\n')
}

function keyText(key: string): string {
  const preset = valueAt(DEFAULTS, key)
  const about = schemaOfKey(key).description ?? ''
  return `- \`${key}\` (\`${environmentName(key)}\`): ${about}\n  Takes ${expectation(key)}; default \`${JSON.stringify(preset)}\`.`
}
