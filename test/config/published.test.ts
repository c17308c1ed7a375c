import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configSchema, jsonSchema } from '../../src/config/schema.ts'

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../config/${name}`, import.meta.url), 'utf8'))

test('the published JSON Schema is current: npm run schema writes it', () => {
  expect(read('task-mirror.schema.json')).toEqual(jsonSchema())
})

test('the example configuration parses', () => {
  expect(configSchema.safeParse(read('task-mirror.example.json')).error).toBe(undefined)
})
