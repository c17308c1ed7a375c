import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runCli, runInside } from '../support/cli.ts'
import { makeScratch } from '../support/scratch.ts'
import { few, SOAK } from '../support/soak.ts'

test('the demo shows the whole job, says where its files are, and in the soak that it can be run again', async () => {
  using scratch = makeScratch()
  for (const args of few([['demo'], ['demo', '--json']], (_, run) => run === 0)) {
    // As a process the gate runs it.
    const run = args.includes('--json') || !SOAK ? runInside : runCli
    // A step of more than ten seconds, as on a busy machine, logs its progress.
    const { code, stdout, stderr } = await run([...args, '--log-level', 'warn'], { cwd: scratch.dir })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('demo/demo-tasks.parquet')
    if (args.includes('--json')) expect(JSON.parse(stdout)).toMatchObject({ equal: true })
    else expect(stdout).toMatch(/digit for digit.*\n {2}task-mirror status --db demo\/demo-mirror\.sqlite\n/s)
  }
  expect(readdirSync(scratch.path('demo'))).toContain('demo-tasks.ndjson')
}, 120_000)

test.each(['task-mirror.sqlite', 'demo-mirror.sqlite'])(
  'the demo leaves a folder with a foreign %s alone',
  async (name) => {
    using scratch = makeScratch()
    mkdirSync(scratch.path('mine'))
    writeFileSync(scratch.path('mine', name), 'precious')
    const { code, stderr } = await runInside(['demo', '--out', 'mine'], { cwd: scratch.dir })
    expect(code).toBe(2)
    expect(stderr).toContain(`holds other files, such as ${name}`)
    expect(readFileSync(scratch.path('mine', name), 'utf8')).toBe('precious')
  },
)

test('where there is a file the demo finds no folder, and says so as an export does', async () => {
  using scratch = makeScratch()
  writeFileSync(scratch.path('key'), 'precious')
  const { code, stderr } = await runInside(['demo', '--out', 'key'], { cwd: scratch.dir })
  expect(JSON.parse(stderr)).toMatchObject({
    code: 'snapshot-unwritable',
    msg: 'key/demo-mirror.sqlite cannot be written: key is no folder',
  })
  expect(code).toBe(7)
})
