// docs/schema.md from the comments of the migrations. Pure.
import { describeSchema } from '../src/mirror/maintenance/describe-schema.ts'

/** The whole document. */
export function schemaDocument(migrations: readonly string[]): string {
  const all = describeSchema(migrations)
  const parts = all.map((one) => {
    const columns = one.columns.map(({ name, type, about }) =>
      one.kind === 'table' ? [`\`${name}\``, type, about] : [`\`${name}\``, about],
    )
    const head = one.kind === 'table' ? ['column', 'type', 'what it holds'] : ['column', 'what it holds']
    const table = columns.length === 0 ? '' : `\n${markdownTable(head, columns)}\n`
    return `## ${one.name}\n\n${one.kind === 'view' ? 'View. ' : ''}${escaped(one.about)}\n${table}`
  })
  return `${INTRODUCTION}\n${parts.join('\n')}`
}

const INTRODUCTION = `# Schema of the mirror

The mirror is a SQLite file that any program may read while task-mirror goes on writing. Tables and views are a contract:
columns are added, never renamed or removed. Times are epoch milliseconds unless a description says otherwise.

This page is made from the comments of the migrations by \`npm run docs\`; a test keeps it current.
`

function markdownTable(head: string[], rows: string[][]): string {
  const cells = [head, ...rows.map((row) => row.map(escaped))]
  const widths = head.map((_, index) => Math.max(...cells.map((row) => (row[index] as string).length)))
  const line = (row: string[]) => `| ${row.map((cell, index) => cell.padEnd(widths[index] as number)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...cells.slice(1).map(line)].join('\n')
}

const escaped = (text: string): string => text.replaceAll('|', '\\|')
