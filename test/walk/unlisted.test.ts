// What is said of a service that lists nothing: whoever is busy needs time, and whoever refuses may be the wrong address.
import { expect, test } from 'vitest'
import { unlisted } from '../../src/walk/read-window.ts'

test.each([
  ['429', { kind: 'failed', status: 429, message: 'Slow down' }, 'service-failing', /when the service is well/],
  [
    'a 403 of a quota',
    { kind: 'failed', status: 403, message: 'Quota' },
    'service-failing',
    /when the service is well/,
  ],
  [
    'a 429 in an envelope',
    { kind: 'failed', status: 200, message: '', reason: 'status' },
    'service-failing',
    /is well/,
  ],
  ['503', { kind: 'failed', status: 503, message: 'Down' }, 'service-failing', /when the service is well/],
  ['a timeout', { kind: 'failed', status: null, message: '', reason: 'timeout' }, 'service-failing', /is well/],
  [
    '404',
    { kind: 'refused', status: 404, message: 'Not found' },
    'service-refused',
    /the list is asked for at BASE\/tasks\/list/,
  ],
  ['no JSON', { kind: 'failed', status: 200, message: '', reason: 'not-json' }, 'service-failing', /service\.baseUrl/],
] as const)('after %s the hint is about what can be done', (_, answer, code, hint) => {
  expect(unlisted(answer)).toMatchObject({ code, hint: expect.stringMatching(hint) })
})
