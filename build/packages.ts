// Which packages the program is made of: what their licences ask to be passed on with it, and what `npm run sbom` lists.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Package {
  name: string
  version: string
  /** SPDX. */
  license: string
  /** In dist/, or installed beside it. */
  isBundled: boolean
  folder: string
}

/** The packages of these modules (absolute paths), by name. */
export function packagesOf(modules: readonly string[]): Package[] {
  const folders = new Set(modules.filter((id) => id.includes('/node_modules/')).map(folderOf))
  return sorted([...folders].map((folder) => packageIn(folder, true)))
}

/** What is installed with the package: its dependencies and theirs, as the lock file of `root` has them. */
export function installedWith(root: string): Package[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dependencies?: Record<string, string> }>
  }
  const found = new Set<string>()
  const visit = (from: string) => {
    for (const name of Object.keys(packages[from]?.dependencies ?? {})) {
      // The nearest one, as Node looks for it.
      let at = from
      while (!(join(at, 'node_modules', name) in packages))
        at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules') - 1))
      const folder = join(at, 'node_modules', name)
      if (found.has(folder)) continue
      found.add(folder)
      visit(folder)
    }
  }
  visit('')
  return sorted([...found].map((folder) => packageIn(join(root, folder), false)))
}

function packageIn(folder: string, isBundled: boolean): Package {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const spdx = typeof license === 'string' ? license : (license?.type ?? 'none')
  return { name, version, license: spdx, isBundled, folder }
}

function sorted(packages: Package[]): Package[] {
  return packages.sort((one, other) => (one.name + one.version < other.name + other.version ? -1 : 1))
}

/** The nearest folder above whose package.json has a name: some packages hold further ones that only say "type". */
function folderOf(module: string): string {
  for (let folder = dirname(module); folder !== dirname(folder); folder = dirname(folder)) {
    const file = join(folder, 'package.json')
    if (existsSync(file) && 'version' in JSON.parse(readFileSync(file, 'utf8'))) return folder
  }
  throw new Error(`${module} belongs to no package`)
}

/** The texts of their licences and notices, one package after the other. */
export function licenceTexts(packages: readonly Package[]): string {
  const texts = packages.map(({ name, version, license, folder }) => {
    const files = readdirSync(folder, { withFileTypes: true }).filter(
      (entry) => entry.isFile() && /^(licen[cs]e|copying|notice)/i.test(entry.name),
    )
    const text = files.map((file) => readFileSync(join(folder, file.name), 'utf8').trim()).sort()
    return [`${name} ${version} (${license})`, ...text].join('\n\n')
  })
  return `What this program is made of, beside its own code.\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}
