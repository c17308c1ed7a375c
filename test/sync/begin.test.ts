// What a run leaves behind that never comes to its first request.
import { existsSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import type { MirrorError } from '../../src/errors.ts'
import { holderPath } from '../../src/mirror/files.ts'
import { refreshTask } from '../../src/sync/one-off/refresh.ts'
import { runSync } from '../../src/sync/run.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const codeOf = (run: Promise<unknown>) => run.then(String, ({ code }: MirrorError) => code)

test('a run whose client cannot be made gives back the mirror, and its timer', async () => {
  using scratch = makeScratch()
  const path = scratch.path('mirror.sqlite')
  const context = makeRunContext('http://127.0.0.1:9', path, { sync: { maxDurationMs: 60_000 } })
  // What comes to the client past every check.
  context.config.service.proxy = 'http://us%zz:pw@127.0.0.1:9'
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    for (let turn = 0; turn < 2; turn += 1) {
      expect(await codeOf(runSync(context, { command: 'sync' }))).not.toBe('mirror-locked')
      expect(await codeOf(refreshTask(context, 'a'))).not.toBe('mirror-locked')
    }
    expect(existsSync(holderPath(path))).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})
