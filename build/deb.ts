// `npm run deb`: the Debian package for this machine's architecture, in release/. It holds what `npm run build` made, with
// what runs it, the Node of build/node among that; debhelper packs it by the files in deploy/debian. The same commit gives
// the same bytes: SOURCE_DATE_EPOCH is the time of the commit unless it is set.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { manPage } from './man-page.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUT = join(ROOT, 'release')
const NODE = join(ROOT, `node_modules/node-linux-${process.arch}`)
const COMPLETIONS = {
  bash: 'usr/share/bash-completion/completions/task-mirror',
  zsh: 'usr/share/zsh/vendor-completions/_task-mirror',
  fish: 'usr/share/fish/vendor_completions.d/task-mirror.fish',
}

const version: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version
const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
const epoch = process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct')
const changed = new Date(Number(epoch) * 1000)

const work = mkdtempSync(join(tmpdir(), 'task-mirror-deb-'))
try {
  const source = join(work, 'source')
  laidOut(source)
  writeFileSync(join(source, 'task-mirror.1'), await manPage(version, changed))
  // Names what is missing. `-I`: not the compiler that Debian presumes, which nothing here needs.
  run('dpkg-checkbuilddeps', ['-I'], source)
  run('dpkg-buildpackage', ['--build=binary', '--no-sign', '--no-check-builddeps'], source)
  mkdirSync(OUT, { recursive: true })
  for (const name of readdirSync(work).filter((other) => other.endsWith('.deb'))) {
    copyFileSync(join(work, name), join(OUT, name))
    console.log(`release/${name}`)
  }
} finally {
  rmSync(work, { recursive: true })
}

/** The folder that dpkg-buildpackage works in: debian/, with every file of the package in debian/tree. */
function laidOut(source: string): void {
  cpSync(join(ROOT, 'deploy/debian'), join(source, 'debian'), { recursive: true })
  for (const name of ['README.md', 'CHANGELOG.md', 'docs'])
    cpSync(join(ROOT, name), join(source, name), { recursive: true })

  const tree = join(source, 'debian/tree')
  const program = join(tree, 'usr/lib/task-mirror')
  run(process.execPath, [join(ROOT, 'build/stage.ts'), program], ROOT)
  cpSync(join(NODE, 'bin/node'), join(program, 'bin/node'))
  cpSync(join(NODE, 'LICENSE'), join(program, 'node.LICENSE'))
  cpSync(join(ROOT, 'config/task-mirror.schema.json'), join(tree, 'usr/share/task-mirror/task-mirror.schema.json'))

  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  const units = join(ROOT, 'deploy/systemd')
  for (const name of readdirSync(units))
    writeFileSync(join(source, `debian/task-mirror.${name}`), packaged(readFileSync(join(units, name), 'utf8')))
  for (const [shell, path] of Object.entries(COMPLETIONS))
    put(path, execFileSync(process.execPath, [join(ROOT, 'dist/cli.js'), 'completion', shell], { encoding: 'utf8' }))

  const date = changed.toUTCString().replace('GMT', '+0000')
  const [, maintainer] = /^Maintainer: (.*)$/m.exec(readFileSync(join(source, 'debian/control'), 'utf8'))!
  writeFileSync(
    join(source, 'debian/changelog'),
    // 1.0.0-rc.1 comes before 1.0.0.
    `task-mirror (${version.replace('-', '~')}-1) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n`,
  )
}

/** A unit as it is in the package, which has a user of its own and knows where its program is. */
function packaged(unit: string): string {
  return unit.replace('DynamicUser=yes', 'User=task-mirror').replace('/usr/bin/env task-mirror', '/usr/bin/task-mirror')
}

function run(command: string, args: readonly string[], cwd: string): void {
  const env = { ...process.env, SOURCE_DATE_EPOCH: epoch, DEB_BUILD_OPTIONS: 'nocheck', TZ: 'UTC' }
  execFileSync(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] })
}
