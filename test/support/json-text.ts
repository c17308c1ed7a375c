// Generators of JSON as text, with everything that parsers and printers disagree about: odd spellings of numbers, escapes,
// lone surrogates, duplicate and hostile keys, white space.
import fc from './fc.ts'

const pick = <T>(...values: T[]) => fc.constantFrom(...values)

export const numberText: fc.Arbitrary<string> = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,25})?([eE][+-]?\d{1,3})?$/),
  fc.stringMatching(/^-?(0|[1-9]\d{0,4})(\.\d{1,4})?$/),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => String(value)),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  pick('0', '-0', '-0.0', '0.0', '1.0', '1E+2', '1e2', '1e400', '-1e400', '1e-400', '0.0000001', '0.000001', '0.1'),
  pick('9007199254740991', '9007199254740992', '9007199254740993', '12345678901234567000', '1e21', '1e+21'),
  pick('9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809', '123456789012345'),
)

/** Text in quotes, some of its characters written as escapes. */
export const stringText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 20 }).map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary', maxLength: 12 }).map((value) => JSON.stringify(value)),
  fc.string({ unit: 'binary', maxLength: 6 }).map(escaped),
  fc
    .array(fc.integer({ min: 0xd7ff, max: 0xe001 }), { maxLength: 3 })
    .map((units) => escaped(String.fromCharCode(...units))),
  pick(': -0, 1.0 [1e400', '\\', '"', '\\"', '[{', '}]', 'a\u0000b', '\u2028\u2029', '😀', '\ud800', '\ue000').map(
    (value) => JSON.stringify(value),
  ),
)

/** Whether it is JSON, as the parser says. */
export function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function escaped(value: string): string {
  return `"${value.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`
}

const hostile = [
  '__proto__',
  'constructor',
  'toJSON',
  'then',
  'rawJSON',
  'hasOwnProperty',
  'length',
  '0',
  '10',
  'a',
  'b',
]
const known = ['id', 'data', 'result', 'body', 'header', 'items', 'method', 'statusCode', 'createdAt']

export const keyText: fc.Arbitrary<string> = fc.oneof(
  pick(...hostile, ...known).map((name) => JSON.stringify(name)),
  pick(...hostile, ...known).map(escaped),
  stringText,
)

const space = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: pick(' ', '\n', '\t', '\r\n  ') },
)

/** An object as text, with these members in this order. */
export function objectText(members: fc.Arbitrary<[key: string, value: string][]>): fc.Arbitrary<string> {
  return fc
    .tuple(members, space, space)
    .map(([list, a, b]) => `{${a}${list.map(([key, value]) => `${key}${b}:${a}${value}`).join(`${b},${a}`)}${b}}`)
}

/** Any JSON value as text. */
export const valueText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    numberText,
    stringText,
    pick('true', 'false', 'null', '{}', '[]'),
    fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), space, space)
      .map(([values, a, b]) => `[${a}${values.join(`${b},${a}`)}${b}]`),
    objectText(fc.array(fc.tuple(keyText, tie('value')), { maxLength: 4 })),
  ),
})).value

const ordinary = (name: string): fc.Arbitrary<string> => {
  if (name === 'header') return objectText(fc.array(fc.tuple(keyText, stringText), { maxLength: 3 }))
  if (['timeframe', 'createdAt', 'completedAt', 'statusCode'].includes(name)) return fc.nat().map(String)
  return stringText
}

/** Members with the known names, each absent, as documented or of any other type, in any order, and unknown ones. */
function members(
  names: string[],
  special: Record<string, fc.Arbitrary<string>> = {},
): fc.Arbitrary<[string, string][]> {
  const each = names.map((name) =>
    fc.option(
      fc
        .oneof({ weight: 3, arbitrary: special[name] ?? ordinary(name) }, { weight: 1, arbitrary: valueText })
        .map((value): [string, string] => [JSON.stringify(name), value]),
    ),
  )
  return fc
    .tuple(fc.tuple(...each), fc.array(fc.tuple(keyText, valueText), { maxLength: 2 }))
    .chain(([some, unknown]) => {
      const list = [...some.filter((member) => member !== null), ...unknown]
      return fc.shuffledSubarray(list, { minLength: list.length })
    })
}

const dataText = objectText(members(['method', 'url', 'body', 'header']))
const resultText = objectText(members(['body', 'header', 'statusCode', 'statusText'], { body: valueText }))

/** A task as text: it has a usable id (`id` comes last, so it wins over duplicates), everything else is free. */
export const taskText: fc.Arbitrary<string> = objectText(
  fc
    .tuple(
      members(['userId', 'data', 'timeframe', 'accuracy', 'systemStatus', 'createdAt', 'completedAt', 'result'], {
        data: dataText,
        result: resultText,
      }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((id) => id.isWellFormed()),
    )
    .map(([list, id]): [string, string][] => [...list, ['"id"', JSON.stringify(id)]]),
)

/** The text of a page around the texts of its items. */
export function pageText(items: string[]): string {
  return `{"statusCode":200,"message":"OK","body":{"items":[${items.join(',')}]}}`
}
