// What the kernel calls complete in random worlds is so, but where an assumption is broken that it rests on; SOAK=1 plays a
// hundred times as many.
import { expect, test } from 'vitest'
import { SOAK } from '../support/soak.ts'
import { KINDS, play } from './random-worlds.ts'

const WORLDS = SOAK ? 60_000 : 600

test.each(KINDS)('$name: no end that is claimed is false', (kind) => {
  let complete = 0
  for (let seed = 1; seed <= WORLDS; seed += 1) {
    const ended = play(kind, seed)
    if (ended === null) continue
    complete += 1
    if (ended.rests.some((basis) => ended.broken.includes(basis))) continue
    expect(ended.missed, `seed ${seed}, rests on ${ended.rests.join(', ')}\n${ended.log.join('\n')}`).toEqual([])
  }
  // Else nothing was tried.
  expect(complete).toBeGreaterThan(WORLDS / 60)
})
