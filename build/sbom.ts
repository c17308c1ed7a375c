// Prints what the built program holds as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/): `npm run sbom`.
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

const components = packages.map((one) => component('library', one))
const metadata = { component: component('application', own) }
console.log(JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata, components }, null, 2))
