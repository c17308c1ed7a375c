// `npm run release`: the files of a release in release/, of the commit that is checked out: the npm package, the Debian package, what
// they are made of (CycloneDX) and their checksums. Nothing but the commit goes into them: test/release/run.sh compares.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUT = join(ROOT, 'release')

const text = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] })

const changes = text('git', 'status', '--porcelain')
if (changes !== '') throw new Error(`A release is made of a commit, and these are in none:\n${changes}`)

const { version, files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string
  files: string[]
}
rmSync(OUT, { recursive: true, force: true })
mkdirSync(OUT)
text('npm', 'run', '--silent', 'build')
// npm packs files with the modes that they have here, which come from somebody's umask.
text('chmod', '-R', 'u=rwX,go=rX', 'package.json', ...files)
text('npm', 'pack', '--silent', '--pack-destination', OUT)
text(process.execPath, 'build/deb.ts')
writeFileSync(join(OUT, `task-mirror-${version}.cdx.json`), text(process.execPath, 'build/sbom.ts'))

const sums = readdirSync(OUT)
  .sort()
  .map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(OUT, name)))
        .digest('hex')}  ${name}\n`,
  )
writeFileSync(join(OUT, 'SHA256SUMS'), sums.join(''))
console.log(sums.join('').trimEnd())
