// docs/json.md, made of the lines about fields. Pure.
import { table } from './commands-document.ts'
import { JSON_CHAPTERS, type JsonFields, LOG_FIELDS } from './json-fields.ts'

const INTRODUCTION = `With \`--json\` a command prints one object on one line of stdout. It prints none where it fails before it has a result: the exit
code and stderr say why. New fields, and new values of those that name a kind, may come with any version
([stability.md](stability.md)): ignore what you do not know.

- Every object but that of \`get\` has \`schemaVersion\`, 1 as long as nothing is removed, renamed or of another type or unit.
- A field is always there unless its type says \`absent\`. \`[]\` is each element of an array, \`*\` any name.
- \`epoch ms\`: milliseconds since 1970 in UTC, by the clock of this machine; bounds of \`createdAt\` by that of the service.
- \`ms\`: a duration. \`share\`: from 0 to 1. All numbers but shares are integers.
- Tables of the mirror are those of [schema.md](schema.md), words those of [design.md](design.md#2-words).`

const LOG = `On stderr, where it is no terminal: one object on one line for each event. Only the help that is printed where no command is
named is plain text. Fields that are not in this table are those of \`sync\` or \`export\` above. The line whose \`msg\` is
\`Run ended\` has all those of \`sync\` that are neither arrays nor objects, or of \`export\` \`snapshotId\`, \`path\`, \`format\`,
\`rows\`, \`bytes\` and \`cut\`, but where its reader went away early. Other fields of lines of level \`debug\` may change at any time.`

/** The rows of a chapter; what the introduction says of every object is none. */
function fieldTable(fields: JsonFields): string {
  const rows = Object.entries(fields).filter(([path]) => path !== 'schemaVersion')
  return table(
    ['field', 'type', 'meaning'],
    rows.map(([path, line]) => {
      const end = line.indexOf(': ')
      return [`\`${path}\``, line.slice(0, end), line.slice(end + 2)]
    }),
  )
}

/** The commands that chapters are about, in their order. */
export const COMMANDS_TOLD: readonly string[] = [
  ...new Set(JSON_CHAPTERS.flatMap(({ title }) => title.replace(/ --.*/, '').split(', '))),
]

/** Throws for a command that no chapter is about. */
export function refuseUntold(commands: readonly string[]): void {
  const untold = commands.filter((name) => !COMMANDS_TOLD.includes(name))
  if (untold.length > 0) throw new Error(`build/json-fields.ts has no chapter on ${untold.join(', ')}: add it there`)
}

export function jsonDocument(): string {
  const chapters = JSON_CHAPTERS.flatMap(({ title, about, fields }) => [
    `## ${title}`,
    ...(about === undefined ? [] : [about]),
    fieldTable(fields),
  ])
  const all = ['# Fields of --json', '<!-- Written by `npm run docs`. -->', INTRODUCTION, ...chapters]
  return `${[...all, '## The log', LOG, fieldTable(LOG_FIELDS)].join('\n\n')}\n`
}
