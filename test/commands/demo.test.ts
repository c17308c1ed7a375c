import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runCli, runInside } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'
import { few, SOAK } from '../support/soak.ts'

test('the demo shows the whole job, says where its files are, and in the soak that it can be run again', async () => {
  using scratch = makeScratch()
  for (const args of few([['demo'], ['demo', '--json']], (_, run) => run === 0)) {
    // As a process the gate runs it.
    const run = args.includes('--json') || !SOAK ? runInside : runCli
    const { code, stdout, stderr } = await run(args, { cwd: scratch.dir })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('demo/demo-tasks.parquet')
    if (args.includes('--json')) expect(JSON.parse(stdout)).toMatchObject({ equal: true })
    else expect(stdout).toMatch(/digit for digit.*\n {2}task-mirror status --db demo\/demo-mirror\.sqlite\n/s)
  }
  expect(readdirSync(scratch.path('demo'))).toContain('demo-tasks.ndjson')
}, 120_000)

test('the demo leaves a folder with other files alone', async () => {
  using scratch = makeScratch()
  mkdirSync(scratch.path('mine'))
  writeFileSync(scratch.path('mine', 'task-mirror.sqlite'), 'precious')
  const { code, stderr } = await runInside(['demo', '--out', 'mine'], { cwd: scratch.dir })
  expect(code).toBe(2)
  expect(stderr).toContain('holds other files')
  expect(readdirSync(scratch.path('mine'))).toEqual(['task-mirror.sqlite'])
})
