// Every scenario that once broke a promise holds now; the longest ones, and those like another, are played in the soak.
import { it } from 'vitest'
import { few } from '../support/soak.ts'
import { KEPT } from './kept-seeds.ts'
import { check } from './seeds.ts'

it.each(few(KEPT, ({ inSoak }) => !inSoak))('$story', async ({ story, scenario }) => {
  await check([[story, scenario]])
})
