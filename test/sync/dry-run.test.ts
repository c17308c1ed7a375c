// The mirror that a dry run makes for itself where there is none.
import fs, { mkdirSync, readdirSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makeScratch } from '../support/scratch.ts'
import { openRun } from '../support/session.ts'

test('where open files cannot be removed, as on Windows and NFS, they are at the end', () => {
  using scratch = makeScratch()
  const temporary = scratch.path('temporary')
  mkdirSync(temporary)
  vi.stubEnv('TMPDIR', temporary)
  const removing = vi.spyOn(fs, 'rmSync').mockImplementationOnce(() => {
    throw Object.assign(new Error('directory not empty'), { code: 'ENOTEMPTY' })
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    removing.mockRestore()
    syncBuiltinESMExports()
    vi.unstubAllEnvs()
  })
  const session = openRun(scratch.path('mirror.sqlite'), 1, { asksDetails: false, dryRun: true })
  expect(readdirSync(temporary)).toHaveLength(1)
  session.close()
  expect(readdirSync(temporary)).toEqual([])
})
