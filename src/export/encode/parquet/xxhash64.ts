// XXH64 with seed 0, the hash of Parquet's bloom filters, in 32-bit halves: with bigint it took a third of an export.
// Source: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

/** A 64-bit value as two signed 32-bit halves; an unsigned one would be a double, and memory for each step. */
interface Word {
  hi: number
  lo: number
}

export function word(): Word {
  return { hi: 0, lo: 0 }
}

const P1H = 0x9e3779b1 | 0
const P1L = 0x85ebca87 | 0
const P2H = 0xc2b2ae3d | 0
const P2L = 0x27d4eb4f | 0
const P3H = 0x165667b1 | 0
const P3L = 0x9e3779f9 | 0
const P4H = 0x85ebca77 | 0
const P4L = 0xc2b2ae63 | 0
const P5H = 0x27d4eb2f | 0
const P5L = 0x165667c5 | 0

/** Where the four lanes begin, as halves: P1 + P2, P2, 0, -P1. */
const BEGINNINGS = Int32Array.of(0x60ea27ee, 0xadc0b5d6, P2H, P2L, 0, 0, 0x61c8864e, 0x7a143579)
/** By how many bits each is turned before they are added up. */
const TURNS = [1, 7, 12, 18] as const
/** The halves of the lanes. */
const lanes = new Int32Array(8)

/** Hashes `length` bytes from `from` on into `out`. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the steps of the algorithm one after another, without a call: it runs for every id.
export function xxhash64(bytes: Uint8Array, from: number, length: number, out: Word): void {
  const end = from + length
  let at = from
  let hi = P5H
  let lo = P5L
  if (length >= 32) {
    const stripes = from + (length & ~31)
    hi = 0
    lo = 0
    for (let i = 0; i < 4; i++) {
      runLane(bytes, at + 8 * i, stripes, 2 * i)
      const turn = TURNS[i]!
      const laneHi = lanes[2 * i]!
      const laneLo = lanes[2 * i + 1]!
      const turned = (laneLo << turn) | (laneHi >>> (32 - turn))
      lo = (lo + turned) | 0
      hi = (hi + ((laneHi << turn) | (laneLo >>> (32 - turn))) + carryOf(lo, turned)) | 0
    }
    for (let i = 0; i < 8; i += 2) {
      // hash = (hash ^ round(0, lane)) * P1 + P4, here and below with `round(0, x)` = rotl(x * P2, 31) * P1.
      const turnedHi = roundHi(lanes[i]!, lanes[i + 1]!)
      const turnedLo = roundLo(lanes[i]!, lanes[i + 1]!)
      hi ^= (highOf(turnedLo, P1L) + Math.imul(turnedHi, P1L) + Math.imul(turnedLo, P1H)) | 0
      lo ^= Math.imul(turnedLo, P1L)
      hi = (highOf(lo, P1L) + Math.imul(hi, P1L) + Math.imul(lo, P1H)) | 0
      lo = (Math.imul(lo, P1L) + P4L) | 0
      hi = (hi + P4H + carryOf(lo, P4L)) | 0
    }
    at = stripes
  }
  lo = (lo + length) | 0
  hi = (hi + carryOf(lo, length)) | 0
  for (; at + 8 <= end; at += 8) {
    const inputLo = load32(bytes, at)
    const inputHi = load32(bytes, at + 4)
    const turnedHi = roundHi(inputHi, inputLo)
    const turnedLo = roundLo(inputHi, inputLo)
    hi ^= (highOf(turnedLo, P1L) + Math.imul(turnedHi, P1L) + Math.imul(turnedLo, P1H)) | 0
    lo ^= Math.imul(turnedLo, P1L)
    const hi27 = (hi << 27) | (lo >>> 5)
    const lo27 = (lo << 27) | (hi >>> 5)
    lo = (Math.imul(lo27, P1L) + P4L) | 0
    hi = (highOf(lo27, P1L) + Math.imul(hi27, P1L) + Math.imul(lo27, P1H) + P4H + carryOf(lo, P4L)) | 0
  }
  if (at + 4 <= end) {
    const input = load32(bytes, at)
    hi ^= (highOf(input, P1L) + Math.imul(input, P1H)) | 0
    lo ^= Math.imul(input, P1L)
    const hi23 = (hi << 23) | (lo >>> 9)
    const lo23 = (lo << 23) | (hi >>> 9)
    lo = (Math.imul(lo23, P2L) + P3L) | 0
    hi = (highOf(lo23, P2L) + Math.imul(hi23, P2L) + Math.imul(lo23, P2H) + P3H + carryOf(lo, P3L)) | 0
    at += 4
  }
  for (; at < end; at++) {
    const input = bytes[at]!
    hi ^= (highOf(input, P5L) + Math.imul(input, P5H)) | 0
    lo ^= Math.imul(input, P5L)
    const hi11 = (hi << 11) | (lo >>> 21)
    const lo11 = (lo << 11) | (hi >>> 21)
    lo = Math.imul(lo11, P1L)
    hi = (highOf(lo11, P1L) + Math.imul(hi11, P1L) + Math.imul(lo11, P1H)) | 0
  }
  // hash = (hash ^ hash >>> 33) * P2, then (hash ^ hash >>> 29) * P3, then hash ^ hash >>> 32.
  lo ^= hi >>> 1
  hi = (highOf(lo, P2L) + Math.imul(hi, P2L) + Math.imul(lo, P2H)) | 0
  lo = Math.imul(lo, P2L)
  lo ^= (lo >>> 29) | (hi << 3)
  hi ^= hi >>> 29
  hi = (highOf(lo, P3L) + Math.imul(hi, P3L) + Math.imul(lo, P3H)) | 0
  lo = Math.imul(lo, P3L)
  out.hi = hi
  out.lo = lo ^ hi
}

/** Brings every fourth word from `at` to `end` through a lane: lane = rotl(lane + word * P2, 31) * P1. */
function runLane(bytes: Uint8Array, from: number, end: number, lane: number): void {
  let hi = BEGINNINGS[lane]!
  let lo = BEGINNINGS[lane + 1]!
  for (let at = from; at < end; at += 32) {
    const inputLo = load32(bytes, at)
    const inputHi = load32(bytes, at + 4)
    const productLo = Math.imul(inputLo, P2L)
    lo = (lo + productLo) | 0
    hi = (hi + highOf(inputLo, P2L) + Math.imul(inputHi, P2L) + Math.imul(inputLo, P2H) + carryOf(lo, productLo)) | 0
    const hi31 = (hi << 31) | (lo >>> 1)
    const lo31 = (lo << 31) | (hi >>> 1)
    hi = (highOf(lo31, P1L) + Math.imul(hi31, P1L) + Math.imul(lo31, P1H)) | 0
    lo = Math.imul(lo31, P1L)
  }
  lanes[lane] = hi
  lanes[lane + 1] = lo
}

/** The high half of rotl((hi, lo) * P2, 31). */
function roundHi(hi: number, lo: number): number {
  const high = (highOf(lo, P2L) + Math.imul(hi, P2L) + Math.imul(lo, P2H)) | 0
  return (high << 31) | (Math.imul(lo, P2L) >>> 1)
}

/** The low half of it. */
function roundLo(hi: number, lo: number): number {
  const high = (highOf(lo, P2L) + Math.imul(hi, P2L) + Math.imul(lo, P2H)) | 0
  return (Math.imul(lo, P2L) << 31) | (high >>> 1)
}

/** 1 where the sum of two halves, of which one is `part`, went beyond 32 bits. */
function carryOf(sum: number, part: number): number {
  return sum >>> 0 < part >>> 0 ? 1 : 0
}

/** The high half of the product of two halves, by 16-bit parts: every sum stays below 2^32. */
function highOf(a: number, b: number): number {
  const a0 = a & 0xffff
  const a1 = a >>> 16
  const b0 = b & 0xffff
  const b1 = b >>> 16
  const middle = (Math.imul(a1, b0) + (Math.imul(a0, b0) >>> 16)) | 0
  const carried = (Math.imul(a0, b1) + (middle & 0xffff)) | 0
  return (Math.imul(a1, b1) + (middle >>> 16) + (carried >>> 16)) | 0
}

function load32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}
