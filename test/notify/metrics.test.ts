import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configSchema } from '../../src/config/schema.ts'
import { readStatus } from '../../src/mirror/shown/status.ts'
import { metricsText, readRuns } from '../../src/notify/metrics.ts'
import { writeMetricsFile } from '../../src/notify/metrics-file.ts'
import { makeMirror } from '../export/mirror.ts'
import { samplesOf } from '../support/prometheus.ts'
import { makeScratch } from '../support/scratch.ts'

const VERSION = '1.2.3'
const NOW = 1_800_000_000_000
const given = (path: string, inUse: string[] = []) => ({
  config: configSchema.parse({ mirror: { path } }),
  ...{ toolVersion: VERSION, now: () => NOW, inUse },
})

test('the figures of runs come back out of the text', async () => {
  const runs = new Map([
    ['sync', { exit_code: 0, end_timestamp_seconds: 1795158646.088, inserted: 12 }],
    ['export', { exit_code: 7, bytes: 2 ** 40 }],
  ])
  const text = await metricsText({ toolVersion: VERSION, status: null, runs, now: NOW })
  expect(readRuns(text)).toEqual(runs)
  expect(samplesOf(text).get('task_mirror_build_info 1.2.3')).toBe(1)
})

test('what is known of the jobs of a schedule is told by job', async () => {
  const jobs = [
    {
      job: 'sync',
      running: true,
      skipped: 3,
      nextAt: 60_000,
      ended: new Map([
        [0, 5],
        [4, 1],
      ]),
    },
  ]
  const samples = samplesOf(await metricsText({ toolVersion: VERSION, status: null, runs: new Map(), jobs, now: NOW }))
  expect(Object.fromEntries(samples)).toEqual({
    'task_mirror_build_info 1.2.3': 1,
    'task_mirror_schedule_running sync': 1,
    'task_mirror_schedule_next_run_timestamp_seconds sync': 60,
    'task_mirror_schedule_skipped_total sync': 3,
    'task_mirror_schedule_runs_total sync 0': 5,
    'task_mirror_schedule_runs_total sync 4': 1,
  })
})

test('one file keeps the last run of each command, and when each last succeeded', async () => {
  using scratch = makeScratch()
  const file = scratch.path('mirror.prom')
  const write = (command: string, figures: object) =>
    writeMetricsFile(file, given(scratch.path('missing.sqlite')), command, figures)
  await write('sync', { exit_code: 0, success_timestamp_seconds: 100 })
  await write('export', { exit_code: 0, success_timestamp_seconds: 150 })
  await write('sync', { exit_code: 4 })
  expect(readRuns(readFileSync(file, 'utf8'))).toEqual(
    new Map([
      ['sync', { exit_code: 4, success_timestamp_seconds: 100 }],
      ['export', { exit_code: 0, success_timestamp_seconds: 150 }],
    ]),
  )
  expect(readdirSync(scratch.dir)).toEqual(['mirror.prom'])
})

test('a file with anything else in it is replaced', async () => {
  using scratch = makeScratch()
  const file = scratch.path('mirror.prom')
  writeFileSync(
    file,
    'task_mirror_last_run_exit_code{command="sync"} many\ntask_mirror_last_run_made_up{command="x"} 1\n',
  )
  await writeMetricsFile(file, given(scratch.path('missing.sqlite')), 'export', { exit_code: 0 })
  expect([...readRuns(readFileSync(file, 'utf8')).keys()]).toEqual(['export'])
})

test('a moment in the future is told as 0: an alert on its age fires', async () => {
  const runs = new Map([
    ['sync', { success_timestamp_seconds: NOW / 1000 + 3600 }],
    ['export', { success_timestamp_seconds: NOW / 1000 + 30 }],
  ])
  const { db } = makeMirror()
  const status = { ...readStatus(db), freshAt: NOW + 400 * 86_400_000, notBefore: NOW + 3_600_000 }
  const samples = samplesOf(await metricsText({ toolVersion: VERSION, status, runs, now: NOW }))
  expect(samples.get('task_mirror_fresh_timestamp_seconds')).toBe(0)
  expect(samples.get('task_mirror_not_before_timestamp_seconds')).toBe(NOW / 1000 + 3600)
  expect(samples.get('task_mirror_last_run_success_timestamp_seconds sync')).toBe(0)
  expect(samples.get('task_mirror_last_run_success_timestamp_seconds export')).toBe(NOW / 1000 + 30)
})

test.each([null, 7])('late tasks are told where they are known: %s', async (late) => {
  const found = readStatus(makeMirror().db)
  const status = { ...found, tasks: { ...found.tasks, late } }
  const samples = samplesOf(await metricsText({ toolVersion: VERSION, status, runs: new Map(), now: NOW }))
  expect(samples.get('task_mirror_tasks late') ?? null).toBe(late)
})

test('links, pipes and what is in use are neither read, followed nor written over', async () => {
  using scratch = makeScratch()
  const dbPath = scratch.path('m.sqlite')
  const write = (file: string) =>
    writeMetricsFile(file, given(dbPath, [scratch.path('c.json')]), 'sync', { exit_code: 0 })
  writeFileSync(scratch.path('precious'), 'mine')
  // The name of a draft as it once was, for anybody to guess.
  symlinkSync(scratch.path('precious'), scratch.path(`.a.prom.${process.pid}.tmp`))
  symlinkSync(scratch.path('precious'), scratch.path('a.prom'))
  await write(scratch.path('a.prom'))
  expect(lstatSync(scratch.path('a.prom')).isFile()).toBe(true)
  expect(readFileSync(scratch.path('precious'), 'utf8')).toBe('mine')
  execFileSync('mkfifo', [scratch.path('b.prom')])
  await expect(write(scratch.path('b.prom'))).rejects.toThrow(/is there and is not a file/)
  for (const name of ['m.sqlite', 'm.sqlite-wal', 'M.sqlite.lock', 'c.json']) {
    await expect(write(scratch.path(name))).rejects.toThrow(/is the mirror itself/)
  }
})
