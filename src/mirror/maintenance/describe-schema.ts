// Tables and views as the migrations' comments describe them: one column to a line. Pure.

interface DescribedColumn {
  name: string
  /** Declared type and constraints; empty for a view. */
  type: string
  about: string
}

interface Described {
  kind: 'table' | 'view'
  name: string
  about: string
  columns: DescribedColumn[]
}

/** Every table and view in the order of the migrations. */
export function describeSchema(migrations: readonly string[]): Described[] {
  const found: Described[] = []
  for (const sql of migrations) {
    let comment: string[] = []
    let open: Described | null = null
    for (const line of sql.split('\n')) {
      if (open !== null) {
        const column = open.kind === 'table' ? tableColumn(line) : viewColumn(line)
        if (column !== null) open.columns.push(column)
        if (/;\s*(--.*)?$/.test(line)) open = null
        continue
      }
      const added = /^ALTER TABLE (\w+) ADD COLUMN ([^;]*);(.*)$/.exec(line)
      if (added !== null) {
        const column = tableColumn(`  ${added[2]},${added[3]}`)
        if (column !== null) found.find(({ name }) => name === added[1])?.columns.push(column)
      }
      const start = /^CREATE (TABLE|VIEW) (\w+)/.exec(line)
      if (start !== null) {
        const kind = start[1] === 'TABLE' ? 'table' : 'view'
        const made: Described = { kind, name: start[2] as string, about: comment.join(' '), columns: [] }
        const before = found.findIndex((one) => one.name === made.name)
        // A later migration may make a view anew.
        if (before === -1) found.push(made)
        else found[before] = made
        open = /;\s*$/.test(line) ? null : made
      }
      comment = line.startsWith('-- ') ? [...comment, line.slice(3)] : []
    }
  }
  return found
}

/** `  name TYPE constraints, -- about`. */
function tableColumn(line: string): DescribedColumn | null {
  const [, name, type, about = ''] = /^ {2}([a-z][a-z0-9_]*) ([A-Z][A-Z0-9 ]*?),?\s*(?:-- (.*))?$/.exec(line) ?? []
  return name === undefined || type === undefined ? null : { name, type: type.trim(), about }
}

/** A column of a view is described behind its last line: `  expression AS name, -- about`. */
function viewColumn(line: string): DescribedColumn | null {
  const [, name, about] = /\b([a-z][a-z0-9_]*),?\s+-- (.*)$/.exec(line) ?? []
  return name === undefined || about === undefined ? null : { name, type: '', about }
}
