// The two pieces of code that name every column of a task, as text: names that vary at run time cost three times as much.
// `npm run columns` writes them; no build begins and no test passes where they are not what the table says.
import { readFileSync } from 'node:fs'
import { type Field, type Fields, isFields, TASK_COLUMNS, TASK_FIELDS } from '../src/task/columns.ts'

export const TASK_ROW = new URL('../src/task/row.ts', import.meta.url)
export const ORDINARY_TEXT = new URL('../src/export/encode/ordinary-text.ts', import.meta.url)

/** Throws where one of them was not written anew after the table. */
export function refuseOutdated(read = (file: URL) => readFileSync(file, 'utf8')): void {
  if (read(TASK_ROW) === taskRowSource() && read(ORDINARY_TEXT) === ordinaryTextSource()) return
  throw new Error('The table in src/task/columns.ts is newer than the code that names its columns: run npm run columns')
}

const WRITTEN =
  '// Written by `npm run columns` from src/task/columns.ts: every column by its name, because names that vary cost more.'

/** Of a snapshot, as the written file names it: no import of this one. */
const COLUMNS = `'../read/columns.ts'`

export function taskRowSource(): string {
  const others = TASK_COLUMNS.filter((name) => name !== 'id')
  return `${WRITTEN}
import type { Integer, TaskRow } from './columns.ts'

/** A row of which nothing but the id is known. */
export function emptyRow(id: string): TaskRow {
  return {
    id,
${others.map((name) => `    ${name}: null,`).join('\n')}
  }
}

/** The columns of a row, by number. */
export function valuesOf(row: TaskRow): (string | Integer | null)[] {
  return [
${TASK_COLUMNS.map((name) => `    row.${name},`).join('\n')}
  ]
}
`
}

export function ordinaryTextSource(): string {
  const columns = TASK_COLUMNS.filter((name) => name !== 'extra')
  const members = new Map(TASK_FIELDS)
  members.delete('id')
  return `${WRITTEN}
import { positionOf, type RawRow } from ${COLUMNS}

${columns.map((name) => `const ${constant(name)} = positionOf('${name}')`).join('\n')}

/**
 * The same text as \`taskText\` for a row without \`extra\`, straight from the array SQLite gives: an object per row and a
 * loop over fields cost a third of the export's speed. A test holds the two together.
 */
export function ordinaryText(row: RawRow): string {
  let text = \`{"id":\${JSON.stringify(row[ID])}\`
${membersSource(members)}  return \`\${text}}\`
}
`
}

const constant = (name: string): string => name.toUpperCase()
const cellOf = ({ name }: Field): string => `row[${constant(name)}]`

/** Statements that append to the variable `text`. */
function membersSource(fields: Fields, text = 'text'): string {
  return [...fields]
    .map(([name, field]) => {
      if (isFields(field)) return objectSource(name, field, text)
      const value = field.kind === 'text' ? `JSON.stringify(${cellOf(field)})` : cellOf(field)
      return `  if (${cellOf(field)} !== null) ${text} += \`,"${name}":\${${value}}\`\n`
    })
    .join('')
}

function objectSource(name: string, fields: Fields, text: string): string {
  const inner = `${text}${name[0]?.toUpperCase()}${name.slice(1)}`
  return `  let ${inner} = ''
${membersSource(fields, inner)}  if (${inner} !== '') ${text} += \`,"${name}":{\${${inner}.slice(1)}}\`
`
}
