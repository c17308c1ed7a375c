// Items that show nothing of themselves, such as null: each is told from the others by what stands before it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { runSync } from '../../src/sync/run.ts'
import { plainTasks } from '../support/plain-tasks.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

const TASKS = plainTasks(40)

/** A service that lists null in place of the tasks in `nulls`. */
async function startService(nulls: Set<number>) {
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const says = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
      if (request.method === 'GET') {
        const item = TASKS.find(({ id }) => request.url?.endsWith(id))
        return says({ statusCode: 200, message: 'OK', body: { item } })
      }
      const { skip, take } = JSON.parse(Buffer.concat(parts).toString())
      const items = TASKS.map((task, index) => (nulls.has(index) ? null : task)).slice(skip, skip + take)
      return says({ statusCode: 200, message: 'OK', body: { items } })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())) }
}

test('each of several is set aside, and one that comes later is told as well', async () => {
  using scratch = makeScratch()
  const nulls = new Set([5, 6, 7, 20])
  await using service = await startService(nulls)
  const context = makeRunContext(service.url, scratch.path('task-mirror.sqlite'))
  const rejected = async () => (await runSync(context, { command: 'sync', full: true })).summary.rejected
  expect(await rejected()).toBe(4)
  expect(await rejected()).toBe(0)
  nulls.clear()
  nulls.add(30)
  expect(await rejected()).toBe(1)
})

test('neighbours, no more than windows share, are told once each, wherever windows begin', async () => {
  using scratch = makeScratch()
  await using service = await startService(new Set([14, 15, 16]))
  for (const window of [8, 9, 10, 11, 12]) {
    const given = { sync: { window, overlap: 3 } }
    const context = makeRunContext(service.url, scratch.path('task-mirror.sqlite'), given)
    const { summary } = await runSync(context, { command: 'sync', full: true })
    expect([window, summary.verdict, summary.rejected]).toEqual([window, 'complete', window === 8 ? 3 : 0])
  }
})
