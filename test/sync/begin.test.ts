// What a run leaves behind that never comes to its first request.
import { expect, test } from 'vitest'
import type { MirrorError } from '../../src/errors.ts'
import { refreshTask } from '../../src/sync/one-off/refresh.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

test('a run whose requests cannot be sent as configured gives the mirror back', async () => {
  using scratch = makeScratch()
  const context = makeRunContext('http://127.0.0.1:9', scratch.path('mirror.sqlite'))
  // A header that frames the message: the schema takes its name, the client does not.
  context.config.service.auth.name = 'host'
  const codeOf = (run: Promise<unknown>) => run.then(String, ({ code }: MirrorError) => code)
  for (let turn = 0; turn < 2; turn += 1) {
    expect(await codeOf(runSync(context, { command: 'sync' }))).toBe('config-invalid')
    expect(await codeOf(refreshTask(context, 'a'))).toBe('config-invalid')
  }
})
