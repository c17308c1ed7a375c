// Reads the envelope around the items where it has its usual form; `readPage` reads all others. Judges nothing.

import { isUtf8 } from 'node:buffer'
import { CLOSE_OBJECT, COLON, COMMA, OPEN_LIST, OPEN_OBJECT } from './json-bytes.ts'
import { spaceEnd } from './json-scan.ts'
import { hadEscape, integerAt, NOT_PLAIN, nameEnd, numberEnd, stringEnd, valueEnd } from './json-strict.ts'
import { type ListPage, shortMessage } from './wire.ts'

type PlainEnvelope = Pick<ListPage, 'statusCode' | 'message'>

interface PlainPage {
  bytes: Buffer
  /** Where the first item begins, or the list ends. */
  itemsAt: number
  /** Reads the rest of the envelope from `at`, the place behind the list. Null where that is not plain. */
  close(at: number): PlainEnvelope | null
}

/** Reads as far as the first item. Null where the text before it is not plain. */
export function openPlainPage(raw: Uint8Array): PlainPage | null {
  if (!isUtf8(raw)) return null
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  const envelope: PlainEnvelope = { statusCode: null, message: null }
  const names = new Set<string>()

  /** Reads members from `from` on; returns where the value of `wanted` begins, or else where the object closes. */
  function find(from: number, level: string, wanted: string | null): number {
    let at = from
    for (;;) {
      at = spaceEnd(bytes, at)
      const end = nameEnd(bytes, at)
      const colon = spaceEnd(bytes, end)
      if (bytes[colon] !== COLON) return NOT_PLAIN
      const start = spaceEnd(bytes, colon + 1)
      const name = level + bytes.toString('utf8', at + 1, end - 1)
      // Of members with one name the last one counts: that is left to a real parser.
      if (names.has(name)) return NOT_PLAIN
      names.add(name)
      if (name === wanted) return start
      at = spaceEnd(bytes, pass(name, start))
      if (at === NOT_PLAIN) return NOT_PLAIN
      if (bytes[at] === CLOSE_OBJECT) return at
      if (bytes[at] !== COMMA) return NOT_PLAIN
      at += 1
    }
  }

  /** Reads the value of a member and returns its end. */
  function pass(name: string, start: number): number {
    if (name === 'body' || name === 'body.items') return NOT_PLAIN
    if (name === 'statusCode') {
      const end = numberEnd(bytes, start)
      const value = end === NOT_PLAIN ? Number.NaN : integerAt(bytes, start, end)
      envelope.statusCode = value
      return Number.isNaN(value) ? NOT_PLAIN : end
    }
    if (name === 'message') {
      const end = stringEnd(bytes, start)
      if (end === NOT_PLAIN || hadEscape()) return NOT_PLAIN
      envelope.message = shortMessage(bytes.toString('utf8', start + 1, end - 1))
      return end
    }
    return valueEnd(bytes, start)
  }

  /** Reads the members left in an object from `behind` one of them; returns where it closes. */
  function finish(behind: number, level: string): number {
    const at = spaceEnd(bytes, behind)
    if (at === NOT_PLAIN || bytes[at] === CLOSE_OBJECT) return at
    return bytes[at] === COMMA ? find(at + 1, level, null) : NOT_PLAIN
  }

  const open = spaceEnd(bytes, 0)
  if (bytes[open] !== OPEN_OBJECT) return null
  const body = find(open + 1, '', 'body')
  if (body === NOT_PLAIN || bytes[body] !== OPEN_OBJECT) return null
  const items = find(body + 1, 'body.', 'body.items')
  if (items === NOT_PLAIN || bytes[items] !== OPEN_LIST) return null
  return {
    bytes,
    itemsAt: items + 1,
    close(at) {
      const bodyEnd = finish(at, 'body.')
      const end = bodyEnd === NOT_PLAIN ? NOT_PLAIN : finish(bodyEnd + 1, '')
      if (end === NOT_PLAIN) return null
      return spaceEnd(bytes, end + 1) === bytes.length ? envelope : null
    },
  }
}
