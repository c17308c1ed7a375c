import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js'
import { expect, test } from 'vitest'
import { packPlaces, runOf } from '../../src/export/encode/parquet/run-lengths.ts'
import fc from '../support/fc.ts'

/** What another implementation reads. */
function read(bytes: Uint8Array, width: number, count: number): number[] {
  const output = new Array<number>(count)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  readRleBitPackedHybrid({ view, offset: 0 }, width, output, bytes.length)
  return output
}

test('places come out as they went in, whatever their runs and width', () => {
  const runs = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 30 })), { maxLength: 40 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 24 }), runs, (width, runsOf) => {
      const places = runsOf.flatMap(([value, count]) => new Array<number>(count).fill(value % 2 ** width))
      // What lies behind them is not part of them.
      const packed = packPlaces(Int32Array.of(...places, 2 ** width - 1, 1), places.length, width)
      expect(packed[0]).toBe(width)
      expect(read(packed.subarray(1), width, places.length)).toEqual(places)
    }),
    { numRuns: 500 },
  )
})

test('a run is read as so many values', () => {
  for (const count of [1, 7, 127, 128, 100_000]) {
    for (const value of [0, 1]) {
      expect(read(runOf(value, count, 1), 1, count)).toEqual(new Array<number>(count).fill(value))
    }
  }
})

test('the only value of a dictionary takes no bits, and no values take no run', () => {
  expect([...packPlaces(new Int32Array(300), 300, 0)]).toEqual([0, 0xd8, 0x04])
  expect([...packPlaces(new Int32Array(0), 0, 0)]).toEqual([0])
})
