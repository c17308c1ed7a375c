// Every scenario that once broke a promise holds now.
import { it } from 'vitest'
import { KEPT } from './kept-seeds.ts'
import { check } from './seeds.ts'

it.each(KEPT)('$story', async ({ story, scenario }) => {
  await check([[story, scenario]])
})
