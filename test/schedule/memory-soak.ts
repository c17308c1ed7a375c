// A part of `npm run test:soak`: `schedule` as the built command line for SOAK_MINUTES (60) over an account of 400 tasks
// that change in place, with 5 % faults, while its pages are read. The memory of the process in the last quarter may be at
// most 5 % above that of the second one (medians): what is kept of runs that are over would show. Linux only.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { startSimulator } from '../../src/simulator/server.ts'
import { startCli } from '../support/cli.ts'
import { samplesOf } from '../support/prometheus.ts'
import { makeScratch } from '../support/scratch.ts'

const minutes = Number(process.env.SOAK_MINUTES ?? 60)
const most = 1.05
const LOOK_EVERY_MS = 1000

/** What the process has in memory, MB, without what it shares with files. */
function memoryOf(pid: number): number {
  const anonymous = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(anonymous) / 1024
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

using scratch = makeScratch()
const simulator = await startSimulator({
  tasks: 400,
  faultRate: 0.05,
  faultKinds: ['500', '503', '429', 'reset', 'truncate', 'html', 'empty', 'envelope-500'],
})
const env = {
  TASK_MIRROR_SCHEDULE_SYNC: '*/3 * * * * *',
  TASK_MIRROR_SCHEDULE_EXPORT: '*/20 * * * * *',
  TASK_MIRROR_SCHEDULE_JITTER_MS: '0',
  // Head walks see only what is new: what changes in place is taken in by full walks.
  TASK_MIRROR_SYNC_FULL_EVERY_MS: '5000',
  TASK_MIRROR_SCHEDULE_LISTEN: '127.0.0.1:0',
  TASK_MIRROR_EXPORT_KEEP: '5',
  TASK_MIRROR_BASE_URL: simulator.url,
  TASK_MIRROR_JSON: 'true',
  TASK_MIRROR_LOG_LEVEL: 'error',
}
const running = startCli(['schedule'], { cwd: scratch.dir, env, timeoutMs: (minutes + 5) * 60_000 })
const { url } = JSON.parse(await running.untilStdout(/\n/))
const pid = running.process.pid as number
const text = async (path: string) => (await fetch(`${url}${path}`)).text()

const samples: number[] = []
const until = performance.now() + minutes * 60_000
while (performance.now() < until) {
  simulator.account.update(3)
  samples.push(memoryOf(pid))
  if (samples.length % 10 === 0) await Promise.all(['/', '/metrics', '/healthz'].map(text))
  if (samples.length % 300 === 0) console.log(`${samples.length} s: ${samples.at(-1)?.toFixed(1)} MB`)
  await delay(LOOK_EVERY_MS)
}
const figures = samplesOf(await text('/metrics'))
running.process.kill('SIGTERM')
const { code } = await running.ended
await simulator.close()

const quarter = (n: number) => samples.slice(((n - 1) * samples.length) / 4, (n * samples.length) / 4)
const medians = [1, 2, 3, 4].map((n) => median(quarter(n)))
const growth = (medians[3] as number) / (medians[1] as number)
const runs = [...figures].filter(([name]) => name.startsWith('task_mirror_schedule_runs_total'))
console.log(
  `${minutes} min, ${simulator.requests} requests, ${runs.map(([name, count]) => `${name.split(' ').slice(1).join(' ')}: ${count}`).join(', ')}`,
)
console.log(`MB by quarter: ${medians.map((mb) => mb.toFixed(1)).join(', ')}; last to second: ${growth.toFixed(3)}`)
if (process.env.SOAK_SAMPLES) writeFileSync(process.env.SOAK_SAMPLES, samples.map((mb) => mb.toFixed(2)).join('\n'))
rmSync(scratch.dir, { recursive: true, force: true })
process.exitCode = growth <= most && code === 0 ? 0 : 1
