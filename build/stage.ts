// Lays out the program as it is installed: dist/, the packages it asks for beside it, and nothing that only other systems or
// developers need. `node build/stage.ts FOLDER`, for the image and the Debian package, after `npm run build`.
import { cpSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installedWith } from './packages.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = resolve(process.argv[2]!)
/** In any package. */
const NOT_RUN = /(^|\/)(\.[^/]+|test|docs|examples|benchmarks|[^/]+\.html|[^/]+\.ts)$/
/** better-sqlite3 brings SQLite's sources along. */
const FOR_COMPILERS = /^better-sqlite3\/(deps|src|binding\.gyp)$|^node-addon-api$/

for (const name of ['dist', 'package.json', 'LICENSE'])
  cpSync(join(ROOT, name), join(FOLDER, name), { recursive: true })
for (const { name, folder } of installedWith(ROOT)) {
  const filter = (path: string) => isRun(join(name, relative(folder, path)))
  cpSync(folder, join(FOLDER, relative(ROOT, folder)), { recursive: true, filter })
}

/** A path that begins with the name of its package. */
function isRun(path: string): boolean {
  if (NOT_RUN.test(path) || FOR_COMPILERS.test(path)) return false
  return !path.includes('/prebuilds/') || path.endsWith(`/${systemName()}-${process.arch}.node`)
}

/** As better-sqlite3 names its binaries. */
function systemName(): string {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return process.platform === 'linux' && header.glibcVersionRuntime === undefined ? 'linuxmusl' : process.platform
}
