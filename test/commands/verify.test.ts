// `verify --snapshot` as built: what was published is sound, or it is exit 7.
import { appendFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/server.ts'
import { runInside } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'

test('a published dataset is checked file by file, and row by row with --deep; a changed file is exit 7', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 50, openFraction: 0 })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url } }
  await runInside(['sync'], options)
  expect(await runInside(['export', '--out', 'published/'], options)).toMatchObject({ code: 0 })
  const sound = await runInside(['verify', '--snapshot', 'published/', '--deep', '--json'], options)
  expect(sound).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(sound.stdout)).toMatchObject({
    schemaVersion: 1,
    snapshot: { ok: true, snapshots: [{ rows: 50, deep: { compared: 50, known: true } }], problems: [] },
  })

  const names = readdirSync(scratch.path('published'), { recursive: true, encoding: 'utf8' })
  const part = names.find((name) => name.includes('part-'))!
  appendFileSync(join(scratch.path('published'), part), 'x')
  const damaged = await runInside(['verify', '--snapshot', 'published/'], options)
  expect(damaged.code).toBe(7)
  expect(damaged.stdout).toMatch(/1 problem\n[\s\S]*size/)
  expect(damaged.stderr).toContain('snapshot-damaged')
})

test('a sound snapshot that the mirror knows nothing of, as one that was made anew, is not called damaged', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 50, openFraction: 0 })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url } }
  await runInside(['sync'], options)
  await runInside(['export', '--out', 'published/'], options)
  rmSync(scratch.path('task-mirror.sqlite'))
  await runInside(['sync'], options)
  const { code, stdout, stderr } = await runInside(['verify', '--snapshot', 'published/', '--deep'], options)
  expect({ code, stdout }).toEqual({ code: 7, stdout: expect.stringContaining('differs in first_seen_at') })
  expect(stdout).toContain('the mirror has no row about it')
  const told = JSON.parse(stderr.trim().split('\n').at(-1)!)
  expect(told.msg).toMatch(/published are intact/)
  expect(told.hint).toMatch(/^The mirror has no row about 2.* restored or made anew since\. Remove nothing/)
  expect(await runInside(['verify', '--snapshot', 'published/'], options)).toMatchObject({ code: 0 })
})

test('a sample of the service comes with what it says of all; all compares everything', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 150, openFraction: 0 })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url } }
  await runInside(['sync'], options)
  const some = await runInside(['verify', '--service'], options)
  expect(some.code).toBe(0)
  expect(some.stdout).toMatch(/of all +at most 3 % are not as the service has them \(95 % confidence\)/)
  const all = await runInside(['verify', '--service', '--sample', 'all', '--json'], options)
  expect(JSON.parse(all.stdout)).toMatchObject({ service: { sampled: 150, equal: 150, differAtMost: 0 } })
  const inWords = await runInside(['verify', '--service', '--sample', 'all'], options)
  expect(inWords.stdout).toMatch(/of all +each was compared, and is as the service has it\n/)
  simulator.account.remove([0, 1, 2].map((at) => simulator.account.idAt(at)))
  const without = await runInside(['verify', '--service', '--sample', 'all'], options)
  expect(without).toMatchObject({ code: 3, stdout: expect.stringMatching(/of all +each was compared: 2 % are not as/) })
})

test('flags of verify that do not belong together are exit 2', async () => {
  using scratch = makeScratch()
  for (const flags of [['--service', '--snapshot', 'x'], ['--deep'], ['--snapshot', 'x', '--sample', '5']]) {
    expect(await runInside(['verify', ...flags], { cwd: scratch.dir })).toMatchObject({ code: 2, stdout: '' })
  }
  expect(await runInside(['verify', '--snapshot', 'nowhere/'], { cwd: scratch.dir })).toMatchObject({ code: 2 })
})
