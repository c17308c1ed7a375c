// Whether bytes (valid UTF-8) are JSON text, without making anything of them: linear, one bit per level of nesting.
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  LINE_FEED,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from './json-bytes.ts'
import { NOT_PLAIN, numberEnd, wordAt } from './json-strict.ts'

const SPACE = 0x20
/** The letters of escapes that stand for one character: \" \\ \/ \b \f \n \r \t. */
const SHORT = new Uint8Array(256)
for (const letter of '"\\/bfnrt') SHORT[letter.charCodeAt(0)] = 1
const HEX = new Uint8Array(256)
for (const digit of '0123456789abcdefABCDEF') HEX[digit.charCodeAt(0)] = 1

/** `from`: where the text begins; it goes up to the end of the bytes. */
export function isJson(bytes: Uint8Array, from: number): boolean {
  const levels = new Levels()
  let at = spaceEnd(bytes, from)
  for (;;) {
    const first = bytes[at]
    let isWhole = true
    if (first === OPEN_OBJECT || first === OPEN_LIST) {
      const isObject = first === OPEN_OBJECT
      at = spaceEnd(bytes, at + 1)
      if (bytes[at] === (isObject ? CLOSE_OBJECT : CLOSE_LIST)) at += 1
      else {
        levels.push(isObject)
        isWhole = false
      }
    } else at = scalarEnd(bytes, at)
    if (at === NOT_PLAIN) return false
    while (isWhole) {
      at = spaceEnd(bytes, at)
      if (levels.depth === 0) return at === bytes.length
      const next = bytes[at]
      at += 1
      if (next === COMMA) isWhole = false
      else if (next === (levels.isObject() ? CLOSE_OBJECT : CLOSE_LIST)) levels.pop()
      else return false
    }
    at = spaceEnd(bytes, at)
    if (!levels.isObject()) continue
    const colon = spaceEnd(bytes, stringEnd(bytes, at))
    if (bytes[colon] !== COLON) return false
    at = spaceEnd(bytes, colon + 1)
  }
}

/** Which of the lists and objects that are open are objects. */
class Levels {
  depth = 0
  private bits = new Uint8Array(64)

  push(isObject: boolean): void {
    const [place, bit] = [this.depth >> 3, 1 << (this.depth & 7)]
    if (place === this.bits.length) {
      const larger = new Uint8Array(place * 2)
      larger.set(this.bits)
      this.bits = larger
    }
    if (isObject) this.bits[place]! |= bit
    else this.bits[place]! &= ~bit
    this.depth += 1
  }

  pop(): void {
    this.depth -= 1
  }

  isObject(): boolean {
    const top = this.depth - 1
    return (this.bits[top >> 3]! & (1 << (top & 7))) !== 0
  }
}

function scalarEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at]
  if (first === QUOTE) return stringEnd(bytes, at)
  return wordAt(bytes, at) ?? numberEnd(bytes, at)
}

/** Behind the white space at `from`; NOT_PLAIN stays what it is. */
export function spaceEnd(bytes: Uint8Array, from: number): number {
  if (from < 0) return from
  let at = from
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    // Tab and carriage return are the other two.
    if (byte !== SPACE && byte !== LINE_FEED && byte !== 0x0d && byte !== 0x09) break
  }
  return at
}

function stringEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return NOT_PLAIN
  const length = bytes.length
  for (let end = at + 1; end < length; end += 1) {
    const byte = bytes[end]!
    if (byte === QUOTE) return end + 1
    if (byte < SPACE) return NOT_PLAIN
    if (byte !== BACKSLASH) continue
    end += 1
    const letter = bytes[end]!
    if (SHORT[letter] === 1) continue
    // u
    if (letter !== 0x75) return NOT_PLAIN
    for (let digit = 1; digit <= 4; digit += 1) if (HEX[bytes[end + digit]!] !== 1) return NOT_PLAIN
    end += 4
  }
  return NOT_PLAIN
}
