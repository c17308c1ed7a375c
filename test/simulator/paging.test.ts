// Limits, caps and quirks of paging, as a table.
import { expect, it } from 'vitest'
import { SIMULATOR_DEFAULTS, type SimulatorOptions } from '../../src/simulator/options.ts'
import { fittingCount, sliceOf } from '../../src/simulator/paging.ts'

const refused = (status: number) => ({ kind: 'refusal', status, message: expect.any(String) })
const stretch = (from: number, to: number) => ({ kind: 'stretch', from, to })

// Every row: what it shows, options, total, skip, take, answer.
it.each<[string, Partial<SimulatorOptions>, number, number, number, object]>([
  ['a plain window', {}, 100, 20, 10, stretch(20, 30)],
  ['the last window is cut at the end', {}, 100, 95, 10, stretch(95, 100)],
  ['beyond the end is empty', {}, 100, 100, 10, stretch(100, 100)],
  ['an empty account is empty', { pastEnd: '404' }, 0, 0, 10, stretch(0, 0)],
  ['beyond the end is 404', { pastEnd: '404' }, 100, 100, 10, refused(404)],
  ['beyond the end is 400', { pastEnd: '400' }, 100, 150, 10, refused(400)],
  ['pastEnd leaves the last index alone', { pastEnd: '400' }, 100, 99, 10, stretch(99, 100)],
  ['take at the limit', { takeLimit: 1000 }, 5000, 0, 1000, stretch(0, 1000)],
  ['take above the limit', { takeLimit: 1000 }, 5000, 0, 1001, refused(400)],
  ['skip + take at the limit', { skipLimit: 100 }, 500, 90, 10, stretch(90, 100)],
  ['skip + take above the limit', { skipLimit: 100 }, 500, 91, 10, refused(400)],
  ['capItems caps silently', { capItems: 100 }, 5000, 200, 1000, stretch(200, 300)],
  ['capItems leaves smaller windows alone', { capItems: 100 }, 5000, 0, 50, stretch(0, 50)],
  ['shortBy', { shortBy: 3 }, 100, 0, 10, stretch(0, 7)],
  ['shortBy leaves one', { shortBy: 30 }, 100, 5, 10, stretch(5, 6)],
  ['shortBy counts from the cap', { shortBy: 3, capItems: 20 }, 100, 0, 50, stretch(0, 17)],
  ['pageOfOne', { pageOfOne: true }, 100, 5, 10, stretch(5, 6)],
  ['ignoreSkip', { ignoreSkip: true }, 100, 50, 10, stretch(0, 10)],
  ['wrap starts again at the front', { wrap: true }, 100, 205, 10, stretch(5, 15)],
  ['wrap does not join end and front', { wrap: true }, 100, 95, 10, stretch(95, 100)],
  ['repeatLast gives the last window again', { repeatLast: true }, 95, 100, 10, stretch(90, 95)],
  ['repeatLast far beyond', { repeatLast: true }, 100, 9000, 10, stretch(90, 100)],
])('%s', (_title, options, total, skip, take, answer) => {
  expect(sliceOf({ ...SIMULATOR_DEFAULTS, ...options }, total, skip, take)).toEqual(answer)
})

it.each([
  [['aa', 'bb', 'cc'], 0, 3],
  [['aa', 'bb', 'cc'], 6, 3],
  [['aa', 'bb', 'cc'], 5, 2],
  [['aa', 'bb', 'cc'], 1, 1],
  [['ää', 'bb'], 5, 1],
  [[], 5, 0],
])('of %j, %i bytes hold %i', (texts, capBytes, count) => {
  expect(fittingCount(texts, capBytes)).toBe(count)
})
