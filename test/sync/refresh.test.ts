// `get --refresh` against the simulator over HTTP.
import { expect, test } from 'vitest'
import { withReader } from '../../src/mirror/open.ts'
import { readTask } from '../../src/mirror/tables/tasks.ts'
import { NOT_FOUND } from '../../src/simulator/options.ts'
import { startSimulator } from '../../src/simulator/server.ts'
import { refreshTask } from '../../src/sync/one-off/refresh.ts'
import { runSync } from '../../src/sync/run.ts'
import { runInside } from '../support/cli.ts'
import { makeRunContext } from '../support/run-context.ts'
import { makeScratch } from '../support/scratch.ts'

test('get --refresh prints what the service holds now, also of a task the mirror did not know', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 5, openFraction: 0, key: 'k' })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url, TASK_MIRROR_API_KEY: 'k' } }
  const id = simulator.account.idAt(1)
  const first = await runInside(['get', id, '--refresh', '--json'], options)
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(first.stdout)).toEqual(JSON.parse(simulator.account.get(id)!))
  simulator.account.update([id])
  const second = await runInside(['get', id, '--refresh', '--json'], options)
  expect(JSON.parse(second.stdout)).toEqual(JSON.parse(simulator.account.get(id)!))
  expect(second.stdout).not.toBe(first.stdout)
})

test.each(NOT_FOUND)('an id that the service answers with %s is exit 3 with a clear sentence', async (notFound) => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 5, notFound })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url } }
  const { code, stdout, stderr } = await runInside(['get', 'nobody', '--refresh'], options)
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
  expect(stderr).toMatch(/The service (gives|knows) no task (for|with) the id nobody.*the mirror holds none either/)
})

test('a task that only the mirror still holds is printed, with exit 3 and a word about it', async () => {
  using scratch = makeScratch()
  await using simulator = await startSimulator({ tasks: 5, openFraction: 0 })
  const options = { cwd: scratch.dir, env: { TASK_MIRROR_BASE_URL: simulator.url } }
  const id = simulator.account.idAt(1)
  const text = simulator.account.get(id)!
  await runInside(['sync'], options)
  simulator.account.remove([id])
  const { code, stdout, stderr } = await runInside(['get', id, '--refresh', '--json'], options)
  expect(code).toBe(3)
  expect(JSON.parse(stdout)).toEqual(JSON.parse(text))
  expect(stderr).toContain('what was printed is what the mirror holds')
})

test('a failing service is exit 4, and another account is refused before its task is taken in', async () => {
  using scratch = makeScratch()
  const path = scratch.path('m.sqlite')
  await using simulator = await startSimulator({ tasks: 5, key: 'k' })
  const context = makeRunContext(simulator.url, path, { apiKey: 'k', random: () => 0 })
  await runSync(context, { command: 'sync' })
  simulator.setFaults(() => ({ status: 500 }))
  await expect(refreshTask(context, simulator.account.idAt(0))).rejects.toMatchObject({ code: 'service-failing' })
  simulator.setFaults(undefined)

  await using other = await startSimulator({ tasks: 5, seed: 2, port: 0, key: 'other' })
  const foreign = makeRunContext(simulator.url, path, { apiKey: 'other' })
  await expect(refreshTask(foreign, other.account.idAt(0))).rejects.toMatchObject({ code: 'key-refused' })
  await simulator.close()
  await using again = await startSimulator({ tasks: 5, seed: 2, port: simulator.port, key: 'other' })
  const id = again.account.idAt(0)
  await expect(refreshTask(foreign, id)).rejects.toMatchObject({ code: 'other-account' })
  expect(withReader(path, (db) => readTask(db, id))).toBeNull()
})
