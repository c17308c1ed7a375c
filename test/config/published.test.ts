import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configurationDocument } from '../../build/configuration-document.ts'
import { KEYS } from '../../src/config/keys.ts'
import { configSchema, jsonSchema } from '../../src/config/schema.ts'

const text = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
const read = (name: string) => JSON.parse(text(`config/${name}`))

test('the published JSON Schema is current: npm run schema writes it', () => {
  expect(read('task-mirror.schema.json')).toEqual(jsonSchema())
})

test('docs/configuration.md is current and has every key: npm run schema writes it', () => {
  const document = text('docs/configuration.md')
  expect(document).toBe(configurationDocument())
  for (const key of KEYS) expect(document).toContain(`- \`${key}\` (`)
})

test('the example configuration parses, and names its schema from where it is to be copied to', () => {
  const example = read('task-mirror.example.json')
  expect(configSchema.safeParse(example).error).toBe(undefined)
  expect(JSON.parse(text(example.$schema))).toEqual(read('task-mirror.schema.json'))
})

test('every key is read by something in src/', () => {
  const files = readdirSync(new URL('../../src', import.meta.url), { recursive: true, encoding: 'utf8' })
  const code = files.filter((name) => /\.ts$/.test(name) && !/^config\/(?:defaults|schema)\.ts$/.test(name))
  const used = new Set(code.flatMap((name) => text(`src/${name}`).match(/\w+/g)))
  const unread = KEYS.filter((key) => !used.has(key.slice(key.lastIndexOf('.') + 1)))
  expect(unread, 'read them, or take them out of src/config/').toEqual([])
})
