// Seeded random numbers for the simulator: the same seed gives the same numbers on every machine. Imports nothing.

/** An sfc32 stream (Chris Doty-Humphrey's PractRand): numbers determined by the seed. */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number[]) {
    let h = 0x9e3779b9
    for (const part of seed) h = mix32(h ^ mix32(part | 0))
    this.#a = h
    this.#b = mix32(h + 0x6d2b79f5)
    this.#c = mix32(h + 0x3c6ef372)
    // A few rounds spread the seed over the whole state.
    for (let i = 0; i < 6; i++) this.next()
  }

  /** In [0, 1). */
  next(): number {
    const t = (((this.#a + this.#b) | 0) + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + t
    this.#c |= 0
    return (t >>> 0) / 0x1_0000_0000
  }

  /** A whole number in [0, below). */
  int(below: number): number {
    return Math.floor(this.next() * below)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(from.length)]!
  }
}

/** A stream whose seed is made of several numbers. */
export function seeded(...seed: number[]): Random {
  return new Random(seed)
}

/** A bijection of 32-bit integers that scatters them (the finalizer of MurmurHash3); the result is unsigned. */
export function mix32(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** The inverse of `mix32`. */
export function unmix32(value: number): number {
  let h = value
  h = Math.imul(h ^ (h >>> 16), 0x7ed1b41d)
  h = Math.imul(h ^ (h >>> 13) ^ (h >>> 26), 0xa5cb9243)
  return (h ^ (h >>> 16)) >>> 0
}

/** A number in [0, 1) for a place in a table, without a stream: cheap for a million places. */
export function unitAt(seed: number, place: number, salt: number): number {
  return mix32(mix32(seed ^ Math.imul(salt, 0x9e3779b1)) ^ place) / 0x1_0000_0000
}

/** Shuffles in place (Fisher-Yates) and gives the same array back. */
export function shuffle<T>(items: T[], random: Random): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = random.int(i + 1)
    const swapped = items[i]!
    items[i] = items[j]!
    items[j] = swapped
  }
  return items
}
