// Names of the fields in which two forms of a task differ.
import { expect, test } from 'vitest'
import { parseExact } from '../../src/json.ts'
import { differingFields, isLess } from '../../src/mirror/forms/differences.ts'
import type { Task } from '../../src/task.ts'

const task = (text: string) => parseExact(text) as Task

test.each([
  ['{"id":"a","n":1}', '{"n":1,"id":"a"}', []],
  ['{"id":"a","n":1.0}', '{"id":"a","n":1}', ['n']],
  ['{"id":"a","n":12345678901234567890}', '{"id":"a","n":12345678901234567891}', ['n']],
  ['{"id":"a","x":null}', '{"id":"a"}', ['x']],
  [
    '{"id":"a","data":{"url":"u","header":{"b":1,"a":2}}}',
    '{"id":"a","data":{"header":{"a":2,"b":1},"url":"v"}}',
    ['data.url'],
  ],
  [
    '{"id":"a","result":{"body":[1,2]}}',
    '{"id":"a","result":{"body":[2,1],"statusText":"OK"}}',
    ['result.body[]', 'result.statusText'],
  ],
  ['{"id":"a","result":null}', '{"id":"a","result":{"body":1}}', ['result']],
  ['{"id":"a","__proto__":1}', '{"id":"a"}', ['__proto__']],
])('%s and %s differ in %j', (a, b, fields) => {
  expect(differingFields(task(a), task(b))).toEqual(fields)
  expect(differingFields(task(b), task(a))).toEqual(fields)
})

test('what the whole task has and the other has not is missing; what differs in value is not', () => {
  const whole = task('{"id":"a","data":{"url":"u","body":""},"result":{"body":1},"n.n":1,"status":"DONE"}')
  const part = task('{"id":"a","data":{"url":"v"},"status":"OPEN"}')
  expect(differingFields(part, whole, ({ kind }) => isLess(kind))).toEqual(['data.body', 'n.n', 'result'])
})
