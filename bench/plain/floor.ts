// `node floor.ts BASE_URL FILE`: the same bytes, already in memory before the clock starts, parsed and inserted by the
// plainest code. Prints {"ms", "cpuMs"}: what no program on one thread can be far below.
import { performance } from 'node:perf_hooks'
import { request } from 'undici'
import { openPlain } from './table.ts'

const [base, path] = process.argv.slice(2) as [string, string]
const take = 1000
const windows: Buffer[] = []
for (let skip = 0; ; skip += take) {
  const { body } = await request(`${base}/tasks/list`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ skip, take }),
  })
  const bytes = Buffer.from(await body.arrayBuffer())
  if (bytes.length < 100) break
  windows.push(bytes)
}
const started = performance.now()
const cpuBefore = process.cpuUsage()
const table = openPlain(path)
for (const bytes of windows) table.takeIn(bytes.toString())
table.close()
const { user, system } = process.cpuUsage(cpuBefore)
console.log(JSON.stringify({ ms: performance.now() - started, cpuMs: (user + system) / 1000 }))
