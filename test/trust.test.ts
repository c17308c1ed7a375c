// A configuration that nobody named, in a folder where others may write.
import { chmodSync, chownSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { distrust } from '../src/trust.ts'
import { runInside } from './support/cli.ts'
import { listening } from './support/listening.ts'
import { makeScratch } from './support/scratch.ts'

const ME = { uid: 1000, gid: 1000 }

test.each([
  [1000, 1000, 0o644, null],
  [0, 0, 0o644, null],
  [0, 1000, 0o664, null],
  [1000, 1000, 0o660, null],
  [1000, 50, 0o640, null],
  [1000, 1000, 0o666, 'chmod go-w "a\'b"'],
  [1000, 1000, 0o602, 'chmod go-w "a\'b"'],
  [1000, 50, 0o660, 'chmod g-w "a\'b"'],
  [0, 0, 0o664, 'chmod g-w "a\'b"'],
  [1001, 1000, 0o600, 'sudo chown 1000 "a\'b"'],
])('uid %i, gid %i, mode %o: mended by %s', (uid, gid, mode, mend) => {
  expect(distrust("a'b", { uid, gid, mode }, ME)?.mend ?? null).toBe(mend)
})

test('the key is not sent where a file says that anybody could have written', async () => {
  using scratch = makeScratch()
  let asked = 0
  const server = createServer((_, response) => {
    asked += 1
    response.end('{}')
  })
  await using service = await listening(server)
  const file = scratch.path('task-mirror.json')
  writeFileSync(file, JSON.stringify({ service: { baseUrl: service.url, maxRetries: 0 } }))
  chmodSync(file, 0o666)
  const sync = (...flags: string[]) =>
    runInside(['sync', ...flags], { cwd: scratch.dir, env: { TASK_MIRROR_API_KEY: 'hunter2' } })
  const { code, stderr } = await sync()
  expect({ code, asked }).toEqual({ code: 2, asked: 0 })
  expect(stderr).toContain('can be written by everybody')
  expect(stderr).toContain('chmod go-w task-mirror.json')
  // Named, or mended as it said: used, and the log says so before all else.
  for (const flags of [['--config', file], []]) {
    if (flags.length === 0) chmodSync(file, 0o644)
    const used = await sync(...flags)
    expect(asked).toBeGreaterThan(0)
    expect(JSON.parse(used.stderr.split('\n')[0]!)).toMatchObject({ file, msg: 'Configuration file in use' })
    asked = 0
  }
})

test.skipIf(process.geteuid?.() !== 0)(
  "a file or a link of another user is refused, a link of one's own is followed",
  async () => {
    using scratch = makeScratch()
    const file = scratch.path('task-mirror.json')
    const show = () => runInside(['config', 'show'], { cwd: scratch.dir })
    writeFileSync(file, '{}', { mode: 0o600 })
    chownSync(file, 12345, 0)
    expect(await show()).toMatchObject({ code: 2, stderr: expect.stringContaining('belongs to neither you nor root') })
    rmSync(file)
    writeFileSync(scratch.path('real.json'), '{"sync": {"window": 77}}', { mode: 0o600 })
    symlinkSync('real.json', file)
    expect(await show()).toMatchObject({ code: 0, stdout: expect.stringContaining('77') })
    const { lchownSync } = await import('node:fs')
    lchownSync(file, 12345, 12345)
    expect(await show()).toMatchObject({ code: 2, stderr: expect.stringContaining('belongs to neither you nor root') })
    expect(readFileSync(file, 'utf8')).toContain('77')
    // Also where one's own link leads to it.
    renameSync(file, scratch.path('theirs.json'))
    symlinkSync('theirs.json', file)
    expect(await show()).toMatchObject({ code: 2, stderr: expect.stringContaining('belongs to neither you nor root') })
  },
)

test('a configuration that never ends is not read to its end', async () => {
  using scratch = makeScratch()
  const { code, stderr } = await runInside(['config', 'show', '--config', '/dev/zero'], { cwd: scratch.dir })
  expect(code).toBe(2)
  expect(stderr).toMatch(/more than 1048576 bytes/)
})
