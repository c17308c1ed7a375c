// Builds dist/: the program with all it needs, bundled, so that the package has no dependencies and is the same wherever it
// runs. `npm run build`; tests, clone, container and package all run what this makes.
import { chmodSync, cpSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { licenceTexts, packagesOf } from './packages.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SRC = `${ROOT}src/`
/** Another place may be given, for a build that nobody's else gets in the way of. */
const OUT = resolve(process.argv[2] ?? `${ROOT}dist`)

/** What is started by its own name: the command, its threads and its processes. `program` is for tests that start none. */
const ENTRIES = [
  'cli',
  'program',
  'commands/worker',
  'export/encode/second-worker',
  'mirror/maintenance/vacuum-process',
  'mirror/maintenance/verify-process',
  'schedule/worker',
  'sync/writer/worker',
]

/** Each piece says where dist/ begins: it may lie anywhere in it. */
const DIST = '__dist__'

/**
 * A module finds files beside itself (`import.meta.url`), wherever the piece lies into which it was bundled; what is required
 * by createRequire is bundled too; and better-sqlite3 finds its binaries in dist/prebuilds.
 */
const keepPlaces: Plugin = {
  name: 'keep-places',
  load(id) {
    if (!/\.[jt]s$/.test(id)) return null
    const code = readFileSync(id, 'utf8')
    if (id.endsWith('better-sqlite3/lib/binding.js')) {
      return code.replaceAll('__dirname', `require('node:url').fileURLToPath(new URL('lib', ${DIST}))`)
    }
    // Written for the time before strict mode, which modules are in: names that nobody has declared.
    if (id.includes('parquetjs-lite/gen-nodejs/')) {
      return code.replace(/^(\w+)(?= = module\.exports\.\1 = )/gm, 'var $1')
    }
    if (!id.startsWith(SRC) || !code.includes('import.meta.url')) return null
    const place = relative(SRC, id).replace(/\.ts$/, '.js')
    return code
      .replace(/^const require = createRequire\(import\.meta\.url\)$/m, '')
      .replaceAll('createRequire(import.meta.url)(', 'require(')
      .replaceAll('import.meta.url', `new URL('${place}', ${DIST}).href`)
  },
}

rmSync(OUT, { recursive: true, force: true })
const bundle = await rolldown({
  cwd: ROOT,
  input: Object.fromEntries(ENTRIES.map((name) => [name, `src/${name}.ts`])),
  platform: 'node',
  plugins: [keepPlaces],
  onLog(level, log) {
    throw new Error(`${level}: ${log.message}`)
  },
})
const { output } = await bundle.write({
  dir: OUT,
  format: 'esm',
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: 'parts/[name]-[hash].js',
  intro: ({ fileName }) => `const ${DIST} = new URL('${relative(dirname(fileName), '.') || '.'}/', import.meta.url)`,
})
await bundle.close()

cpSync(`${SRC}mirror/migrations`, join(OUT, 'mirror/migrations'), { recursive: true })
const binaries = `${ROOT}node_modules/better-sqlite3/prebuilds`
mkdirSync(join(OUT, 'prebuilds'))
for (const name of readdirSync(binaries)) {
  // The same file where it can be: tests open mirrors in the process that runs the program, and two SQLites in one process
  // would take each other's locks away (https://www.sqlite.org/howtocorrupt.html, 2.2.1).
  try {
    linkSync(join(binaries, name), join(OUT, 'prebuilds', name))
  } catch {
    cpSync(join(binaries, name), join(OUT, 'prebuilds', name))
  }
}
chmodSync(join(OUT, 'cli.js'), 0o755)
const packages = packagesOf(output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : [])))
writeFileSync(join(OUT, 'licenses.txt'), licenceTexts(packages))
const listed = packages.map(({ name, version, license }) => ({ name, version, license }))
writeFileSync(join(OUT, 'packages.json'), `${JSON.stringify(listed, null, 2)}\n`)
