// The form of --help: usage first, examples last, nothing wider than the terminal.
import { Help } from 'commander'
import { fold } from './commands/text/layout.ts'

/** For commander's `configureHelp`. A description without room beside its flag goes below it. */
export const HELP_FORM: Partial<Help> = {
  showGlobalOptions: true,
  formatItem(term, termWidth, description, helper) {
    const width = helper.helpWidth ?? 80
    if (width - termWidth - 4 >= helper.minWidthToWrap) {
      return Help.prototype.formatItem.call(helper, term, termWidth, description, helper)
    }
    return [`  ${term}`, ...fold(description, width - 6).map((line) => `      ${line}`)].join('\n')
  },
}

/** A word of a command line together with its flag; quoted text is never broken. */
const WORD = /(?:--[\w-]+ (?!-))?(?:'[^']*'|"[^"]*"|[^\s'"])+/g

/** Command lines that can be pasted: long ones continue after a backslash. */
export function examples(lines: readonly string[], width: number): string {
  const folded = lines.map((line) => `  ${fold(line, width - 6, line.match(WORD) ?? []).join(' \\\n    ')}`)
  return `\nExamples:\n${folded.join('\n')}`
}

export function paragraph(lines: readonly string[], width: number): string {
  return `\n${lines.flatMap((line) => fold(line, width)).join('\n')}`
}
