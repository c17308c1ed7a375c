// Tables that scripts write into the documents, between two comments that readers do not see.

/**
 * `document` with `table` between `<!-- SCRIPT writes from here -->` and the next `<!-- to here -->`. Throws where they are
 * not there.
 */
export function withTable(document: string, table: string, script: string): string {
  const begin = `<!-- ${script} writes from here -->`
  const from = document.indexOf(begin)
  const to = document.indexOf('<!-- to here -->', from)
  if (from < 0 || to < 0) throw new Error(`There is no ${begin} ... <!-- to here -->`)
  return `${document.slice(0, from)}${begin}\n\n${table}\n${document.slice(to)}`
}

/** A table in Markdown. */
export function markdownTable(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (texts: readonly string[]) => `| ${texts.join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + body.map(line).join('')
}

/** A sentence where the machine had more to do than its cores could; empty where it had not. */
export function busyNote(load: readonly (number | null)[], cores: number): string {
  const isBusy = load.some((value) => (value ?? 0) > cores + 1)
  return isBusy ? 'The machine was busy with other work: compare processor times, not seconds.' : ''
}
