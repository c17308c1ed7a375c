// The version of this program, from its package.json.
import { readFileSync } from 'node:fs'

/** Such as `1.2.0`. */
export function toolVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
