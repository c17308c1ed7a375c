// CSV by RFC 4180: a header, CRLF behind every row, quotes doubled. The columns of Parquet; integers with all digits,
// moments as epoch milliseconds, JSON as text, null as an empty cell, empty text as `""`. Knows only rows and text.
import { positionOf } from '../read/columns.ts'
import type { FormatCode } from './format.ts'
import { lineFormat } from './lines.ts'

/** What spreadsheets may take for a formula, by OWASP's page on CSV injection and ASVS 1.2.10; wide forms too. */
const FORMULA = /^[=+\-@\t\r\n\0\uff1d\uff0b\uff0d\uff20]/

export const csv: FormatCode = lineFormat({
  head: ({ columns }) => `${columns.map(({ name }) => name).join(',')}\r\n`,

  liner({ columns, switches }) {
    const positions = columns.map(({ name }) => positionOf(name))
    const textCell = switches.csvSafe === true ? safeCell : cell
    return (row) => {
      let line = ''
      for (let i = 0; i < positions.length; i++) {
        const value = row[positions[i]!]!
        if (i > 0) line += ','
        if (value !== null) line += typeof value === 'string' ? textCell(value) : value
      }
      return `${line}\r\n`
    }
  },

  isQuoted: true,

  idsOf(line, { columns, switches }) {
    if (columns[0]?.name !== 'id') return []
    const id = firstCell(line)
    // The apostrophe may be part of the id, so both readings are possible.
    const isSafe = switches.csvSafe === true && id.startsWith("'") && FORMULA.test(id.slice(1))
    return isSafe ? [id.slice(1), id] : [id]
  },
})

function cell(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? quoted(text) : text
}

/** Always quoted: a spreadsheet that takes another separator must not find the beginning of a cell inside. */
function safeCell(text: string): string {
  return quoted(FORMULA.test(text) ? `'${text}` : text)
}

function quoted(text: string): string {
  return `"${text.replace(/"/g, '""')}"`
}

/** The text of the first cell. */
function firstCell(line: string): string {
  if (!line.startsWith('"')) return line.slice(0, line.search(/[,\r]/))
  let end = line.indexOf('"', 1)
  while (end !== -1 && line[end + 1] === '"') end = line.indexOf('"', end + 2)
  return line.slice(1, end).replaceAll('""', '"')
}
