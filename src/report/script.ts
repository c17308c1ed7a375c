// The script of the pages, as the build made it of browser/page.ts: one file without imports.
import { readFileSync } from 'node:fs'

/** From the sources, tests find it where the build puts it. */
const PLACE = import.meta.url.endsWith('.ts') ? '../../dist/report/page-script.js' : './page-script.js'

let text: string | null = null

/** Ends no element: the build refuses a script that says `</script`. */
export function pageScript(): string {
  text ??= readFileSync(new URL(PLACE, import.meta.url), 'utf8').trim()
  return text
}
