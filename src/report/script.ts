// The script of the pages, bundled from browser/page.ts by the build: one file without imports.
import { readFileSync } from 'node:fs'

/** Tests run from the sources, and find it where the build puts it. */
const PLACE = import.meta.url.endsWith('.ts') ? '../../dist/report/page-script.js' : './page-script.js'

let text: string | null = null

/** Cannot end its element: the build refuses a script that contains `</script`. */
export function pageScript(): string {
  text ??= readFileSync(new URL(PLACE, import.meta.url), 'utf8').trim()
  return text
}
