// XXH64 with seed 0, the hash of Parquet's bloom filters, in 32-bit halves: with bigint it took a third of an export.
// Source: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md

/**
 * A 64-bit register as two halves, each as the engine holds a 32-bit integer: signed. An unsigned one would be a double,
 * and memory for each step.
 */
interface Word {
  hi: number
  lo: number
}

const P1: Word = { hi: 0x9e3779b1 | 0, lo: 0x85ebca87 | 0 }
const P2: Word = { hi: 0xc2b2ae3d | 0, lo: 0x27d4eb4f | 0 }
const P3: Word = { hi: 0x165667b1 | 0, lo: 0x9e3779f9 | 0 }
const P4: Word = { hi: 0x85ebca77 | 0, lo: 0xc2b2ae63 | 0 }
const P5: Word = { hi: 0x27d4eb2f | 0, lo: 0x165667c5 | 0 }

const lanes: [Word, Word, Word, Word] = [word(), word(), word(), word()]
const input = word()

/** Hashes `length` bytes from `from` on into `out`. */
export function xxhash64(bytes: Uint8Array, from: number, length: number, out: Word): void {
  const end = from + length
  let at = from
  if (length >= 32) {
    set(lanes[0], 0x60ea27ee, 0xadc0b5d6) // P1 + P2
    set(lanes[1], P2.hi, P2.lo)
    set(lanes[2], 0, 0)
    set(lanes[3], 0x61c8864e, 0x7a143579) // -P1
    for (; at + 32 <= end; at += 32) {
      for (let i = 0; i < 4; i++) {
        load(bytes, at + 8 * i)
        round(lanes[i]!, input)
      }
    }
    set(out, 0, 0)
    for (const [i, bits] of ROTATIONS) {
      set(input, lanes[i].hi, lanes[i].lo)
      rotate(input, bits)
      add(out, input)
    }
    for (const lane of lanes) {
      set(input, lane.hi, lane.lo)
      mixIn(out, 0)
    }
  } else {
    set(out, P5.hi, P5.lo)
  }
  set(input, 0, length)
  add(out, input)
  for (; at + 8 <= end; at += 8) {
    load(bytes, at)
    mixIn(out, 27)
  }
  if (at + 4 <= end) {
    set(input, 0, load32(bytes, at))
    multiply(input, P1)
    exclusiveOr(out, input)
    rotate(out, 23)
    multiply(out, P2)
    add(out, P3)
    at += 4
  }
  for (; at < end; at++) {
    set(input, 0, bytes[at]!)
    multiply(input, P5)
    exclusiveOr(out, input)
    rotate(out, 11)
    multiply(out, P1)
  }
  shiftXor(out, 33)
  multiply(out, P2)
  shiftXor(out, 29)
  multiply(out, P3)
  shiftXor(out, 32)
}

const ROTATIONS = [
  [0, 1],
  [1, 7],
  [2, 12],
  [3, 18],
] as const

export function word(): Word {
  return { hi: 0, lo: 0 }
}

/** One round of a lane: lane = rotl(lane + from * P2, 31) * P1. Leaves `from` multiplied. */
function round(lane: Word, from: Word): void {
  multiply(from, P2)
  add(lane, from)
  rotate(lane, 31)
  multiply(lane, P1)
}

const mixed = word()

/** Mixes `input` into the hash: hash = rotl(hash ^ round(0, input), bits) * P1 + P4. */
function mixIn(hash: Word, bits: number): void {
  set(mixed, 0, 0)
  round(mixed, input)
  exclusiveOr(hash, mixed)
  if (bits > 0) rotate(hash, bits)
  multiply(hash, P1)
  add(hash, P4)
}

function set(a: Word, hi: number, lo: number): void {
  a.hi = hi | 0
  a.lo = lo | 0
}

function load(bytes: Uint8Array, at: number): void {
  input.lo = load32(bytes, at)
  input.hi = load32(bytes, at + 4)
}

function load32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

function add(a: Word, b: Word): void {
  const lo = (a.lo + b.lo) | 0
  const carry = lo >>> 0 < b.lo >>> 0 ? 1 : 0
  a.hi = (a.hi + b.hi + carry) | 0
  a.lo = lo
}

function exclusiveOr(a: Word, b: Word): void {
  a.hi ^= b.hi
  a.lo ^= b.lo
}

/** Left, by 1 to 31 bits. */
function rotate(a: Word, bits: number): void {
  const { hi, lo } = a
  a.hi = (hi << bits) | (lo >>> (32 - bits))
  a.lo = (lo << bits) | (hi >>> (32 - bits))
}

/** a ^= a >>> bits, for 29, 32 and 33. */
function shiftXor(a: Word, bits: number): void {
  const { hi, lo } = a
  if (bits < 32) {
    a.hi = hi ^ (hi >>> bits)
    a.lo = lo ^ ((lo >>> bits) | (hi << (32 - bits)))
  } else {
    a.lo = lo ^ (hi >>> (bits - 32))
  }
}

/** The low 64 bits of the product, by 16-bit parts of the low halves: every sum stays below 2^32. */
function multiply(a: Word, b: Word): void {
  const a0 = a.lo & 0xffff
  const a1 = a.lo >>> 16
  const b0 = b.lo & 0xffff
  const b1 = b.lo >>> 16
  const low = Math.imul(a0, b0)
  const middle = (Math.imul(a1, b0) + (low >>> 16)) | 0
  const carried = (Math.imul(a0, b1) + (middle & 0xffff)) | 0
  const high = Math.imul(a1, b1) + (middle >>> 16) + (carried >>> 16)
  a.hi = (high + Math.imul(a.hi, b.lo) + Math.imul(a.lo, b.hi)) | 0
  a.lo = Math.imul(a.lo, b.lo)
}
