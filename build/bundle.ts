// Builds dist/: the program, bundled with all packages but those that package.json calls dependencies, which are installed
// beside it. `npm run build`; tests, clone, container and package all run what this makes.
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { installedWith, licenceTexts, packagesOf } from './packages.ts'
import { refuseOutdated } from './spelled-out.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SRC = `${ROOT}src/`
/** Another place may be given, for a build that nobody's else gets in the way of. */
const OUT = resolve(process.argv[2] ?? `${ROOT}dist`)

/** What is started by its own name: the command, its threads and its processes. `program` is for tests that start none. */
const ENTRIES = [
  'cli',
  'program',
  'commands/shared/worker',
  'export/encode/second-worker',
  'mirror/maintenance/statement-worker',
  'schedule/worker',
  'sync/writer/worker',
]

/** Each piece says where dist/ begins: it may lie anywhere in it. */
const DIST = '__dist__'

/** A module finds what lies beside it (`import.meta.url`), wherever the piece lies into which it was bundled. */
const keepPlaces: Plugin = {
  name: 'keep-places',
  load(id) {
    if (!id.startsWith(SRC)) return null
    const place = relative(SRC, id).replace(/\.ts$/, '.js')
    return readFileSync(id, 'utf8').replaceAll('import.meta.url', `new URL('${place}', ${DIST}).href`)
  },
}

/**
 * Node's own modules are taken as they are: an `import` of one reads all that it has, and so loads what nobody wants, such as
 * WebCrypto with node:crypto and readline with node:fs. Each thread pays for that before its first line.
 */
const plainBuiltins: Plugin = {
  name: 'plain-builtins',
  renderChunk(code) {
    const plain = code.replace(
      /^import (?:(\w+)(?:, )?)?(?:\* as (\w+)|(\{[^}]*\}))? ?from "([a-z0-9_/:]+)";$/gm,
      (found, whole: string | undefined, namespace: string | undefined, names: string | undefined, module: string) => {
        if (!isBuiltin(module)) return found
        const taken = `process.getBuiltinModule("${module}")`
        const given = [whole, namespace].flatMap((name) => (name === undefined ? [] : `const ${name} = ${taken};`))
        if (names !== undefined) given.push(`const ${names.replaceAll(' as ', ': ')} = ${taken};`)
        return given.join(' ')
      },
    )
    // Line by line: source maps stay true.
    return { code: plain, map: null }
  },
}

const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
const installed = Object.keys(manifest.dependencies)

// It would build, and fail in many places that do not say why.
refuseOutdated()

rmSync(OUT, { recursive: true, force: true })
/** Nothing is built with a warning. */
function refuse(level: string, log: { message: string }): never {
  throw new Error(`${level}: ${log.message}`)
}

const bundle = await rolldown({
  cwd: ROOT,
  input: Object.fromEntries(ENTRIES.map((name) => [name, `src/${name}.ts`])),
  platform: 'node',
  plugins: [keepPlaces, plainBuiltins],
  external: (id) => installed.some((name) => id === name || id.startsWith(`${name}/`)),
  // How long plugins take on a busy machine is no fault of the build.
  checks: { bundlerTimings: false },
  onLog: refuse,
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

// What the pages of `report` and `schedule` run in a browser: one file, which src/report/script.ts puts into them.
const page = await rolldown({ cwd: ROOT, input: 'src/report/browser/page.ts', platform: 'browser', onLog: refuse })
const [{ code }] = (await page.generate({ format: 'iife', minify: true })).output
await page.close()
if (/<\/script|<!--/i.test(code)) throw new Error('The script of the pages would end its element')
mkdirSync(join(OUT, 'report'), { recursive: true })
writeFileSync(join(OUT, 'report/page-script.js'), code)

cpSync(`${SRC}mirror/migrations`, join(OUT, 'mirror/migrations'), { recursive: true })
chmodSync(join(OUT, 'cli.js'), 0o755)
const bundled = packagesOf(output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : [])))
writeFileSync(join(OUT, 'licenses.txt'), licenceTexts(bundled))
const listed = [...bundled, ...installedWith(ROOT)].map(({ folder: _, ...one }) => one)
writeFileSync(join(OUT, 'packages.json'), `${JSON.stringify(listed, null, 2)}\n`)
