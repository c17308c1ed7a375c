// Items that may be taken from the bytes of an answer as they stand: every member is one that a column holds exactly,
// and the text of JSON columns is what a parser would write. Most items of most services are so, and nothing is parsed
// then. All others are left to the parser, see prepare.ts; both ways come to the same row, byte for byte.

import { PlainRow } from '../../mirror/row-bytes.ts'
import { CLOSE_OBJECT, COLON, COMMA, OPEN_OBJECT } from '../../service/decode/json-bytes.ts'
import {
  hadEscape,
  integerAt,
  NOT_PLAIN,
  nameEnd,
  numberEnd,
  stringEnd,
  valueEnd,
} from '../../service/decode/json-strict.ts'
import { MAX_ID_LENGTH } from '../../service/decode/wire.ts'
import { type Fields, isFields, TASK_COLUMNS, TASK_FIELDS } from '../../task/columns.ts'
import type { Moment } from '../../task.ts'

/** A member, by the bytes of its name, and the column that it goes to. */
interface Member {
  name: Uint8Array
  column: number
  kind: 'text' | 'integer' | 'json' | 'object'
  /** The least integer that the column holds. */
  least: number
  members: Member[]
}

const MEMBERS = membersOf(TASK_FIELDS)

function membersOf(fields: Fields): Member[] {
  return [...fields].map(([name, field]) => {
    const common = { name: Buffer.from(name), least: Number.NEGATIVE_INFINITY }
    if (isFields(field)) return { ...common, column: -1, kind: 'object', members: membersOf(field) }
    const kind = field.kind === 'moment' ? 'integer' : field.kind
    return { ...common, least: field.least ?? common.least, column: field.number, kind, members: [] }
  })
}

const placeOf = (name: string) => [...TASK_FIELDS.keys()].indexOf(name)
const DATA = 1 << placeOf('data')
const RESULT = 1 << placeOf('result')
const COMPLETED_AT = 1 << placeOf('completedAt')
const CREATED_AT = 1 << placeOf('createdAt')
const STATUS = 1 << placeOf('systemStatus')
const ID_COLUMN = TASK_COLUMNS.indexOf('id')
const CREATED_COLUMN = TASK_COLUMNS.indexOf('created_at')
const STATUS_COLUMN = TASK_COLUMNS.indexOf('system_status')

/** Reads items one after another; what it says is about the last one that `read` passed. */
export class PlainItems {
  /** The item's columns, as places in the bytes. */
  readonly row = new PlainRow()
  id = ''
  private seen = 0
  private readonly bytes: Buffer
  private readonly finalStatuses: ReadonlySet<string>

  /** `bytes` is valid UTF-8. */
  constructor(bytes: Buffer, finalStatuses: ReadonlySet<string>) {
    this.bytes = bytes
    this.finalStatuses = finalStatuses
  }

  /** Returns the index behind the item that begins at `at`; NOT_PLAIN where it is for the parser. */
  read(at: number): number {
    this.row.clear()
    this.seen = 0
    const end = this.members(at, MEMBERS, true)
    if (end === NOT_PLAIN) return NOT_PLAIN
    this.id = this.row.textOf(this.bytes, ID_COLUMN)
    return this.id === '' || this.id.length > MAX_ID_LENGTH ? NOT_PLAIN : end
  }

  get createdAt(): Moment {
    return (this.seen & CREATED_AT) === 0 ? null : (this.row.numbers[CREATED_COLUMN] as number)
  }

  /** As `isFinal` of the task. */
  get isFinal(): boolean {
    if ((this.seen & COMPLETED_AT) !== 0) return true
    return (this.seen & STATUS) !== 0 && this.finalStatuses.has(this.row.textOf(this.bytes, STATUS_COLUMN))
  }

  /** As `lacksParts` of the task. */
  lacksParts(final: boolean): boolean {
    return (this.seen & DATA) === 0 || (final && (this.seen & RESULT) === 0)
  }

  /** Reads the object at `open`. An empty one is for the parser, as no column stands for it. */
  private members(open: number, members: Member[], isTop: boolean): number {
    const { bytes, row } = this
    if (bytes[open] !== OPEN_OBJECT) return NOT_PLAIN
    let seen = 0
    let at = open + 1
    for (;;) {
      const name = at
      at = nameEnd(bytes, at)
      if (at === NOT_PLAIN || bytes[at] !== COLON) return NOT_PLAIN
      const index = indexOf(members, bytes, name + 1, at - 1)
      if (index === -1 || (seen & (1 << index)) !== 0) return NOT_PLAIN
      seen |= 1 << index
      const { kind, column, least, members: inner } = members[index] as Member
      const start = at + 1
      if (kind === 'integer') {
        at = numberEnd(bytes, start)
        if (at === NOT_PLAIN) return NOT_PLAIN
        const value = integerAt(bytes, start, at)
        if (!(value >= least)) return NOT_PLAIN
        row.setNumber(column, value)
      } else if (kind === 'text') {
        at = stringEnd(bytes, start)
        if (at === NOT_PLAIN) return NOT_PLAIN
        // None of the escapes that are passed makes half a surrogate pair.
        if (hadEscape()) row.setText(column, JSON.parse(bytes.toString('utf8', start, at)) as string)
        else row.setPlace(column, start + 1, at - 1)
      } else if (kind === 'json') {
        at = valueEnd(bytes, start)
        if (at === NOT_PLAIN) return NOT_PLAIN
        row.setPlace(column, start, at)
      } else {
        at = this.members(start, inner, false)
        if (at === NOT_PLAIN) return NOT_PLAIN
      }
      const next = bytes[at]
      at += 1
      if (next === CLOSE_OBJECT) break
      if (next !== COMMA) return NOT_PLAIN
    }
    if (isTop) this.seen = seen
    return at
  }
}

function indexOf(members: Member[], bytes: Uint8Array, start: number, end: number): number {
  const length = end - start
  for (let index = 0; index < members.length; index += 1) {
    const { name } = members[index] as Member
    if (name.length !== length) continue
    let same = 0
    while (same < length && name[same] === bytes[start + same]) same += 1
    if (same === length) return index
  }
  return -1
}
